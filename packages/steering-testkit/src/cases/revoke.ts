import { CODE, METHOD, REASON } from "@acp-steering/core/protocol";
import { type Case, type Finding, verifies } from "./case.js";
import { askedTurn } from "./holds.js";
import { allowOnce } from "./permissions.js";
import {
  describe,
  drive,
  endStep,
  isInjected,
  nextStep,
  notApplicable,
  problems,
  type SentSteer,
  type Settled,
  sendSteer,
  settle,
  speaking,
  steeringOf,
  stepOrEnd,
  wasShown,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";
import { carries } from "./step-queue.js";

const revoke = ({ client, sessionId, until }: Stage, messageId: unknown): Promise<Settled> =>
  until("the answer to a revoke", settle(client.request(METHOD.revoke, { sessionId, messageId })));

const isRefused = ({ code, data }: Settled, reason: string): boolean =>
  code === CODE.invalidRequest && data["reason"] === reason;

const refusalProblem = (what: string, answer: Settled, reason: string): false | string =>
  !isRefused(answer, reason) && `${what}: answered ${describe(answer)} instead of ${CODE.invalidRequest} (${reason})`;

/** Revokes a steer, lets the turn end with `proceed`, and looks whether the model was shown it. */
async function judgePending(
  stage: Stage,
  turn: OpenTurn,
  steer: SentSteer,
  proceed: () => PromiseLike<unknown>,
): Promise<Finding> {
  const answer = await steer.settled;
  const revoked = await revoke(stage, steeringOf(answer)["messageId"]);
  await stage.until("the agent to go on", proceed());
  await drive(stage, turn);
  if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
  if (isRefused(revoked, REASON.alreadyDelivered)) return notApplicable("the agent had handed it over at once");
  return problems(
    revoked.code !== undefined && `the revoke was answered ${describe(revoked)}`,
    revoked.code === undefined && wasShown(stage, steer.mark) && "it was revoked, and the model was shown it",
  );
}

/** A steer that is taken back. */
export const REVOKE_CASES: readonly Case[] = [
  verifies("revoke.pending", "while the model speaks", {}, async (stage) => {
    const { turn, step } = await speaking(stage);
    return judgePending(stage, turn, sendSteer(stage), () => step.end());
  }),
  verifies("revoke.pending", "while a permission is open", { needs: ["tool", "permission"] }, async (stage) => {
    const question = await askedTurn(stage);
    return judgePending(stage, question.turn, sendSteer(stage), async () => question.answer(allowOnce));
  }),
  verifies("revoke.late", "after the model was shown it", {}, async (stage) => {
    const { turn, step } = await speaking(stage);
    const steer = sendSteer(stage);
    const answer = await steer.settled;
    await endStep(stage, step);
    const next = await stepOrEnd(stage, turn);
    if (!("texts" in next)) return notApplicable("the steer did not reach the model");
    if (!carries(next, steer.mark)) {
      await endStep(stage, next);
      await drive(stage, turn);
      return notApplicable("the steer was not in the next request to the model");
    }
    const late = await revoke(stage, steeringOf(answer)["messageId"]);
    await endStep(stage, next);
    await drive(stage, turn);
    return problems(refusalProblem("a delivered steer", late, REASON.alreadyDelivered));
  }),
  verifies("revoke.late", "a steer that there never was", {}, async (stage) => {
    const turn = stage.prompt();
    const step = await nextStep(stage, turn);
    const unknown = await revoke(stage, `never-${stage.mark()}`);
    await endStep(stage, step);
    await drive(stage, turn);
    return problems(refusalProblem("an unknown steer", unknown, REASON.unknownMessage));
  }),
];
