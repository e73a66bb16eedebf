/**
 * The session machine. Everything that affects what a session does lives in this table: one row per phase, one cell per
 * event, the cells that answer a client in `arrivals.ts`, their moves in `steers.ts` and `turn.ts`. A missing cell does not compile.
 *
 * Pure: `step` gets a state and an event and gives a state and what is to be done. No clock, no promise, no connection.
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
import { requestCancelled, sessionClosed } from "./errors.js";
import type { Asker, Effect, Event, EventName, Phase, Policy, State } from "./state.js";
import {
  closeInjection,
  confirm,
  type Draft,
  enter,
  giveInbox,
  injectingOf,
  injectNext,
  order,
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
  refuseStuck,
  rest,
  sendCancel,
  sendCancelAgain,
  unqueue,
} from "./turn.js";

export { IDLE } from "./turn.js";

type Row = { readonly [Name in EventName]: Cell<Name> };
type Table = { readonly [Name in Phase]: Row };

const nothing = (): void => {};

const noInbox: Cell<"takeCalled"> = (draft) => order(draft, "give", []);

/** Verdicts count for the steer that is at the driver; what follows one depends on the phase. */
const verdictThen =
  (next: (draft: Draft) => void): Cell<"verdictArrived"> =>
  (draft, { messageId, verdict }) => {
    if (injectingOf(draft)?.messageId !== messageId) return;
    closeInjection(draft, verdict);
    next(draft);
  };

const report: Cell<"reportArrived"> = (draft, { messageId, report: said }) => {
  takeReport(draft, messageId, said);
  injectNext(draft);
};

// --- The agent --------------------------------------------------------------------------------------------------------

/** An answer counts for the run that is open; what follows it depends on the phase. */
const answerThen =
  (next: Cell<"runAnswered">): Cell<"runAnswered"> =>
  (draft, event) => {
    if (draft.run?.id === event.run) next(draft, event);
  };

const runEnded = answerThen((draft, { outcome }) => {
  endRun(draft, outcome);
  if (!injectingOf(draft)) return decide(draft);
  enter(draft, "settling");
  order(draft, "arm", "verdict", draft.policy.cancelGraceMs);
});

const cancelledRunEnded = answerThen((draft, { outcome }) => {
  endRun(draft, outcome);
  if (!injectingOf(draft)) endCancelled(draft);
});

const fencedRunEnded = answerThen((draft) => {
  draft.run = undefined;
  rest(draft);
});

const changeHolds: Cell<"holdChanged"> = (draft, { by }) => {
  const turn = turnOf(draft);
  turn.holds = Math.max(0, turn.holds + by);
  injectNext(draft);
};

const noteUnattended = (draft: Draft): void => {
  draft.unattended = true;
};

// --- Cancel, close, drop ----------------------------------------------------------------------------------------------

const cancelWhileIdle: Cell<"cancelArrived"> = (draft, { link }) => {
  if (draft.unattended) order(draft, "sendCancel", link);
};

const cancelAll = (draft: Draft): void => {
  cancelQueue(draft);
  cancelTurn(draft, "cancelled");
};

const withdrawQueued: Cell<"promptCancelled"> = (draft, { asker }) => {
  for (const queued of unqueue(draft, (waiting) => sameAsker(waiting.asker, asker)))
    order(draft, "refuse", queued.asker, requestCancelled);
};

const withdrawPrompt: Cell<"promptCancelled"> = (draft, event) =>
  sameAsker(turnOf(draft).owner, event.asker) ? cancelTurn(draft, "cancelled") : withdrawQueued(draft, event);

const close = (draft: Draft): void => {
  draft.closing += 1;
};

const closeBetweenRuns = (draft: Draft): void => {
  close(draft);
  decide(draft);
};

/** After a close that failed the session lives on. */
const closed: Cell<"closeAnswered"> = (draft, { ok }) => {
  if (!ok) {
    draft.closing = Math.max(0, draft.closing - 1);
    if (draft.phase === "resting") rest(draft);
    return injectNext(draft);
  }
  draft.run = undefined;
  if (draft.turn) {
    cancelTurn(draft, "closed");
    if (draft.turn) endCancelled(draft);
  }
  cancelQueue(draft);
  enter(draft, "closed");
  order(draft, "forget");
};

