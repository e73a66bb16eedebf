import { type Case, type Finding, verifies } from "./case.js";
import {
  type Aftermath,
  describe,
  drive,
  endStep,
  isInjected,
  letRun,
  nextStep,
  notApplicable,
  problems,
  sendSteer,
  speak,
  speaking,
  stepOrEnd,
  watchEnd,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";
import { carries } from "./step-queue.js";

/** What was not answered exactly once. */
function notOnce({ client }: Stage, what: string, ids: readonly (number | string)[]): Finding {
  const counts = ids.map((id) => client.answersTo(id).length);
  const wrong = counts.filter((count) => count !== 1);
  return problems(
    wrong.length > 0 && `${wrong.length} of ${ids.length} ${what} were not answered once, but ${wrong[0]} times`,
  );
}

async function judgeLast(stage: Stage, turn: OpenTurn, after: Aftermath): Promise<Finding> {
  await stage.quiet();
  const { updates, steps } = after();
  await letRun(stage, turn.mark);
  return problems(
    updates > 0 && `${updates} updates followed the owner's answer`,
    steps > 0 && `${steps} requests to the model followed the owner's answer`,
  );
}

/** Everything that is asked is answered once, the owner last. */
export const ANSWER_CASES: readonly Case[] = [
  verifies("G4.prompt", "a prompt with a steer right behind it", {}, async (stage) => {
    const turn = stage.prompt();
    const steer = sendSteer(stage, { meta: { idleBehavior: "promptRequired" } });
    await drive(stage, turn);
    await steer.settled;
    await stage.quiet();
    return notOnce(stage, "prompts", [turn.id]);
  }),
  verifies("G4.prompt", "ten steers while the model speaks", { needs: ["model"] }, async (stage) => {
    const { turn, step } = await speaking(stage);
    const steers = Array.from({ length: 10 }, () => sendSteer(stage));
    await endStep(stage, step);
    await drive(stage, turn);
    await Promise.all(steers.map(({ settled }) => settled));
    await stage.quiet();
    return notOnce(stage, "prompts", [turn.id]);
  }),
  verifies("G4.steer", "while idle", {}, async (stage) => {
    const steer = sendSteer(stage, { meta: { idleBehavior: "promptRequired" } });
    await steer.settled;
    await stage.quiet();
    return notOnce(stage, "steers", [steer.id]);
  }),
  verifies("G4.steer", "ten steers while the model speaks", { needs: ["model"] }, async (stage) => {
    const { turn, step } = await speaking(stage);
    const steers = Array.from({ length: 10 }, () => sendSteer(stage));
    await Promise.all(steers.map(({ settled }) => settled));
    await endStep(stage, step);
    await drive(stage, turn);
    await stage.quiet();
    return notOnce(
      stage,
      "steers",
      steers.map(({ id }) => id),
    );
  }),
  verifies("G4.last", "a steered turn", {}, async (stage) => {
    const turn = stage.prompt();
    const after = watchEnd(stage, turn);
    const step = await nextStep(stage, turn);
    await speak(stage, step);
    const steer = sendSteer(stage);
    const answer = await steer.settled;
    await endStep(stage, step);
    if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
    const next = await stepOrEnd(stage, turn);
    await stage.quiet();
    if ("texts" in next) {
      if (carries(next, steer.mark) && stage.client.answersTo(turn.id).length > 0)
        return problems("the owner was answered while the model was still asked about a steer of the turn");
      await endStep(stage, next);
      await drive(stage, turn);
    }
    return judgeLast(stage, turn, after);
  }),
  verifies("G4.last", "a turn without a steer", {}, async (stage) => {
    const turn = stage.prompt();
    const after = watchEnd(stage, turn);
    await drive(stage, turn);
    return judgeLast(stage, turn, after);
  }),
];
