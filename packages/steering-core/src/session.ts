/**
 * The session machine. Everything that affects what a session does lives in this table: one row per phase, one cell per
 * event, each cell made of the moves in `turn.ts`. A missing cell does not compile.
 *
 * Pure: `step` gets a state and an event and gives a state and what is to be done. No clock, no promise, no connection.
 */
import { alreadyDelivered, busy, noRunningTurn, requestCancelled, sessionClosed, unknownMessage } from "./errors.js";
import type { ContentBlock } from "./protocol.js";
import { STOP } from "./protocol.js";
import type { Asker, Effect, Event, EventName, Events, LedgerEntry, Phase, Policy, QueuedPrompt, State } from "./state.js";
import {
  answer,
  answerSteer,
  beginQueued,
  bindSteer,
  cancelQueue,
  cancelTurn,
  closeInjection,
  confirm,
  continueTurn,
  type Draft,
  decide,
  emit,
  endCancelled,
  endRun,
  enqueue,
  enter,
  findSteer,
  giveInbox,
  handBackPending,
  injectNext,
  noteLife,
  openQueued,
  openTurn,
  promptRequired,
  refuse,
  refuseStuck,
  rest,
  revoke,
  sameAsker,
  sendCancel,
  sendCancelAgain,
  set,
  setTurn,
  takeBackContinuation,
  takeReport,
  turnOf,
  withGuidance,
} from "./turn.js";

export { IDLE } from "./turn.js";

type Cell<Name extends EventName> = (draft: Draft, event: Events[Name]) => void;
type Row = { readonly [Name in EventName]: Cell<Name> };
type Table = { readonly [Name in Phase]: Row };

const nothing = (): void => {};

// --- Prompts ----------------------------------------------------------------------------------------------------------

const USAGE = { steer: "Usage: /steer <guidance for the running turn>", queue: "Usage: /queue <prompt for the next turn>" };
const STEERED = "Steering the running turn.";

const textPrompt = (text: string): readonly ContentBlock[] => [{ type: "text", text }];

function say(draft: Draft, { asker }: Events["promptArrived"], text: string): void {
  emit(draft, { type: "say", link: asker.link, text });
  answer(draft, asker, { stopReason: STOP.endTurn });
}

const queuedFrom = ({ asker, turnId, params, steer }: Events["promptArrived"], prompt = steer.prompt): QueuedPrompt => ({
  asker,
  turnId,
  prompt,
  params: prompt === steer.prompt ? params : { ...params, prompt },
});

/** The prompt that a `/steer` or `/queue` means where there is no turn to join. */
const idlePrompt = ({ interrupted }: State, { command, steer }: Events["promptArrived"]): readonly ContentBlock[] => {
  if (!command) return steer.prompt;
  return command.name === "steer" && interrupted ? withGuidance(interrupted, command.text) : textPrompt(command.text);
};

const lacksArgument: (event: Events["promptArrived"]) => keyof typeof USAGE | undefined = ({ command }) =>
  command?.text === "" ? command.name : undefined;

const promptAtRest: Cell<"promptArrived"> = (draft, event) => {
  const usage = lacksArgument(event);
  if (usage) return say(draft, event, USAGE[usage]);
  openQueued(draft, queuedFrom(event, idlePrompt(draft.state, event)));
};

const promptWaits: Cell<"promptArrived"> = (draft, event) => {
  const usage = lacksArgument(event);
  if (usage) return say(draft, event, USAGE[usage]);
  enqueue(draft, queuedFrom(event, idlePrompt(draft.state, event)));
  if (event.command?.name === "queue")
    emit(draft, { type: "say", link: event.asker.link, text: `Queued for the next turn. (${draft.state.queue.length} queued)` });
};

const promptMeetsTurn: Cell<"promptArrived"> = (draft, event) => {
  const usage = lacksArgument(event);
  if (usage) return say(draft, event, USAGE[usage]);
  const { command, asker, steer } = event;
  if (command?.name === "queue" || draft.state.closing) return promptWaits(draft, event);
  if (!command && draft.policy.whenBusy === "queue") return promptWaits(draft, event);
  if (!command && draft.policy.whenBusy === "reject") return refuse(draft, asker, busy);
  const full = bindSteer(draft, command ? { ...steer, prompt: textPrompt(command.text), injectable: true } : steer, asker.link);
  if (full) return refuse(draft, asker, full);
  if (command) say(draft, event, STEERED);
  else setTurn(draft, { joined: [...turnOf(draft).joined, asker] });
  injectNext(draft);
};

const beginWaiting: Cell<"timerFired"> = (draft) => beginQueued(draft);

// --- Steers -----------------------------------------------------------------------------------------------------------

