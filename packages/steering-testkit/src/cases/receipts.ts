import { METHOD } from "@acp-steering/core/protocol";
import type { WireRecord } from "../wire-record.js";
import { type Case, type Finding, verifies } from "./case.js";
import { objectAt } from "./create-stage.js";
import {
  answerRecord,
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
  sendTogether,
  showsWork,
  speak,
  speaking,
  steeringOf,
  steerParams,
  steerText,
  type TurnEnd,
  updateKind,
  wasShown,
} from "./play.js";
import type { OpenTurn, Stage } from "./stage.js";

/** A receipt, and where it stood on the wire. */
interface Receipt {
  readonly order: number;
  readonly params: Readonly<Record<string, unknown>>;
}

interface SteeredTurn {
  readonly turn: OpenTurn;
  readonly from: number;
  readonly steer: SentSteer;
  readonly answer: Settled;
  readonly end: TurnEnd;
}

const WISHES = { receipts: true } as const;

function receiptsSince({ since, sessionId }: Stage, order: number): readonly Receipt[] {
  return since(order)
    .filter(({ message }) => message?.method === METHOD.receipt)
    .map((record) => ({ order: record.order, params: record.message?.params as Receipt["params"] }))
    .filter(({ params }) => params["sessionId"] === sessionId);
}

/** A turn that is steered while the model speaks, to its end. */
async function steeredTurn(stage: Stage): Promise<SteeredTurn> {
  const from = stage.client.log.length;
  const { turn, step } = await speaking(stage);
  const steer = sendSteer(stage);
  const answer = await steer.settled;
  await endStep(stage, step);
  return { turn, from, steer, answer, end: await drive(stage, turn) };
}

interface Overtaken extends Omit<SteeredTurn, "steer"> {
  readonly mark: string;
  readonly prompt: unknown;
}

/** A steer and a cancel in one write. */
async function overtakenTurn(stage: Stage): Promise<Overtaken> {
  const from = stage.client.log.length;
  const { sessionId } = stage;
  const turn = stage.prompt();
  await speak(stage, await nextStep(stage, turn));
  const mark = stage.mark();
  const params = steerParams(stage, mark);
  const [steer] = sendTogether(stage, [
    { method: METHOD.steering, params },
    { method: METHOD.cancel, params: { sessionId }, isNotification: true },
  ]);
  if (steer === undefined) throw new Error("nothing was sent");
  const end = await drive(stage, turn);
  return { turn, from, mark, prompt: params["prompt"], answer: await steer.settled, end };
}

/** Why there is nothing to say about a steer that was to be overtaken by a cancel. */
const notOvertaken = (stage: Stage, { mark, answer }: Overtaken): string | undefined => {
  if (!isInjected(answer)) return `the steer was answered ${describe(answer)}`;
  if (wasShown(stage, mark)) return "the steer reached the model before the cancel";
  return stage.advertisement["delivery"] === "assumed" ? "the agent never says what became of a steer" : undefined;
};

const ofState = (receipts: readonly Receipt[], state: string): readonly Receipt[] =>
  receipts.filter(({ params }) => params["state"] === state);

function judgeTurn(stage: Stage, turn: OpenTurn, from: number): Finding {
  const receipts = receiptsSince(stage, from);
  const [started, ended] = [ofState(receipts, "turnStarted"), ofState(receipts, "turnEnded")];
  const [first, last] = [started[0], ended[0]];
  if (first === undefined || last === undefined || started.length + ended.length > 2)
    return problems(`turnStarted came ${started.length} times, turnEnded ${ended.length} times`);
  const update = stage.since(from).find((record) => showsWork(record, stage.sessionId));
  const owner = answerRecord(stage, turn.id);
  const { stopReason } = objectAt(owner.message, "result");
  return problems(
    update !== undefined && update.order < first.order && "an update came before turnStarted",
    owner.order < last.order && "the owner was answered before turnEnded",
    (typeof first.params["turnId"] !== "string" || first.params["turnId"] !== last.params["turnId"]) &&
      "turnStarted and turnEnded do not name one turn",
    last.params["stopReason"] !== stopReason &&
      `turnEnded says ${JSON.stringify(last.params["stopReason"])}, the owner's answer ${JSON.stringify(stopReason)}`,
  );
}

function judgeDelivered(stage: Stage, { turn, from, steer, answer }: SteeredTurn): Finding {
  if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
  if (!wasShown(stage, steer.mark)) return notApplicable("the steer did not reach the model");
  const { messageId } = steeringOf(answer);
  const reports = receiptsSince(stage, from).filter(
    ({ params }) => params["messageId"] === messageId && params["state"] !== undefined,
  );
  const [report] = reports;
  if (report === undefined || reports.length > 1) return problems(`it was reported ${reports.length} times`);
  return problems(
    report.params["state"] !== "delivered" && `it was reported ${JSON.stringify(report.params["state"])}`,
    report.order < answerRecord(stage, steer.id).order && "it was reported before its own answer",
    report.order > answerRecord(stage, turn.id).order && "it was reported after the owner's answer",
  );
}

