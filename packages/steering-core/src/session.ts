/**
 * The session machine. Everything that affects what a session does lives in this table: one row per phase, one cell per
 * event, the cells that answer a client in `arrivals.ts`, their moves in `steers.ts` and `turn.ts`. A missing cell does not compile.
 *
 * `step` changes a state by an event and says what is to be done. No clock, no promise, no connection.
 */
import {
  type Cell,
  idleAnswer,
  promptMeetsTurn,
  promptWaits,
  promptWhileIdle,
  revoke,
  steerAtRest,
  steerMeetsTurn,
  steerWhileIdle,
  unlessRefused,
} from "./arrivals.js";
import { agentStuck, requestCancelled, sessionNotFound } from "./errors.js";
import type { Asker, Effect, EventName, Events, Phase, Policy, QueuedPrompt, State } from "./state.js";
import {
  closeInjection,
  confirm,
  enter,
  giveInbox,
  injectingOf,
  injectNext,
  order,
  respond,
  sameAsker,
  takeReport,
  turnOf,
} from "./steers.js";
import {
  beginQueued,
  cancelQueue,
  cancelTurn,
  continueTurn,
  decide,
  endCancelled,
  endRun,
  loseAgent,
  noteLife,
  rest,
  sendCancel,
  unqueue,
} from "./turn.js";

/** What a phase does at each event; those that it ignores are named. */
type Row<Ignored extends EventName = never> = { readonly [Name in Exclude<EventName, Ignored>]: Cell<Name> };
/** What comes of a run that is open, and of the steers that it was given. */
type OfARun = "runAnswered" | "verdictArrived" | "reportArrived" | "takeCalled" | "holdChanged";
type Table = { readonly [Name in Phase]: Partial<Row> };

/** Verdicts count for the steer that is at the driver; what follows one depends on the phase. */
const verdictThen =
  (next: (state: State) => void): Cell<"verdictArrived"> =>
  (state, messageId, verdict) => {
    if (injectingOf(state)?.messageId !== messageId) return;
    closeInjection(state, verdict);
    next(state);
  };

const report: Cell<"reportArrived"> = (state, messageId, said) => {
  takeReport(state, messageId, said);
  injectNext(state);
};

// --- The agent --------------------------------------------------------------------------------------------------------

/** An answer counts for the run that is open; what follows it depends on the phase. */
const answerThen =
  (next: Cell<"runAnswered">): Cell<"runAnswered"> =>
  (state, run, outcome) => {
    if (state.run?.id === run) next(state, run, outcome);
  };

const runEnded = answerThen((state, _, outcome) => {
  endRun(state, outcome);
  if (injectingOf(state)) enter(state, "settling", state.policy.cancelGraceMs);
  else decide(state);
});

const cancelledRunEnded = answerThen((state, _, outcome) => {
  endRun(state, outcome);
  if (!injectingOf(state)) endCancelled(state);
});

const fencedRunEnded = answerThen((state) => {
  state.run = undefined;
  rest(state);
});

const changeHolds: Cell<"holdChanged"> = (state, by) => {
  const turn = turnOf(state);
  turn.holds = Math.max(0, turn.holds + by);
  injectNext(state);
};

const noteUnattended = (state: State): void => {
  state.unattended = true;
};

// --- Cancel, close, drop ----------------------------------------------------------------------------------------------

const cancelWhileIdle: Cell<"cancelArrived"> = (state, link) => {
  if (state.unattended) order(state, "sendCancel", link);
};

const cancelAll = (state: State): void => {
  cancelQueue(state);
  cancelTurn(state, "cancelled");
};

const withdrawQueued: Cell<"promptCancelled"> = (state, asker) =>
  unqueue(state, (queued) => sameAsker(queued.asker, asker), { error: requestCancelled });

const withdrawPrompt: Cell<"promptCancelled"> = (state, asker) =>
  sameAsker(turnOf(state).owner, asker) ? cancelTurn(state, "cancelled") : withdrawQueued(state, asker);

const close = (state: State): void => {
  state.closing += 1;
};

const closeBetweenRuns = (state: State): void => {
  close(state);
  decide(state);
};

/** After a close that failed the session lives on. */
const closed: Cell<"closeAnswered"> = (state, ok) => {
  if (!ok) {
    state.closing = Math.max(0, state.closing - 1);
    if (state.phase === "resting") rest(state);
    return injectNext(state);
  }
  state.run = undefined;
  if (state.turn) cancelTurn(state, "closed");
  if (state.turn) endCancelled(state);
  cancelQueue(state);
  enter(state, "closed");
  order(state, "forget");
};