const steerAtRest: Cell<"steerArrived"> = (draft, { asker, turnId, steer, idleBehavior, expectedTurnId }) => {
  if (draft.state.closing) return refuse(draft, asker, sessionClosed);
  if (idleBehavior === "reject") return refuse(draft, asker, noRunningTurn);
  const startable = draft.state.phase === "idle" && expectedTurnId === undefined;
  if (idleBehavior !== "startNewTurn" || !startable) return promptRequired(draft, asker, steer, "idle");
  const { messageId, clientMessageId, prompt } = steer;
  answerSteer(draft, asker, "startedNewTurn", { messageId, clientMessageId, turnId });
  openTurn(draft, { id: turnId, link: asker.link, owner: undefined, prompt, params: { prompt } });
  setTurn(draft, { ledger: [{ messageId, clientMessageId, link: asker.link, outcome: "startedNewTurn", fate: "delivered" }] });
};

const steerWhileCancelling: Cell<"steerArrived"> = (draft, { asker, steer, idleBehavior }) => {
  if (draft.state.closing) return refuse(draft, asker, sessionClosed);
  if (idleBehavior === "reject") return refuse(draft, asker, noRunningTurn);
  promptRequired(draft, asker, steer, "cancelling");
};

const steerMeetsTurn: Cell<"steerArrived"> = (draft, { asker, steer, idleBehavior, expectedTurnId }) => {
  const { id: turnId, ledger } = turnOf(draft);
  const { messageId, clientMessageId } = steer;
  const isRepeat = (entry: LedgerEntry): boolean => entry.clientMessageId === clientMessageId && entry.link === asker.link;
  const first = clientMessageId === undefined ? undefined : ledger.find(isRepeat);
  if (first) return answerSteer(draft, asker, first.outcome, { messageId: first.messageId, clientMessageId, turnId });
  if (draft.state.closing) return refuse(draft, asker, sessionClosed);
  if (expectedTurnId !== undefined && expectedTurnId !== turnId)
    return idleBehavior === "reject" ? refuse(draft, asker, noRunningTurn) : promptRequired(draft, asker, steer, "turnMismatch");
  const full = bindSteer(draft, steer, asker.link);
  if (full) return refuse(draft, asker, full);
  answerSteer(draft, asker, "injected", { messageId, clientMessageId, turnId });
  injectNext(draft);
};

const revokeFrom = (draft: Draft, { asker, messageId }: Events["revokeArrived"], ledger: readonly LedgerEntry[]): void => {
  const entry = ledger.find((known) => known.messageId === messageId && known.link === asker.link);
  if (!entry) return refuse(draft, asker, unknownMessage(messageId));
  if (entry.fate === "delivered" || entry.fate === "handedOver") return refuse(draft, asker, alreadyDelivered(messageId));
  answer(draft, asker, {});
};

const revokePast: Cell<"revokeArrived"> = (draft, event) => revokeFrom(draft, event, draft.state.past);

const revokeInTurn: Cell<"revokeArrived"> = (draft, event) => {
  const { pending, injection, ledger } = turnOf(draft);
  const { asker, messageId } = event;
  const steer = findSteer(pending, messageId);
  if (steer?.link === asker.link) {
    revoke(draft, asker, steer);
    return injectNext(draft);
  }
  if (injection?.steer.messageId !== messageId || injection.steer.link !== asker.link) return revokeFrom(draft, event, ledger);
  setTurn(draft, { injection: { ...injection, revokers: [...injection.revokers, asker] } });
  emit(draft, { type: "abortInjection" });
};

const noInbox: Cell<"takeCalled"> = (draft) => emit(draft, { type: "give", steers: [] });

const verdictWhileRunning: Cell<"verdictArrived"> = (draft, { messageId, verdict }) => {
  if (turnOf(draft).injection?.steer.messageId !== messageId) return;
  closeInjection(draft, verdict);
  injectNext(draft);
};

const verdictWhileSettling: Cell<"verdictArrived"> = (draft, { messageId, verdict }) => {
  if (turnOf(draft).injection?.steer.messageId !== messageId) return;
  closeInjection(draft, verdict);
  decide(draft);
};

const verdictWhileCancelling: Cell<"verdictArrived"> = (draft, { messageId, verdict }) => {
  if (turnOf(draft).injection?.steer.messageId !== messageId) return;
  closeInjection(draft, verdict);
  if (!draft.state.run) endCancelled(draft);
};

const report: Cell<"reportArrived"> = (draft, { messageId, report: said }) => {
  takeReport(draft, messageId, said);
  injectNext(draft);
};

// --- The agent --------------------------------------------------------------------------------------------------------

