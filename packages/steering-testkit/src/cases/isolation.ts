import { type Case, verifies } from "./case.js";
import { describe, drive, endStep, nextStep, playTurn, problems, sendSteer, speak } from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";
import { carriesAny } from "./step-queue.js";

/** The steers of other turns that the model was shown in the turns of a session. */
function strangers({ behind }: Stage, turn: OpenTurn, foreign: readonly string[]): number {
  return behind.steps(turn.mark).filter((step) => carriesAny(step, foreign)).length;
}

/** What belongs to one session or one turn stays there. */
export const ISOLATION_CASES: readonly Case[] = [
  verifies("G7.session", "two sessions at once, each with its steer", {}, async (stage) => {
    const other = await stage.session();
    const [mine, theirs] = [stage.prompt(), stage.prompt([], other)];
    const steps = await Promise.all([nextStep(stage, mine), nextStep(stage, theirs)]);
    for (const step of steps) await speak(stage, step);
    const steers = [sendSteer(stage), sendSteer(stage, { sessionId: other })] as const;
    await Promise.all(steers.map(({ settled }) => settled));
    await stage.until("the agent to take the model's answers", Promise.all(steps.map((step) => step.end())));
    await Promise.all([drive(stage, mine), drive(stage, theirs)]);
    await Promise.all([playTurn(stage), playTurn(stage, other)]);
    return problems(
      strangers(stage, mine, [steers[1].mark]) > 0 && "the first session was shown the steer of the second",
      strangers(stage, theirs, [steers[0].mark]) > 0 && "the second session was shown the steer of the first",
    );
  }),
  verifies("G7.session", "one session idle, the other steered", {}, async (stage) => {
    const other = await stage.session();
    const turn = stage.prompt();
    const step = await nextStep(stage, turn);
    const steer = sendSteer(stage);
    await steer.settled;
    await endStep(stage, step);
    await drive(stage, turn);
    const next = stage.prompt([], other);
    await drive(stage, next);
    return problems(strangers(stage, next, [steer.mark]) > 0 && "the idle session was shown the steer of the other");
  }),
  verifies("busy.prompt", "a second prompt while the model speaks", {}, async (stage) => {
    const first = stage.prompt();
    const step = await nextStep(stage, first);
    await speak(stage, step);
    const second = stage.prompt();
    await stage.quiet();
    await endStep(stage, step);
    const ends = await Promise.all([drive(stage, first), drive(stage, second)]);
    await stage.quiet();
    const counts = [first, second].map(({ id }) => stage.client.answersTo(id).length);
    return {
      ...problems(
        counts[0] !== 1 && `the first prompt was answered ${counts[0]} times`,
        counts[1] !== 1 && `the second prompt was answered ${counts[1]} times`,
      ),
      figure: `the second: ${describe(ends[1])}`,
    };
  }),
  verifies("G8.model-fails", "the model fails in a steered turn", {}, async (stage) => {
    const turn = stage.prompt();
    const step = await nextStep(stage, turn);
    await sendSteer(stage).settled;
    step.fail();
    const end = await drive(stage, turn, (other) => other.fail());
    const next = await playTurn(stage);
    return {
      ...problems(
        next.steps.length === 0 && "the model was not asked about the next prompt",
        next.result["stopReason"] !== "end_turn" && `the next prompt was answered ${describe(next)}`,
      ),
      figure: `the owner got ${describe(end)}`,
    };
  }),
];