const refuseClosed = (state: State, asker: Asker): void => respond(state, asker, { error: sessionNotFound() });

const refuseQueued = (state: State, { asker }: QueuedPrompt): void => refuseClosed(state, asker);

const dropWaiting: Cell<"linkLost"> = (state, link) => unqueue(state, ({ asker }) => asker.link === link);

const dropLink: Cell<"linkLost"> = (state, link) => {
  dropWaiting(state, link);
  if (turnOf(state).link === link) cancelTurn(state, "closed");
};

// --- Timers -----------------------------------------------------------------------------------------------------------

const verdictOverdue = (state: State): void => {
  closeInjection(state, "accepted");
  decide(state);
};

const timerWhileStopping: Cell<"timerFired"> = (state, timer) => {
  const { run } = state;
  if (timer === "sendCancel") sendCancel(state);
  if (timer === "sendCancelRequest" && run) order(state, "sendCancelRequest", run);
  if (timer === "cancelling") endCancelled(state);
  unqueue(state, ({ turnId }) => turnId === timer, { error: agentStuck });
};

// --- The table --------------------------------------------------------------------------------------------------------

const always = { revokeArrived: revoke, closeArrived: close, closeAnswered: closed, agentLost: loseAgent };

/** No turn that a message could join. */
const waiting = {
  ...always,
  promptArrived: promptWaits,
  cancelArrived: cancelQueue,
  promptCancelled: withdrawQueued,
  linkLost: dropWaiting,
};

const joining = {
  ...always,
  promptArrived: promptMeetsTurn,
  steerArrived: steerMeetsTurn,
  cancelArrived: cancelAll,
  promptCancelled: withdrawPrompt,
  linkLost: dropLink,
};

const stopping = {
  ...waiting,
  steerArrived: unlessRefused(idleAnswer("cancelling")),
  timerFired: timerWhileStopping,
};

const TABLE: Table = {
  idle: {
    ...always,
    promptArrived: promptWhileIdle,
    steerArrived: steerWhileIdle,
    cancelArrived: cancelWhileIdle,
    agentActed: noteUnattended,
  } satisfies Row<"promptCancelled" | "linkLost" | "timerFired" | OfARun>,
  resting: {
    ...waiting,
    steerArrived: steerAtRest,
    agentActed: noteUnattended,
    timerFired: beginQueued,
  } satisfies Row<OfARun>,
  running: {
    ...joining,
    runAnswered: runEnded,
    verdictArrived: verdictThen(injectNext),
    reportArrived: report,
    takeCalled: giveInbox,
    agentActed: confirm,
    holdChanged: changeHolds,
    timerFired: sendCancel,
  } satisfies Row,
  settling: {
    ...joining,
    verdictArrived: verdictThen(decide),
    reportArrived: report,
    timerFired: verdictOverdue,
  } satisfies Row<"runAnswered" | "takeCalled" | "agentActed" | "holdChanged">,
  pausing: {
    ...joining,
    timerFired: continueTurn,
    closeArrived: closeBetweenRuns,
  } satisfies Row<"agentActed" | OfARun>,
  cancelling: {
    ...stopping,
    runAnswered: cancelledRunEnded,
    verdictArrived: verdictThen((state) => {
      if (!state.run) endCancelled(state);
    }),
    reportArrived: report,
    agentActed: (state) => {
      noteLife(state);
      confirm(state);
    },
  } satisfies Row<"takeCalled" | "holdChanged">,
  fenced: {
    ...stopping,
    runAnswered: fencedRunEnded,
    agentActed: noteLife,
  } satisfies Row<Exclude<OfARun, "runAnswered">>,
  closed: {
    promptArrived: refuseQueued,
    steerArrived: refuseQueued,
    revokeArrived: refuseClosed,
  } satisfies Row<Exclude<EventName, "promptArrived" | "steerArrived" | "revokeArrived">>,
};

/** How a session begins. */
export const idleState = (policy: Policy): State => ({
  policy,
  phase: "idle",
  queue: [],
  closing: 0,
  unattended: false,
  past: [],
  effects: [],
});

/**
 * One event: changes the state, and says what is to be done, in order.
 *
 * @example
 * const effects = step(state, "promptArrived", { asker, turnId: "t1", params, prompt }, steer, undefined, undefined);
 * // state.phase === "running"; effects: the turnStarted receipt, then startRun
 */
export const step = <Name extends EventName>(state: State, name: Name, ...event: Events[Name]): readonly Effect[] => {
  TABLE[state.phase][name]?.(state, ...event);
  // A new list each time: one that is emptied keeps its room, in every idle session.
  const { effects } = state;
  state.effects = [];
  return effects;
};