const runEnded: Cell<"runAnswered"> = (draft, { run, outcome }) => {
  if (draft.state.run?.id !== run) return;
  endRun(draft, outcome);
  if (!takeBackContinuation(draft, outcome)) setTurn(draft, { outcome, refusals: 0 });
  if (!turnOf(draft).injection) return decide(draft);
  enter(draft, "settling");
  emit(draft, { type: "arm", timer: "verdict", ms: draft.policy.cancelGraceMs });
};

const cancelledRunEnded: Cell<"runAnswered"> = (draft, { run, outcome }) => {
  if (draft.state.run?.id !== run) return;
  endRun(draft, outcome);
  if (takeBackContinuation(draft, outcome)) handBackPending(draft, turnOf(draft).cancelReason);
  else setTurn(draft, { outcome });
  if (!turnOf(draft).injection) endCancelled(draft);
};

const fencedRunEnded: Cell<"runAnswered"> = (draft, { run }) => {
  if (draft.state.run?.id !== run) return;
  set(draft, { run: undefined });
  rest(draft);
};

const noteUnattended = (draft: Draft): void => set(draft, { unattended: true });

const openHold = (draft: Draft): void => setTurn(draft, { holds: turnOf(draft).holds + 1 });

const closeHold = (draft: Draft): void => {
  setTurn(draft, { holds: Math.max(0, turnOf(draft).holds - 1) });
  injectNext(draft);
};

// --- Cancel, close, drop ----------------------------------------------------------------------------------------------

const cancelAtRest: Cell<"cancelArrived"> = (draft, { link }) => {
  if (draft.state.unattended) emit(draft, { type: "sendCancel", link });
};

const cancelWaiting: Cell<"cancelArrived"> = (draft) => {
  cancelQueue(draft);
  if (draft.state.phase === "resting") enter(draft, "idle");
};

const cancelAll: Cell<"cancelArrived"> = (draft) => {
  cancelQueue(draft);
  cancelTurn(draft, "cancelled");
};

const withdrawQueued: Cell<"promptCancelled"> = (draft, { asker }) => {
  const { queue, phase } = draft.state;
  const kept = queue.filter((queued) => !sameAsker(queued.asker, asker));
  if (kept.length === queue.length) return;
  set(draft, { queue: kept });
  refuse(draft, asker, requestCancelled);
  if (phase === "resting" && kept.length === 0) enter(draft, "idle");
};

const withdrawPrompt: Cell<"promptCancelled"> = (draft, event) =>
  sameAsker(turnOf(draft).owner, event.asker) ? cancelTurn(draft, "cancelled") : withdrawQueued(draft, event);

const close = (draft: Draft): void => set(draft, { closing: true });

const closeBetweenRuns = (draft: Draft): void => {
  close(draft);
  handBackPending(draft, "closed");
  decide(draft);
};

const closeWhileResting = (draft: Draft): void => {
  close(draft);
  enter(draft, "idle");
};

/** After a close that failed the session lives on. */
const reopen = (draft: Draft): void => {
  set(draft, { closing: false });
  if (draft.state.phase === "idle") rest(draft);
  if (draft.state.turn) injectNext(draft);
};

const forget = (draft: Draft): void => {
  cancelQueue(draft);
  enter(draft, "closed");
  emit(draft, { type: "forget" });
};

const closed: Cell<"closeAnswered"> = (draft, { ok }) => (ok ? forget(draft) : reopen(draft));

const closedWithTurn: Cell<"closeAnswered"> = (draft, { ok }) => {
  if (!ok) return reopen(draft);
  const { holds } = turnOf(draft);
  if (holds > 0) emit(draft, { type: "releaseHolds" });
  set(draft, { run: undefined });
  setTurn(draft, { cancelReason: "closed" });
  endCancelled(draft);
  forget(draft);
};

const refuseClosed = (draft: Draft, { asker }: { readonly asker: Asker }): void => refuse(draft, asker, sessionClosed);

const dropWaiting: Cell<"linkLost"> = (draft, { link }) => {
  const queue = draft.state.queue.filter((queued) => queued.asker.link !== link);
  set(draft, { queue });
  if (draft.state.phase === "resting" && queue.length === 0) enter(draft, "idle");
};

const dropLink: Cell<"linkLost"> = (draft, event) => {
  dropWaiting(draft, event);
  if (turnOf(draft).link === event.link) cancelTurn(draft, "closed");
};

// --- Timers -----------------------------------------------------------------------------------------------------------

const timerWhileRunning: Cell<"timerFired"> = (draft, { timer }) => {
  if (timer === "cancel") sendCancel(draft);
};

const verdictOverdue: Cell<"timerFired"> = (draft) => {
  closeInjection(draft, "accepted");
  decide(draft);
};