function judgeUndelivered(stage: Stage, overtaken: Overtaken): Finding {
  const why = notOvertaken(stage, overtaken);
  if (why !== undefined) return notApplicable(why);
  const { messageId } = steeringOf(overtaken.answer);
  const reports = receiptsSince(stage, overtaken.from).filter(({ params }) => params["messageId"] === messageId);
  const [report] = reports;
  if (report === undefined || reports.length > 1) return problems(`it was reported ${reports.length} times`);
  const { state, reason, prompt } = report.params;
  return problems(
    state !== "undelivered" && `it was reported ${JSON.stringify(state)}`,
    state === "undelivered" && reason !== "cancelled" && `the reason is ${JSON.stringify(reason)}`,
    state === "undelivered" && !isSame(prompt, overtaken.prompt) && "its content was not handed back",
  );
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

function judgeReport({ answer, end }: SteeredTurn): Finding {
  if (!isInjected(answer)) return notApplicable(`the steer was answered ${describe(answer)}`);
  const { turnId, runs, undelivered } = steeringOf(end);
  const isList = Array.isArray(runs) && runs.length > 0;
  return problems(
    typeof turnId !== "string" && `the owner's answer names the turn as ${JSON.stringify(turnId)}`,
    typeof turnId === "string" && turnId !== steeringOf(answer)["turnId"] && "it names another turn than the steer's",
    !(isList && runs.every((run) => typeof objectAt({ run }, "run")["stopReason"] === "string")) &&
      `its runs are ${JSON.stringify(runs)}`,
    !Array.isArray(undelivered) && `its undelivered steers are ${JSON.stringify(undelivered)}`,
  );
}

function judgeLeftovers(stage: Stage, overtaken: Overtaken): Finding {
  const why = notOvertaken(stage, overtaken);
  if (why !== undefined) return notApplicable(why);
  const { undelivered } = steeringOf(overtaken.end);
  const { messageId } = steeringOf(overtaken.answer);
  const isNamed = Array.isArray(undelivered) && undelivered.some((steer) => steer?.messageId === messageId);
  return problems(!isNamed && `the steer is not among the undelivered: ${JSON.stringify(undelivered)}`);
}

/** The user messages that show the steer. */
const echoesOf = (stage: Stage, { from, steer, answer }: SteeredTurn): readonly WireRecord["message"][] =>
  stage
    .since(from)
    .filter((record) => updateKind(record) === "user_message_chunk")
    .map(({ message }) => message)
    .filter((message) => {
      const update = objectAt(message?.params, "update");
      const text = String(objectAt(update, "content")["text"]);
      return text.includes(steer.mark) || update["messageId"] === steeringOf(answer)["messageId"];
    });

function judgeEcho(stage: Stage, steered: SteeredTurn): Finding {
  if (!wasShown(stage, steered.steer.mark)) return notApplicable("the steer did not reach the model");
  const echoes = echoesOf(stage, steered);
  const [echo] = echoes;
  if (echo === undefined || echoes.length > 1) return problems(`it was shown ${echoes.length} times`);
  const update = objectAt(echo.params, "update");
  return problems(
    update["messageId"] !== steeringOf(steered.answer)["messageId"] && "it was not shown under its messageId",
    objectAt(update, "content")["text"] !== steerText(steered.steer.mark) && "what was shown is not its text",
  );
}

/** What clients are told that want to know. */
export const RECEIPT_CASES: readonly Case[] = [
  verifies("receipt.turn", "a turn without a steer", { wishes: WISHES }, async (stage) => {
    const from = stage.client.log.length;
    const turn = stage.prompt();
    await drive(stage, turn);
    return judgeTurn(stage, turn, from);
  }),
  verifies("receipt.turn", "a steered turn", { wishes: WISHES }, async (stage) => {
    const { turn, from } = await steeredTurn(stage);
    return judgeTurn(stage, turn, from);
  }),
  verifies("receipt.delivered", "a steer while the model speaks", { wishes: WISHES }, async (stage) =>
    judgeDelivered(stage, await steeredTurn(stage)),
  ),
  verifies("receipt.undelivered", "a steer and a cancel in one write", { wishes: WISHES }, async (stage) =>
    judgeUndelivered(stage, await overtakenTurn(stage)),
  ),
  verifies("report.owner", "a steered turn", {}, async (stage) => judgeReport(await steeredTurn(stage))),
  verifies("report.owner", "a steer and a cancel in one write", {}, async (stage) =>
    judgeLeftovers(stage, await overtakenTurn(stage)),
  ),
  verifies("echo.once", "a steer while the model speaks", { wishes: { receipts: true, echo: true } }, async (stage) =>
    judgeEcho(stage, await steeredTurn(stage)),
  ),
  verifies("start.turn", "a steer that asks for a turn", { fresh: true, wishes: WISHES }, async (stage) => {
    const from = stage.client.log.length;
    const steer = sendSteer(stage, { meta: { idleBehavior: "startNewTurn" } });
    const answer = await steer.settled;
    if (answer.result["outcome"] !== "startedNewTurn") return problems(`answered ${describe(answer)}`);
    const { turnId } = steeringOf(answer);
    const step = await stage.until("the agent to ask its model about the steer", stage.behind.next(steer.mark));
    await endStep(stage, step);
    const isEnd = ({ message }: WireRecord): boolean =>
      message?.method === METHOD.receipt && objectAt(message, "params")["state"] === "turnEnded";
    const { message } = await stage.until("the receipt of the turn's end", stage.client.waitFor(isEnd, from));
    const ended = objectAt(message, "params");
    return problems(
      ended["turnId"] !== turnId && "the receipt names another turn",
      ended["stopReason"] !== "end_turn" && `the turn ended with ${JSON.stringify(ended["stopReason"])}`,
    );
  }),
];
