/**
 * What a client's prompts, steers and revokes do, by where the session stands: the cells of the table in `session.ts`
 * that answer a client.
 */
import { alreadyDelivered, busy, noRunningTurn, sessionClosed, unknownMessage } from "./errors.js";
import { type ContentBlock, STOP } from "./protocol.js";
import type { Done, EventName, Events, QueuedPrompt, Steer } from "./state.js";
import {
  answerSteer,
  bindSteer,
  type Draft,
  findDone,
  handBack,
  type Identity,
  injectNext,
  order,
  promptRequired,
  turnOf,
} from "./steers.js";
import { enqueue, openQueued, openTurn, rest, withGuidance } from "./turn.js";

/** What one event does in one phase. */
export type Cell<Name extends EventName> = (draft: Draft, event: Events[Name]) => void;

// --- Prompts ----------------------------------------------------------------------------------------------------------

type Prompted = Events["promptArrived"];

const textPrompt = (text: string): readonly ContentBlock[] => [{ type: "text", text }];

function say(draft: Draft, { asker }: Prompted, text: string): void {
  order(draft, "say", asker.link, text);
  order(draft, "answer", asker, { stopReason: STOP.endTurn });
}

/** What a prompt means where there is no turn to join. */
function idlePrompt({ interrupted }: Draft, { command, steer }: Prompted): readonly ContentBlock[] {
  if (!command) return steer.prompt;
  return command.name === "steer" && interrupted ? withGuidance(interrupted, command.text) : textPrompt(command.text);
}

function queuedFrom(draft: Draft, event: Prompted): QueuedPrompt {
  const { asker, turnId, params } = event;
  const prompt = idlePrompt(draft, event);
  return { asker, turnId, prompt, params: event.command ? { ...params, prompt } : params };
}

/** A command without its argument is answered with how to use it. */
const unlessUsage =
  (cell: Cell<"promptArrived">): Cell<"promptArrived"> =>
  (draft, event) =>
    event.command?.text === "" ? say(draft, event, `Usage: /${event.command.name} <text>`) : cell(draft, event);

export const promptWaits: Cell<"promptArrived"> = unlessUsage((draft, event) => {
  enqueue(draft, queuedFrom(draft, event));
  if (event.command?.name === "queue")
    order(draft, "say", event.asker.link, `Queued for the next turn. (${draft.queue.length} queued)`);
});

export const promptWhileIdle: Cell<"promptArrived"> = unlessUsage((draft, event) => {
  if (!draft.closing) return openQueued(draft, queuedFrom(draft, event));
  promptWaits(draft, event);
  rest(draft);
});

export const promptMeetsTurn: Cell<"promptArrived"> = unlessUsage((draft, event) => {
  const { command, asker, steer, barred } = event;
  const { whenBusy } = draft.policy;
  const waits = command ? command.name === "queue" : whenBusy === "queue" || (whenBusy === "steer" && barred);
  if (draft.closing || waits) return promptWaits(draft, event);
  if (!command && whenBusy === "reject") return order(draft, "refuse", asker, busy);
  if (barred) return order(draft, "refuse", asker, barred);
  const bound = command ? { ...steer, prompt: textPrompt(command.text) } : steer;
  const refusal = bindSteer(draft, bound, asker.link);
  if (refusal) return order(draft, "refuse", asker, refusal);
  if (command) say(draft, event, "Steering the running turn.");
  else turnOf(draft).joined = [...turnOf(draft).joined, asker];
  injectNext(draft);
});

// --- Steers -----------------------------------------------------------------------------------------------------------

type Steered = Events["steerArrived"];

export const idleAnswer =
  (detail: "idle" | "cancelling" | "turnMismatch"): Cell<"steerArrived"> =>
  (draft, { asker, steer, idleBehavior }) => {
    if (idleBehavior === "reject") order(draft, "refuse", asker, noRunningTurn);
    else promptRequired(draft, asker, steer, detail);
  };

/** What is refused whatever the phase. */
export const unlessRefused =
  (cell: Cell<"steerArrived">): Cell<"steerArrived"> =>
  (draft, event) => {
    const refusal = draft.closing ? sessionClosed : event.unsupported;
    if (refusal) order(draft, "refuse", event.asker, refusal);
    else cell(draft, event);
  };

export const steerAtRest: Cell<"steerArrived"> = unlessRefused(idleAnswer("idle"));

export const steerWhileIdle: Cell<"steerArrived"> = unlessRefused((draft, event) => {
  const { asker, turnId, steer, idleBehavior, expectedTurnId } = event;
  if (idleBehavior !== "startNewTurn" || expectedTurnId !== undefined) return steerAtRest(draft, event);
  const { link } = asker;
  const { messageId, clientMessageId, prompt } = steer;
  const outcome = "startedNewTurn";
  const done: Done = { messageId, clientMessageId, link, outcome, delivered: true, earlier: undefined };
  answerSteer(draft, asker, steer, outcome, turnId);
  openTurn(draft, { id: turnId, link, owner: undefined, prompt, done }, { prompt });
});

/** How the same steer was answered before, and under which id. */
function firstAnswer(draft: Draft, { asker, steer }: Steered): (Identity & Pick<Done, "outcome">) | undefined {
  const { pending, active, done } = turnOf(draft);
  const { clientMessageId } = steer;
  if (clientMessageId === undefined) return undefined;
  const same = (known: Identity): boolean => known.clientMessageId === clientMessageId;
  const open = [...pending, ...active].find((known) => known.link === asker.link && same(known));
  return open ? { ...open, outcome: "injected" } : findDone(done, asker.link, same);
}

export const steerMeetsTurn: Cell<"steerArrived"> = unlessRefused((draft, event) => {
  const { asker, steer, expectedTurnId } = event;
  const { id } = turnOf(draft);
  const first = firstAnswer(draft, event);
  if (first) return answerSteer(draft, asker, first, first.outcome, id);
  if (expectedTurnId !== undefined && expectedTurnId !== id) return idleAnswer("turnMismatch")(draft, event);
  const refusal = bindSteer(draft, steer, asker.link);
  if (refusal) return order(draft, "refuse", asker, refusal);
  answerSteer(draft, asker, steer, "injected", id);
  injectNext(draft);
});

export const revoke: Cell<"revokeArrived"> = (draft, { asker, messageId }) => {
  const { turn, past } = draft;
  const same = (known: Identity): boolean => known.messageId === messageId;
  const mine = (known: Steer): boolean => known.link === asker.link && same(known);
  const waiting = turn?.pending.find(mine);
  const active = turn?.active.find(mine);
  const done = findDone(turn ? turn.done : past, asker.link, same);
  if (active?.fate === "injecting") {
    turnOf(draft).revokers = [...turnOf(draft).revokers, asker];
    return order(draft, "abortInjection");
  }
  if (active || done?.delivered) return order(draft, "refuse", asker, alreadyDelivered(messageId));
  if (!waiting && !done) return order(draft, "refuse", asker, unknownMessage(messageId));
  if (waiting) handBack(draft, [waiting], "revoked");
  order(draft, "answer", asker, {});
  if (waiting) injectNext(draft);
};