const timerWhileCancelling: Cell<"timerFired"> = (draft, { timer }) => {
  const { run } = draft.state;
  if (timer === "cancel") sendCancel(draft);
  if (timer === "cancelAgain") sendCancelAgain(draft);
  if (timer === "cancelRequest" && run) emit(draft, { type: "sendCancelRequest", run: run.id, link: run.link });
  if (timer === "grace") endCancelled(draft);
};

const timerWhileFenced: Cell<"timerFired"> = (draft, { timer, turnId }) => {
  if (timer === "cancelAgain") sendCancelAgain(draft);
  if (timer === "stuck") refuseStuck(draft, turnId);
};

// --- The table --------------------------------------------------------------------------------------------------------

const idle: Row = {
  promptArrived: promptAtRest,
  steerArrived: steerAtRest,
  revokeArrived: revokePast,
  cancelArrived: cancelAtRest,
  promptCancelled: nothing,
  runAnswered: nothing,
  verdictArrived: nothing,
  reportArrived: nothing,
  takeCalled: noInbox,
  agentActed: noteUnattended,
  holdOpened: nothing,
  holdClosed: nothing,
  timerFired: nothing,
  closeArrived: close,
  closeAnswered: closed,
  linkLost: nothing,
};

const running: Row = {
  promptArrived: promptMeetsTurn,
  steerArrived: steerMeetsTurn,
  revokeArrived: revokeInTurn,
  cancelArrived: cancelAll,
  promptCancelled: withdrawPrompt,
  runAnswered: runEnded,
  verdictArrived: verdictWhileRunning,
  reportArrived: report,
  takeCalled: giveInbox,
  agentActed: confirm,
  holdOpened: openHold,
  holdClosed: closeHold,
  timerFired: timerWhileRunning,
  closeArrived: close,
  closeAnswered: closedWithTurn,
  linkLost: dropLink,
};

const betweenRuns: Row = {
  ...running,
  runAnswered: nothing,
  takeCalled: noInbox,
  agentActed: nothing,
  holdOpened: nothing,
  holdClosed: nothing,
  closeArrived: closeBetweenRuns,
};

export const TABLE: Table = {
  idle,
  resting: { ...idle, promptArrived: promptWaits, cancelArrived: cancelWaiting, promptCancelled: withdrawQueued, timerFired: beginWaiting, closeArrived: closeWhileResting, linkLost: dropWaiting },
  running,
  settling: { ...betweenRuns, verdictArrived: verdictWhileSettling, timerFired: verdictOverdue, closeArrived: close },
  pausing: { ...betweenRuns, verdictArrived: nothing, reportArrived: nothing, timerFired: continueTurn },
  cancelling: {
    ...running,
    promptArrived: promptWaits,
    steerArrived: steerWhileCancelling,
    cancelArrived: cancelWaiting,
    promptCancelled: withdrawQueued,
    runAnswered: cancelledRunEnded,
    verdictArrived: verdictWhileCancelling,
    takeCalled: noInbox,
    agentActed: (draft) => {
      noteLife(draft);
      confirm(draft);
    },
    holdOpened: nothing,
    holdClosed: nothing,
    timerFired: timerWhileCancelling,
    linkLost: dropWaiting,
  },
  fenced: {
    ...idle,
    promptArrived: promptWaits,
    steerArrived: steerWhileCancelling,
    cancelArrived: cancelWaiting,
    promptCancelled: withdrawQueued,
    runAnswered: fencedRunEnded,
    agentActed: noteLife,
    timerFired: timerWhileFenced,
    linkLost: dropWaiting,
  },
  closed: {
    ...idle,
    promptArrived: refuseClosed,
    steerArrived: refuseClosed,
    revokeArrived: refuseClosed,
    cancelArrived: nothing,
    agentActed: nothing,
    closeArrived: nothing,
    closeAnswered: nothing,
  },
};

/**
 * One event in one state: the next state, and what is to be done, in order.
 *
 * @example
 * const [running, effects] = step(IDLE, { type: "promptArrived", asker, turnId: "t1", params, steer }, policy);
 * // effects: turnStarted receipt, disarm, startRun
 */
export function step(state: State, event: Event, policy: Policy): readonly [State, readonly Effect[]] {
  const draft: Draft = { state, policy, effects: [] };
  (TABLE[state.phase][event.type] as (draft: Draft, event: Event) => void)(draft, event);
  return [draft.state, draft.effects];
}

/** Whether the next sign of the agent (an update, a request) changes anything: the only events on the hot path. */
export function awaitsAgent({ phase, unattended, turn, run }: State): boolean {
  if (turn && (turn.unconfirmed.length > 0 || turn.continuation.length > 0)) return true;
  if (phase === "cancelling" || phase === "fenced") return run !== undefined && !run.lively;
  return (phase === "idle" || phase === "resting") && !unattended;
}
