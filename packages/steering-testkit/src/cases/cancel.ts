import { METHOD } from "@acp-steering/core/protocol";
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
  playTurn,
  problems,
  type Settled,
  sendSteer,
  sendTogether,
  speak,
  speaking,
  steerParams,
  type TurnEnd,
  wasShown,
  watchEnd,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";

interface Cancelled {
  readonly turn: OpenTurn;
  readonly end: TurnEnd;
  readonly after: Aftermath;
}

const isCancelled = ({ result }: Settled): boolean => result["stopReason"] === "cancelled";

/** A turn up to where the model speaks. */
async function speakingTurn(stage: Stage): Promise<OpenTurn> {
  const turn = stage.prompt();
  await speak(stage, await nextStep(stage, turn));
  return turn;
}

/** Cancels a turn. What the model is still asked gets its answer, as from a model that knows nothing of it. */
async function cancel(stage: Stage, turn: OpenTurn): Promise<Cancelled> {
  const after = watchEnd(stage, turn);
  stage.client.cancel(stage.sessionId);
  return { turn, after, end: await drive(stage, turn) };
}

async function steeredAndCancelled(stage: Stage): Promise<Cancelled> {
  const turn = await speakingTurn(stage);
  await sendSteer(stage).settled;
  return cancel(stage, turn);
}

const judgeCancelled = ({ end }: Cancelled): Finding => problems(!isCancelled(end) && `the owner got ${describe(end)}`);

async function judgeQuiet(stage: Stage, { turn, end, after }: Cancelled): Promise<Finding> {
  if (!isCancelled(end)) return notApplicable(`the turn was not cancelled: ${describe(end)}`);
  await stage.quiet();
  const { updates, steps } = after();
  await letRun(stage, turn.mark);
  return problems(updates > 0 && `${updates} updates followed`, steps > 0 && `${steps} requests to the model followed`);
}

/** Sends a steer and a cancel in one write, in that order or the other. */
function steerAndCancel(stage: Stage, first: "steer" | "cancel"): { mark: string; settled: Promise<Settled> } {
  const mark = stage.mark();
  const steer = {
    method: METHOD.steering,
    params: steerParams(stage, mark, { meta: { idleBehavior: "promptRequired" } }),
  };
  const cancelled = { method: METHOD.cancel, params: { sessionId: stage.sessionId }, isNotification: true };
  const sent = sendTogether(stage, first === "steer" ? [steer, cancelled] : [cancelled, steer]);
  const settled = sent[first === "steer" ? 0 : 1]?.settled;
  if (settled === undefined) throw new Error("nothing was sent");
  return { mark, settled };
}

/** Cancel: what ends, what does not run any more, and what goes on afterwards. */
export const CANCEL_CASES: readonly Case[] = [
  verifies("G6.cancelled", "a turn without a steer", {}, async (stage) =>
    judgeCancelled(await cancel(stage, await speakingTurn(stage))),
  ),
  verifies("G6.cancelled", "a turn with a steer", {}, async (stage) =>
    judgeCancelled(await steeredAndCancelled(stage)),
  ),
  verifies("G6.quiet", "a turn without a steer", {}, async (stage) => {
    return judgeQuiet(stage, await cancel(stage, await speakingTurn(stage)));
  }),
  verifies("G6.quiet", "a turn with a steer", {}, async (stage) => {
    return judgeQuiet(stage, await steeredAndCancelled(stage));
  }),
  verifies("G6.steer-cancel", "a steer and a cancel in one write", {}, async (stage) => {
    const turn = await speakingTurn(stage);
    const { mark, settled } = steerAndCancel(stage, "steer");
    await drive(stage, turn);
    const answer = await settled;
    const shownInTurn = wasShown(stage, mark);
    const ranLater = (await letRun(stage, mark)) > 0;
    stage.note(!shownInTurn && ranLater && `answered ${describe(answer)}, and it ran after the cancel`);
    await playTurn(stage);
    if (shownInTurn) return notApplicable("the steer reached the model before the cancel");
    return problems(
      !ranLater && wasShown(stage, mark) && `answered ${describe(answer)}, and the next turn showed it to the model`,
    );
  }),
  verifies("G6.cancel-steer", "a cancel and a steer in one write", {}, async (stage) => {
    const turn = await speakingTurn(stage);
    const { mark, settled } = steerAndCancel(stage, "cancel");
    await drive(stage, turn);
    const answer = await settled;
    stage.note(answer.result["outcome"] !== "promptRequired" && `answered ${describe(answer)}`);
    const ran = (await letRun(stage, mark)) > 0;
    stage.note(ran && "it ran after the cancel, in nobody's turn");
    await playTurn(stage);
    return problems(!ran && wasShown(stage, mark) && "the model was shown it");
  }),
  verifies("G6.idle", "in a new session", { newSession: true }, (stage) => judgeNext(stage)),
  verifies("G6.idle", "after a turn", {}, async (stage) => {
    await playTurn(stage);
    return judgeNext(stage);
  }),
  verifies("G6.next", "a prompt after a cancelled turn, steered", {}, async (stage) => {
    await steeredAndCancelled(stage);
    const { turn, step } = await speaking(stage);
    const answer = await sendSteer(stage).settled;
    await endStep(stage, step);
    const end = await drive(stage, turn);
    return problems(
      !isInjected(answer) && `the steer of the next turn was answered ${describe(answer)}`,
      end.result["stopReason"] !== "end_turn" && `the next turn ended with ${describe(end)}`,
    );
  }),
];

/** A cancel and a prompt right behind it. */
async function judgeNext(stage: Stage): Promise<Finding> {
  stage.client.cancel(stage.sessionId);
  const turn = stage.prompt();
  const end = await drive(stage, turn);
  return problems(
    end.steps.length === 0 && "the model was not asked about the next prompt",
    end.result["stopReason"] !== "end_turn" && `the next prompt was answered ${describe(end)}`,
  );
}
