import { performance } from "node:perf_hooks";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { OwnedStage } from "../../cases/create-stage.js";
import { nextStep, type SentSteer, sendSteer, settle, updateKind } from "../../cases/play.js";
import type { ModelStep } from "../../cases/stage.js";
import type { RequestId } from "../../wire-record.js";

/** One turn that was steered at its end, as it was played: what became of it is judged later. */
export interface Trial {
  /** From 1. */
  readonly number: number;
  /** Milliseconds from the model's last byte to the steer, as measured; as planned where the agent did not wait for that byte. */
  readonly offset: number;
  readonly promptId: RequestId;
  readonly promptMark: string;
  /** The order number of the prompt in the client's log. */
  readonly promptOrder: number;
  readonly steerId: RequestId;
  readonly steerMark: string;
  readonly answerMs: number;
}

const HEARD_MS = 20;
const [BEGINNING, ENDING] = ["Working on it. ", "That is all of it."];
/** What the model says in trials, and nobody else. */
export const MODEL_WORDS: readonly string[] = [BEGINNING, ENDING].map((text) => text.trim());
/** Node's timers are up to so much late: the rest is waited for without them. */
const TIMER_SLACK_MS = 2;

/**
 * Plays one turn whose model is in the middle of its answer, ends that answer, and steers at the given offset from its
 * last byte. Resolves when prompt and steer are answered.
 */
export async function playTrial(stage: OwnedStage, number: number, planned: number): Promise<Trial> {
  const promptOrder = stage.client.log.length;
  const turn = stage.prompt();
  const step = await nextStep(stage, turn);
  const others = new AbortController();
  const answering = answerOthers(stage, others.signal);
  try {
    await begin(stage, step);
    const { steer, offset, answeredIn } = await steerAt(stage, step, planned);
    await stage.until("the answer to a prompt", settle(turn.answer));
    const answerMs = await answeredIn;
    const { id: promptId, mark: promptMark } = turn;
    return { number, offset, promptId, promptMark, promptOrder, steerId: steer.id, steerMark: steer.mark, answerMs };
  } finally {
    others.abort();
    await answering;
  }
}

/** The agent is in the middle of the answer when it has shown a piece of it, or has had time to. */
async function begin({ client }: OwnedStage, step: ModelStep): Promise<void> {
  const heard = client.waitFor((record) => updateKind(record) === "agent_message_chunk", client.log.length);
  heard.catch(() => {});
  step.say(BEGINNING);
  await Promise.race([heard, sleep(HEARD_MS)]);
}

interface Shot {
  readonly steer: SentSteer;
  readonly offset: number;
  readonly answeredIn: Promise<number>;
}

async function steerAt(stage: OwnedStage, step: ModelStep, planned: number): Promise<Shot> {
  const shoot = (): Omit<Shot, "offset"> & { readonly at: number } => {
    const at = performance.now();
    const steer = sendSteer(stage, { meta: { idleBehavior: "promptRequired" } });
    const answeredIn = steer.settled.then(() => performance.now() - at);
    // Where the prompt is not answered, nobody asks for this any more.
    answeredIn.catch(() => {});
    return { at, steer, answeredIn };
  };
  if (planned >= 0) {
    const lastByteAt = await endOf(step);
    await pause(planned);
    const { at, ...shot } = shoot();
    return { ...shot, offset: at - lastByteAt };
  }
  let isAbandoned = false;
  void step.abandoned.then(() => {
    isAbandoned = true;
  });
  const { at, ...shot } = shoot();
  await pause(-planned);
  const lastByteAt = await endOf(step);
  return { ...shot, offset: isAbandoned ? planned : at - lastByteAt };
}

async function endOf(step: ModelStep): Promise<number> {
  await step.end();
  return performance.now();
}

async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > TIMER_SLACK_MS) await sleep(milliseconds - TIMER_SLACK_MS);
  while (performance.now() < until) await immediate();
}

/** Whatever else the agent asks its model meanwhile: what nobody answers could keep it from its own answers. */
async function answerOthers({ behind }: OwnedStage, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const step = await behind.next(() => true, signal).catch(() => undefined);
    await step?.end(ENDING);
  }
}
