/**
 * What a client's prompts, steers and revokes do, by where the session stands: the cells of the table in `session.ts`
 * that answer a client.
 */
import { alreadyDelivered, busy, noRunningTurn, sessionNotFound, unknownMessage } from "./errors.js";
import { type IdleDetail, REASON, STOP } from "./protocol.js";
import type { Asker, EventName, Events, QueuedPrompt, State, Steer } from "./state.js";
import { answerSteer, bindSteer, findSteer, injectNext, isPending, order, respond, settle, turnOf } from "./steers.js";
import { enqueue, openTurn, rest, textPrompt, withGuidance } from "./turn.js";

/** What one event does in one phase. */
export type Cell<Name extends EventName> = (state: State, ...event: Events[Name]) => void;

// --- Prompts ----------------------------------------------------------------------------------------------------------

const say = (state: State, asker: Asker, text: string): void => {
  order(state, "say", asker.link, text);
  respond(state, asker, { result: { stopReason: STOP.endTurn } });
};

/** What a prompt means where there is no turn to join. */
const queuedFrom = ({ interrupted }: State, ...[queued, , command]: Events["promptArrived"]): QueuedPrompt => {
  if (!command) return queued;
  const { name, text } = command;
  const prompt = name === "steer" && interrupted ? withGuidance(interrupted, text) : textPrompt(text);
  return { ...queued, params: { ...queued.params, prompt }, prompt };
};

/** A command without its argument is answered with how to use it. */
const unlessUsage =
  (cell: Cell<"promptArrived">): Cell<"promptArrived"> =>
  (state, queued, steer, command, barred) =>
    command?.text === ""
      ? say(state, queued.asker, `Usage: /${command.name} <text>`)
      : cell(state, queued, steer, command, barred);

export const promptWaits: Cell<"promptArrived"> = unlessUsage((state, ...event) => {
  const [{ asker }, , command] = event;
  enqueue(state, queuedFrom(state, ...event));
  if (command?.name === "queue")
    order(state, "say", asker.link, `Queued for the next turn. (${state.queue.length} queued)`);
});

export const promptWhileIdle: Cell<"promptArrived"> = unlessUsage((state, ...event) => {
  if (!state.closing) return openTurn(state, queuedFrom(state, ...event));
  promptWaits(state, ...event);
  rest(state);
});

export const promptMeetsTurn: Cell<"promptArrived"> = unlessUsage((state, ...event) => {
  const [{ asker }, steer, command, barred] = event;
  const { whenBusy } = state.policy;
  const waits = command ? command.name === "queue" : whenBusy === "queue" || (whenBusy === "steer" && barred);
  if (state.closing || waits) return promptWaits(state, ...event);
  if (command) steer.prompt = textPrompt(command.text);
  const error = !command && whenBusy === "reject" ? busy : (barred ?? bindSteer(state, steer));
  if (error) return respond(state, asker, { error });
  if (command) say(state, asker, "Steering the running turn.");
  else turnOf(state).joined = [...turnOf(state).joined, asker];
  injectNext(state);
});

// --- Steers -----------------------------------------------------------------------------------------------------------

const answerBound = (state: State, asker: Asker, steer: Steer, turnId: string): void =>
  answerSteer(state, asker, steer, { outcome: steer.outcome }, { turnId });

export const idleAnswer =
  (detail: IdleDetail): Cell<"steerArrived"> =>
  (state, { asker }, steer, _, idleBehavior) => {
    if (idleBehavior === "reject") respond(state, asker, { error: noRunningTurn });
    else answerSteer(state, asker, steer, { outcome: "promptRequired", reason: REASON.noRunningTurn }, { detail });
  };

/** What is refused whatever the phase. */
export const unlessRefused =
  (cell: Cell<"steerArrived">): Cell<"steerArrived"> =>
  (state, queued, steer, unsupported, ...wishes) => {
    const error = state.closing ? sessionNotFound() : unsupported;
    if (error) respond(state, queued.asker, { error });
    else cell(state, queued, steer, unsupported, ...wishes);
  };

export const steerAtRest: Cell<"steerArrived"> = unlessRefused(idleAnswer("idle"));

export const steerWhileIdle: Cell<"steerArrived"> = unlessRefused((state, ...event) => {
  const [queued, steer, , idleBehavior, expectedTurnId] = event;
  if (idleBehavior !== "startNewTurn" || expectedTurnId !== undefined) return steerAtRest(state, ...event);
  Object.assign(steer, { outcome: "startedNewTurn", fate: "settled" });
  answerBound(state, queued.asker, steer, queued.turnId);
  openTurn(state, queued, steer);
});

export const steerMeetsTurn: Cell<"steerArrived"> = unlessRefused((state, ...event) => {
  const [{ asker }, steer, , , expectedTurnId] = event;
  const { clientMessageId } = steer;
  const turnId = turnOf(state).id;
  const first = clientMessageId !== undefined && findSteer(state, asker.link, "clientMessageId", clientMessageId);
  if (first) return answerBound(state, asker, first, turnId);
  if (expectedTurnId !== undefined && expectedTurnId !== turnId) return idleAnswer("turnMismatch")(state, ...event);
  const error = bindSteer(state, steer);
  if (error) return respond(state, asker, { error });
  answerBound(state, asker, steer, turnId);
  injectNext(state);
});

export const revoke: Cell<"revokeArrived"> = (state, asker, messageId) => {
  const steer = findSteer(state, asker.link, "messageId", messageId);
  if (!steer) return respond(state, asker, { error: unknownMessage(messageId) });
  if (steer.fate === "injecting") {
    steer.revokers = [...steer.revokers, asker];
    return order(state, "abortInjection");
  }
  if (isPending(steer)) settle(state, [steer], "revoked");
  respond(state, asker, steer.reason ? { result: {} } : { error: alreadyDelivered(messageId) });
  injectNext(state);
};
