import type { AnswerFacts, Check, CheckId, SceneFacts } from "./scene-event.js";

type Verdict = Check["verdict"];
type Finding = readonly [verdict: Verdict | boolean, detail: string];

const TITLES: Readonly<Record<CheckId, string>> = {
  advertised: "The agent advertises steering",
  injected: "The steer is answered “injected”",
  steerAnsweredOnce: "Exactly one answer to the steer",
  seenOnce: "The model sees the steer, in one message",
  inOrder: "It comes after everything said before it",
  sameTurn: "It is seen within the turn that it was bound to",
  delivered: "The agent reports it as delivered",
  ownerAnswered: "The turn ends with “end_turn”, after the steer",
  ownerAnsweredOnce: "Exactly one answer to the prompt",
  steerObeyed: "The files are as the steer wanted them",
  idlePromptRequired: "After the turn a steer is answered “promptRequired”",
  idleConsumesNothing: "… and the model is asked nothing",
  ownTurnAnswered: "Sent as a prompt it gets its own turn, once answered “end_turn”",
  ownTurnSeenOnce: "… and the model sees it, in one message",
};

const FINDINGS: Readonly<Record<CheckId, (facts: SceneFacts) => Finding>> = {
  advertised: ({ advertisement }) => [
    advertisement?.["supported"] === true,
    advertisement === undefined ? "no _meta.steering in the answer to initialize" : JSON.stringify(advertisement),
  ],
  injected: ({ steer }) => [steer.result?.["outcome"] === "injected", outcomeOf(steer)],
  steerAnsweredOnce: ({ steer }) => exactlyOne(steer),
  seenOnce: (facts) => ifModelAsked(facts, [facts.steerSeen.userMessages === 1, sightingText(facts)]),
  inOrder: (facts) =>
    ifModelAsked(facts, [
      facts.steerSeen.newest,
      facts.steerSeen.newest ? `new at the end of request ${facts.steerSeen.request}` : sightingText(facts),
    ]),
  sameTurn: (facts) => ifModelAsked(facts, [isInOwnersTurn(facts), turnText(facts)]),
  delivered: receiptFinding,
  ownerAnswered: (facts) => [
    facts.owner.result?.["stopReason"] === "end_turn" && facts.steer.result !== undefined,
    stopReasonOf(facts.owner),
  ],
  ownerAnsweredOnce: ({ owner }) => exactlyOne(owner),
  steerObeyed: ({ toolCalls, steerObeyed }) => [
    steerObeyed,
    steerObeyed ? `after ${toolCalls} tool calls` : "the wrong file was changed, or none",
  ],
  idlePromptRequired: ({ idleSteer }) => [
    idleSteer.result?.["outcome"] === "promptRequired" && idleSteer.result["reason"] === "noRunningTurn",
    outcomeOf(idleSteer),
  ],
  idleConsumesNothing: (facts) => ifModelAsked(facts, idleRequests(facts)),
  ownTurnAnswered: ({ ownTurn }) => [
    ownTurn.result?.["stopReason"] === "end_turn" && ownTurn.answers === 1,
    `${stopReasonOf(ownTurn)}, answers: ${ownTurn.answers}`,
  ],
  ownTurnSeenOnce: (facts) =>
    ifModelAsked(facts, [
      facts.ownTurnSeen.userMessages === 1 && isAfter(facts.ownTurn, facts.ownTurnSeen.request),
      facts.ownTurnSeen.request === undefined
        ? "in no request"
        : `first in request ${facts.ownTurnSeen.request}, messages: ${facts.ownTurnSeen.userMessages}`,
    ]),
};

/** What is asked only of agents that have the means: receipts, tools. */
const APPLIES: Partial<Readonly<Record<CheckId, (facts: SceneFacts) => boolean>>> = {
  delivered: ({ advertisement }) => advertisement?.["receipts"] === true,
  steerObeyed: ({ toolCalls }) => toolCalls > 0,
};

/** Holds the facts of a scene against what must be true of every steerable agent; leaves out what does not apply to it. */
export function checksOf(facts: SceneFacts): readonly Check[] {
  const applying = (Object.keys(FINDINGS) as CheckId[]).filter((id) => APPLIES[id]?.(facts) ?? true);
  return applying.map((id) => {
    const [found, detail] = FINDINGS[id](facts);
    const verdict = typeof found === "boolean" ? (`${found}` as const) : found;
    return { id, title: TITLES[id], verdict, detail };
  });
}

function exactlyOne({ answers }: AnswerFacts): Finding {
  return [answers === 1, `answers: ${answers}`];
}

function ifModelAsked({ modelRequests }: SceneFacts, finding: Finding): Finding {
  return modelRequests === 0 ? ["unverified", "the model server saw nothing from this agent"] : finding;
}

function receiptFinding({ steerReceipts }: SceneFacts): Finding {
  const states = steerReceipts.map((receipt) => String(receipt["state"]) + (receipt["assumed"] ? " (assumed)" : ""));
  return [states.length === 1 && states[0] === "delivered", states.join(", ") || "no receipt came"];
}

function isAfter({ modelRequestsBefore }: AnswerFacts, request = 0): boolean {
  return request > modelRequestsBefore;
}

function isInOwnersTurn({ owner, steer, steerSeen }: SceneFacts): boolean {
  const { request } = steerSeen;
  if (request === undefined || !isAfter(owner, request) || request > owner.modelRequestsAfter) return false;
  const [steeredTurn, ownTurn] = [turnIdOf(steer), turnIdOf(owner)];
  return steeredTurn === undefined || ownTurn === undefined || steeredTurn === ownTurn;
}

function turnIdOf({ result }: AnswerFacts): unknown {
  const meta = result?.["_meta"] as { steering?: { turnId?: unknown } } | null | undefined;
  return meta?.steering?.turnId;
}

function turnText({ owner, steerSeen }: SceneFacts): string {
  const turn = `the turn had requests ${owner.modelRequestsBefore + 1} to ${owner.modelRequestsAfter}`;
  return steerSeen.request === undefined ? `in no request; ${turn}` : `request ${steerSeen.request}; ${turn}`;
}

function sightingText({ steerSeen, modelRequests }: SceneFacts): string {
  if (steerSeen.request === undefined) return `in none of the ${modelRequests} requests`;
  return `first in request ${steerSeen.request}, in ${steerSeen.userMessages} message(s)`;
}

function idleRequests({ idleSteer, ownTurn, owner }: SceneFacts): Finding {
  const asked = ownTurn.modelRequestsBefore - owner.modelRequestsAfter;
  return [asked === 0 && idleSteer.result !== undefined, `requests: ${asked}`];
}

function outcomeOf({ result, error }: AnswerFacts): string {
  if (error !== undefined) return `error ${error.code}: ${error.message}`;
  if (result === undefined) return "not answered";
  return [result["outcome"], result["reason"]].filter(Boolean).join(", ");
}

function stopReasonOf({ result, error }: AnswerFacts): string {
  if (error !== undefined) return `error ${error.code}: ${error.message}`;
  return result === undefined ? "not answered" : String(result["stopReason"]);
}