const refuseClosed = (draft: Draft, { asker }: { readonly asker: Asker }): void =>
  order(draft, "refuse", asker, sessionClosed);

const dropWaiting: Cell<"linkLost"> = (draft, { link }) => {
  unqueue(draft, ({ asker }) => asker.link === link);
};

const dropLink: Cell<"linkLost"> = (draft, event) => {
  dropWaiting(draft, event);
  if (turnOf(draft).link === event.link) cancelTurn(draft, "closed");
};

const loseLink: Cell<"agentLost"> = (draft, { link }) => loseAgent(draft, link);

// --- Timers -----------------------------------------------------------------------------------------------------------

const verdictOverdue = (draft: Draft): void => {
  closeInjection(draft, "accepted");
  decide(draft);
};

const timerWhileCancelling: Cell<"timerFired"> = (draft, { timer, turnId }) => {
  const { run } = draft;
  if (timer === "cancel") sendCancel(draft);
  if (timer === "cancelAgain") sendCancelAgain(draft);
  if (timer === "cancelRequest" && run) order(draft, "sendCancelRequest", run.link);
  if (timer === "grace") endCancelled(draft);
  if (timer === "stuck") refuseStuck(draft, turnId);
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
  takeCalled: noInbox,
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

const betweenRuns: Row = { ...running, takeCalled: noInbox, agentActed: nothing, holdChanged: nothing };

const stopping: Omit<Row, keyof typeof waiting> & typeof waiting = {
  ...betweenRuns,
  ...waiting,
  steerArrived: unlessRefused(idleAnswer("cancelling")),
  runAnswered: cancelledRunEnded,
  verdictArrived: verdictThen((draft) => {
    if (!draft.run) endCancelled(draft);
  }),
  timerFired: timerWhileCancelling,
};

const TABLE: Table = {
  idle,
  resting: { ...idle, ...waiting, steerArrived: steerAtRest, timerFired: beginQueued },
  running,
  settling: { ...betweenRuns, verdictArrived: verdictThen(decide), timerFired: verdictOverdue },
  pausing: { ...betweenRuns, timerFired: continueTurn, closeArrived: closeBetweenRuns },
  cancelling: {
    ...stopping,
    agentActed: (draft) => {
      noteLife(draft);
      confirm(draft);
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

/**
 * One event in one state: the next state, and what is to be done, in order.
 *
 * @example
 * const [next, effects] = step(IDLE, { type: "promptArrived", asker, turnId: "t1", params, steer }, policy);
 * // next.phase === "running"; effects: the turnStarted receipt, then startRun
 */
export function step(state: State, event: Event, policy: Policy): readonly [State, readonly Effect[]] {
  const { turn } = state;
  // Member by member: a spread that adds members costs ten times as much, and every steer comes through here.
  const draft: Draft = {
    phase: state.phase,
    turn: turn && { ...turn },
    run: state.run,
    queue: state.queue,
    interrupted: state.interrupted,
    closing: state.closing,
    unattended: state.unattended,
    past: state.past,
    policy,
    effects: [],
  };
  (TABLE[state.phase][event.type] as (draft: Draft, event: Event) => void)(draft, event);
  const { phase, run, queue, interrupted, closing, unattended, past } = draft;
  return [{ phase, turn: draft.turn, run, queue, interrupted, closing, unattended, past }, draft.effects];
}

/** Whether the next sign of the agent (an update, a request) changes anything: the only events on the hot path. */
export function awaitsAgent({ phase, unattended, turn, run }: State): boolean {
  if (turn?.active.some(({ fate }) => fate === "taken" || fate === "continued")) return true;
  if (phase === "cancelling" || phase === "fenced") return run !== undefined && !run.lively;
  return (phase === "idle" || phase === "resting") && !unattended;
}
