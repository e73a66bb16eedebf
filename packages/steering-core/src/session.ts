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
import { agentStuck, requestCancelled, sessionClosed } from "./errors.js";
import type { Asker, Effect, EventName, Events, Phase, Policy, State } from "./state.js";
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

type Row = { readonly [Name in EventName]: Cell<Name> };
type Table = { readonly [Name in Phase]: Row };

const nothing = (): void => {};

/** Verdicts count for the steer that is at the driver; what follows one depends on the phase. */
const verdictThen =
  (next: (state: State) => void): Cell<"verdictArrived"> =>
  (state, { messageId, verdict }) => {
    if (injectingOf(state)?.messageId !== messageId) return;
    closeInjection(state, verdict);
    next(state);
  };

const report: Cell<"reportArrived"> = (state, { messageId, report: said }) => {
  takeReport(state, messageId, said);
  injectNext(state);
};

// --- The agent --------------------------------------------------------------------------------------------------------

/** An answer counts for the run that is open; what follows it depends on the phase. */
const answerThen =
  (next: Cell<"runAnswered">): Cell<"runAnswered"> =>
  (state, event) => {
    if (state.run?.id === event.run) next(state, event);
  };

const runEnded = answerThen((state, { outcome }) => {
  endRun(state, outcome);
  if (injectingOf(state)) enter(state, "settling", state.policy.cancelGraceMs);
  else decide(state);
});

const cancelledRunEnded = answerThen((state, { outcome }) => {
  endRun(state, outcome);
  if (!injectingOf(state)) endCancelled(state);
});

const fencedRunEnded = answerThen((state) => {
  state.run = undefined;
  rest(state);
});

const changeHolds: Cell<"holdChanged"> = (state, { by }) => {
  const turn = turnOf(state);
  turn.holds = Math.max(0, turn.holds + by);
  injectNext(state);
};

const noteUnattended = (state: State): void => {
  state.unattended = true;
};

// --- Cancel, close, drop ----------------------------------------------------------------------------------------------

const cancelWhileIdle: Cell<"cancelArrived"> = (state, { link }) => {
  if (state.unattended) order(state, "sendCancel", link);
};

const cancelAll = (state: State): void => {
  cancelQueue(state);
  cancelTurn(state, "cancelled");
};

const withdrawQueued: Cell<"promptCancelled"> = (state, { asker }) =>
  unqueue(state, (queued) => sameAsker(queued.asker, asker), { error: requestCancelled });

const withdrawPrompt: Cell<"promptCancelled"> = (state, event) =>
  sameAsker(turnOf(state).owner, event.asker) ? cancelTurn(state, "cancelled") : withdrawQueued(state, event);

const close = (state: State): void => {
  state.closing += 1;
};

const closeBetweenRuns = (state: State): void => {
  close(state);
  decide(state);
};

/** After a close that failed the session lives on. */
const closed: Cell<"closeAnswered"> = (state, { ok }) => {
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

const refuseClosed = (state: State, { asker }: { readonly asker: Asker }): void =>
  respond(state, asker, { error: sessionClosed });

const dropWaiting: Cell<"linkLost"> = (state, { link }) => unqueue(state, ({ asker }) => asker.link === link);

const dropLink: Cell<"linkLost"> = (state, event) => {
  dropWaiting(state, event);
  if (turnOf(state).link === event.link) cancelTurn(state, "closed");
};

const loseLink: Cell<"agentLost"> = (state, { link }) => loseAgent(state, link);

// --- Timers -----------------------------------------------------------------------------------------------------------

const verdictOverdue = (state: State): void => {
  closeInjection(state, "accepted");
  decide(state);
};

const timerWhileStopping: Cell<"timerFired"> = (state, { timer }) => {
  const { run } = state;
  if (timer === "cancel") sendCancel(state);
  if (timer === "cancelRequest" && run) order(state, "sendCancelRequest", run);
  if (timer === "cancelling") endCancelled(state);
  unqueue(state, ({ turnId }) => turnId === timer, { error: agentStuck });
};

// --- The table --------------------------------------------------------------------------------------------------------

const idle: Row = {
  promptArrived: promptWhileIdle,
  steerArrived: steerWhileIdle,
  revokeArrived: revoke,
  cancelArrived: cancelWhileIdle,
  promptCancelled: nothing,
  runAnswered: nothing,
  verdictArrived: nothing,
  reportArrived: nothing,
  takeCalled: nothing,
  agentActed: noteUnattended,
  holdChanged: nothing,
  timerFired: nothing,
  closeArrived: close,
  closeAnswered: closed,
  linkLost: nothing,
  agentLost: loseLink,
};

const waiting = {
  promptArrived: promptWaits,
  cancelArrived: cancelQueue,
  promptCancelled: withdrawQueued,
  linkLost: dropWaiting,
};

const running: Row = {
  promptArrived: promptMeetsTurn,
  steerArrived: steerMeetsTurn,
  revokeArrived: revoke,
  cancelArrived: cancelAll,
  promptCancelled: withdrawPrompt,
  runAnswered: runEnded,
  verdictArrived: verdictThen(injectNext),
  reportArrived: report,
  takeCalled: giveInbox,
  agentActed: confirm,
  holdChanged: changeHolds,
  timerFired: sendCancel,
  closeArrived: close,
  closeAnswered: closed,
  linkLost: dropLink,
  agentLost: loseLink,
};

const betweenRuns: Row = { ...running, takeCalled: nothing, agentActed: nothing, holdChanged: nothing };

const stopping: Omit<Row, keyof typeof waiting> & typeof waiting = {
  ...betweenRuns,
  ...waiting,
  steerArrived: unlessRefused(idleAnswer("cancelling")),
  runAnswered: cancelledRunEnded,
  verdictArrived: verdictThen((state) => {
    if (!state.run) endCancelled(state);
  }),
  timerFired: timerWhileStopping,
};

const TABLE: Table = {
  idle,
  resting: { ...idle, ...waiting, steerArrived: steerAtRest, timerFired: beginQueued },
  running,
  settling: { ...betweenRuns, verdictArrived: verdictThen(decide), timerFired: verdictOverdue },
  pausing: { ...betweenRuns, timerFired: continueTurn, closeArrived: closeBetweenRuns },
  cancelling: {
    ...stopping,
    agentActed: (state) => {
      noteLife(state);
      confirm(state);
    },
  },
  fenced: {
    ...stopping,
    runAnswered: fencedRunEnded,
    verdictArrived: nothing,
    reportArrived: nothing,
    agentActed: noteLife,
  },
  closed: {
    ...idle,
    promptArrived: refuseClosed,
    steerArrived: refuseClosed,
    revokeArrived: refuseClosed,
    closeAnswered: nothing,
  },
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
 * const effects = step(state, "promptArrived", { asker, turnId: "t1", params, steer });
 * // state.phase === "running"; effects: the turnStarted receipt, then startRun
 */
export function step<Name extends EventName>(state: State, name: Name, event: Events[Name]): readonly Effect[] {
  TABLE[state.phase][name](state, event);
  // A new list each time: one that is emptied keeps its room, in every idle session.
  const { effects } = state;
  state.effects = [];
  return effects;
}
