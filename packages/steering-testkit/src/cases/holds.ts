import { METHOD } from "@acp-steering/core/protocol";
import { type Case, verifies } from "./case.js";
import { allowOnce, type PermissionAnswer, rejectOnce } from "./permissions.js";
import {
  describe,
  drive,
  isInjected,
  nextStep,
  notApplicable,
  playTurn,
  problems,
  type SentSteer,
  type Settled,
  sendSteer,
  steeringOf,
  wasShown,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";
import { leavesFile } from "./tool.js";

/** A permission request that the client has not answered. */
interface OpenQuestion {
  readonly turn: OpenTurn;
  readonly id: unknown;
  answer(choose: (params: unknown) => PermissionAnswer): void;
}

/** A turn up to where the agent asks for permission to run a tool. */
export async function askedTurn(stage: Stage): Promise<OpenQuestion> {
  const { client } = stage;
  let choose: (choice: (params: unknown) => PermissionAnswer) => void = () => {};
  const choice = new Promise<(params: unknown) => PermissionAnswer>((resolve) => {
    choose = resolve;
  });
  client.permission = async (params) => (await choice)(params);
  const turn = stage.prompt();
  const step = await nextStep(stage, turn);
  const from = client.log.length;
  step.run(leavesFile(stage), { asking: true });
  const { message } = await stage.until(
    "the agent to ask for permission",
    client.waitFor(({ direction, message }) => direction === "in" && message?.method === METHOD.permission, from),
  );
  return { turn, id: message?.id, answer: choose };
}

/** Whether the agent took the question back. */
const wasWithdrawn = (stage: Stage, { id }: OpenQuestion): boolean =>
  stage.client.log.some(
    ({ direction, message }) =>
      direction === "in" &&
      message?.method === METHOD.cancelRequest &&
      (message.params as { requestId?: unknown }).requestId === id,
  );

/** Whether somebody was told that a steer was not delivered. */
function wasReported(end: Settled, answer: Settled): boolean {
  const { messageId } = steeringOf(answer);
  const { undelivered } = steeringOf(end);
  const told = Array.isArray(undelivered) && undelivered.some((steer) => steer?.messageId === messageId);
  return messageId !== undefined && told;
}

async function steerDuring(stage: Stage): Promise<{ question: OpenQuestion; steer: SentSteer; answer: Settled }> {
  const question = await askedTurn(stage);
  const steer = sendSteer(stage);
  const answer = await steer.settled;
  return { question, steer, answer };
}

/** A steer while the agent waits for a permission. */
export const HOLD_CASES: readonly Case[] = [
  verifies("hold.allowed", "a steer, then the permission is given", {}, async (stage) => {
    const { question, steer, answer } = await steerDuring(stage);
    await stage.quiet();
    const withdrawn = wasWithdrawn(stage, question);
    const endedBefore = stage.client.answersTo(question.turn.id).length > 0;
    question.answer(allowOnce);
    const end = await drive(stage, question.turn);
    return problems(
      !isInjected(answer) && `the steer was answered ${describe(answer)}`,
      withdrawn && "the agent took its question back",
      endedBefore && "the turn ended with the question open",
      isInjected(answer) && !wasShown(stage, steer.mark) && `the model was never shown it (turn: ${describe(end)})`,
    );
  }),
  verifies("hold.rejected", "a steer, then the permission is refused", {}, async (stage) => {
    const { question, steer, answer } = await steerDuring(stage);
    question.answer(rejectOnce);
    const end = await drive(stage, question.turn);
    if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
    if (wasShown(stage, steer.mark) || wasReported(end, answer)) return problems();
    await playTurn(stage);
    return problems(
      !wasShown(stage, steer.mark) && `answered injected, never shown to the model, and no report (${describe(end)})`,
    );
  }),
  verifies("hold.unanswered", "a steer, then a cancel", { fresh: true }, async (stage) => {
    const { question } = await steerDuring(stage);
    stage.client.cancel(stage.sessionId);
    const end = await drive(stage, question.turn);
    question.answer(() => ({ outcome: { outcome: "cancelled" } }));
    return problems(end.result["stopReason"] !== "cancelled" && `the owner got ${describe(end)}`);
  }),
];
