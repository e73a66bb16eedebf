import { type Case, verifies } from "./case.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  nextStep,
  notApplicable,
  problems,
  sendSteer,
  speaking,
  wasShown,
} from "./play.js";
import { carries } from "./step-queue.js";
import { toolRuns } from "./tool.js";

/** What a driver says of its vendor, `supports.boundary`. */
export const DRIVER_CASES: readonly Case[] = [
  verifies("driver.boundary", "a steer while a tool runs", { needs: ["tool"] }, async (stage) => {
    const turn = stage.prompt();
    const tool = await toolRuns(stage, await nextStep(stage, turn));
    const steer = sendSteer(stage);
    const answer = await steer.settled;
    // It is bound; the driver hands it over in its own time.
    await stage.quiet();
    await tool.finish();
    const next = await nextStep(stage, turn);
    const isThere = carries(next, steer.mark);
    await endStep(stage, next);
    await drive(stage, turn);
    if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
    if (!wasShown(stage, steer.mark)) return notApplicable("the steer did not reach the model");
    return problems(!isThere && "the request after the tool does not show it yet");
  }),
  verifies("driver.boundary", "a steer while the model speaks", {}, async (stage) => {
    if (stage.boundary !== "now") return notApplicable("the driver does not promise to break off what the model says");
    const { turn, step } = await speaking(stage);
    const steer = sendSteer(stage);
    const answer = await steer.settled;
    await stage.quiet();
    const isThere = wasShown(stage, steer.mark);
    await endStep(stage, step);
    await drive(stage, turn);
    if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
    return problems(!isThere && "the model was shown it only when it had ended");
  }),
];
