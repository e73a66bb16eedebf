import { type Case, verifies } from "./case.js";
import {
  answerRecord,
  describe,
  drive,
  endStep,
  isInjected,
  notApplicable,
  type SentSteer,
  type Settled,
  sendSteer,
  speaking,
  wasShown,
} from "./play.js";
import type { Stage } from "./stage.js";
import { carries } from "./step-queue.js";

const figure = (text: string): { problems: readonly string[]; figure: string } => ({ problems: [], figure: text });

const SENT = 10;

/** Milliseconds from the request to its answer, as the client's log has them. */
function delay({ client, ...stage }: Stage, { id }: SentSteer): number {
  const sent = client.log.find(({ direction, message }) => direction === "out" && message?.id === id);
  return answerRecord({ client, ...stage }, id).at - (sent?.at ?? Number.NaN);
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

/** A turn with steers while the model speaks, one after the other or at once, to its end. */
async function steered(stage: Stage, send: () => Promise<readonly SentSteer[]>): Promise<readonly SentSteer[]> {
  const { turn, step } = await speaking(stage);
  const steers = await send();
  await endStep(stage, step);
  await drive(stage, turn);
  return steers;
}

async function sendOneByOne(stage: Stage): Promise<readonly SentSteer[]> {
  const steers: SentSteer[] = [];
  for (let sent = 0; sent < SENT; sent += 1) {
    const steer = sendSteer(stage);
    await steer.settled;
    steers.push(steer);
  }
  return steers;
}

async function sendAtOnce(stage: Stage): Promise<readonly SentSteer[]> {
  const steers = Array.from({ length: SENT }, () => sendSteer(stage));
  await Promise.all(steers.map(({ settled }) => settled));
  return steers;
}

/** How many requests showed the model a steer that it had not been shown before. */
function requestsWithNews({ behind }: Stage, steers: readonly SentSteer[]): number {
  const first = steers.map(({ mark }) => behind.steps(mark)[0]).filter((step) => step !== undefined);
  return new Set(first).size;
}

function describeSlash(stage: Stage, text: string, mark: string, answer: Settled): string {
  if (!isInjected(answer)) return `answered ${describe(answer)}`;
  if (stage.behind.steps(mark).some((step) => carries(step, text))) return "the model is shown it as it was sent";
  return wasShown(stage, mark) ? "the model is shown it changed" : "the model is not shown it";
}

/** What an agent does where the contract leaves it the choice. */
export const FIGURE_CASES: readonly Case[] = [
  verifies("figure.answer", "ten steers one by one while the model speaks", {}, async (stage) => {
    const delays = (await steered(stage, () => sendOneByOne(stage))).map((steer) => delay(stage, steer));
    return figure(`median ${median(delays)} ms, at most ${Math.max(...delays)} ms`);
  }),
  verifies("figure.interrupts", "a steer while the model speaks", {}, async (stage) => {
    const { turn, step } = await speaking(stage);
    await sendSteer(stage).settled;
    const gone = step.abandoned.then(() => true);
    const isGone = await stage.until("the agent to take the steer", Promise.race([gone, stage.quiet()]));
    await endStep(stage, step);
    await drive(stage, turn);
    return figure(isGone === true ? "it breaks off what the model says" : "the model speaks to its end");
  }),
  verifies("figure.batch", "ten steers at once while the model speaks", {}, async (stage) => {
    const steers = await steered(stage, () => sendAtOnce(stage));
    const shown = steers.filter(({ mark }) => wasShown(stage, mark)).length;
    if (shown === 0) return notApplicable("none of them reached the model");
    return figure(`${shown} in ${requestsWithNews(stage, steers)} requests`);
  }),
  verifies("figure.slash", "a steer that begins with a slash", {}, async (stage) => {
    const mark = stage.mark();
    const text = `/no-such-command ${mark}`;
    const [steer] = await steered(stage, async () => {
      const sent = sendSteer(stage, { mark, prompt: [{ type: "text", text }] });
      await sent.settled;
      return [sent];
    });
    return figure(steer === undefined ? "not sent" : describeSlash(stage, text, mark, await steer.settled));
  }),
];
