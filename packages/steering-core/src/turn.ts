/**
 * How a turn opens, goes on and ends: the moves of the session machine that concern a turn as a whole.
 */
import { agentGone } from "./errors.js";
import { isObject, startsWithSlash, stringAt, weightOf } from "./parse.js";
import { CODE, type ContentBlock, type JsonObject, META_KEY, STOP, type UndeliveredReason } from "./protocol.js";
import type { Asker, LinkRef, QueuedPrompt, RunOutcome, State, Steer, Told } from "./state.js";
import {
  closeInjection,
  enter,
  fall,
  handedOverOf,
  injectingOf,
  injectNext,
  order,
  pendingOf,
  respond,
  settle,
  steersAt,
  turnOf,
} from "./steers.js";

/** How often and when a continuation that the agent refused as too early is tried again. */
const RETRY_MS = [100, 500, 2_000] as const;
/** How long after a cancel it is repeated while the run still shows life. */
const CANCEL_AGAIN_MS = 250;
/** A cancelled prompt larger than this is not kept for `/steer`. */
const MAX_INTERRUPTED_BYTES = 1_048_576;
/** Past steers that a late revoke can still ask for. */
const MAX_PAST = 16;
const NOT_TAKEN: readonly number[] = [CODE.invalidRequest, CODE.invalidParams, CODE.authRequired, CODE.notFound];

/** A user's words, or the layer's, as blocks. */
export const textPrompt = (text: string): readonly ContentBlock[] => [{ type: "text", text }];

const SEPARATOR = textPrompt("\n\n");
const CANCELLED: RunOutcome = { result: { stopReason: STOP.cancelled } };

const startRun = (state: State, params: JsonObject, asker?: Asker): void => {
  const turn = turnOf(state);
  // Turn ids are random, so that our request ids can never be a client's.
  const id = `steering-${turn.id}/${turn.runsBegun}`;
  turn.runsBegun += 1;
  state.run = { id, link: turn.link, wireId: asker ? asker.id : id, lively: true };
  enter(state, "running");
  order(state, "startRun", state.run, params);
};

/** A turn begins, for the prompt that owns it or with the steer that it is begun by. */
export const openTurn = (state: State, { asker, turnId, params, prompt }: QueuedPrompt, steer?: Steer): void => {
  const owner = steer ? undefined : asker;
  state.turn = {
    id: turnId,
    link: asker.link,
    owner,
    joined: [],
    prompt,
    bound: [],
    settled: steer ? [steer] : [],
    refusals: 0,
    runsBegun: 0,
    report: { turnId, runs: [], undelivered: [] },
    holds: 0,
    cancelReason: "cancelled",
  };
  Object.assign(state, { interrupted: undefined, unattended: false, past: [] });
  order(state, "receipt", { turnId, state: "turnStarted" });
  startRun(state, params, owner);
};

const armStuck = (state: State, { turnId }: QueuedPrompt): void =>
  order(state, "arm", turnId, state.policy.cancelGraceMs);

export const enqueue = (state: State, queued: QueuedPrompt): void => {
  state.queue = [...state.queue, queued];
  if (state.phase === "fenced") armStuck(state, queued);
};

/**
 * No turn and no run is open: the next queued prompt begins a macrotask later, so that the agent has left the last one.
 * While the session is being closed it waits.
 */
export const rest = (state: State): void => {
  const waits = state.queue.length > 0;
  enter(state, waits ? "resting" : "idle", waits && !state.closing ? 0 : undefined);
};

export const beginQueued = (state: State): void => {
  const [next, ...later] = state.queue;
  if (!next || state.closing) return;
  state.queue = later;
  openTurn(state, next);
};

/** Takes prompts out of the queue and answers them; where nothing waits any more, nothing begins. */
export const unqueue = (state: State, gone: (queued: QueuedPrompt) => boolean, outcome?: RunOutcome): void => {
  const { queue } = state;
  state.queue = queue.filter((queued) => !gone(queued));
  if (state.phase === "resting" && state.queue.length === 0) enter(state, "idle");
  if (outcome) for (const { asker } of queue.filter(gone)) respond(state, asker, outcome);
};

export const cancelQueue = (state: State): void => unqueue(state, () => true, CANCELLED);

const stopReasonOf = ({ result }: RunOutcome): string | undefined => stringAt(result, "stopReason");

/** A run was answered. A continuation that the agent turned away before it did anything with it was not taken. */
export const endRun = (state: State, outcome: RunOutcome): void => {
  const turn = turnOf(state);
  const { error } = outcome;
  const stopReason = stopReasonOf(outcome);
  const continued = steersAt(state, "continued");
  state.run = undefined;
  releaseHolds(state);
  if (stopReason !== undefined) turn.report.runs.push({ stopReason });
  if (error && continued.length > 0 && NOT_TAKEN.includes(error.code)) {
    fall(state, continued);
    turn.refusal = error;
    turn.refusals += 1;
  } else Object.assign(turn, { outcome, refusals: 0 });
  if (injectingOf(state)) order(state, "abortInjection");
};

const releaseHolds = (state: State): void => {
  const turn = turnOf(state);
  if (turn.holds > 0) order(state, "releaseHolds");
  turn.holds = 0;
};

/** Everything the agent was given and nobody reported on counts as delivered, assumed (spec G2). */
const assumeRest = (state: State): void => settle(state, handedOverOf(state), undefined, true);

/** The run was answered and every verdict is in: spec §4, first table. */
export const decide = (state: State): void => {
  assumeRest(state);
  const turn = turnOf(state);
  const { refusal } = turn;
  const outcome = turn.outcome as RunOutcome;
  if (state.closing) return endTurn(state, CANCELLED, "closed");
  const retryMs = refusal?.code === CODE.invalidRequest ? RETRY_MS[turn.refusals - 1] : undefined;
  turn.refusal = undefined;
  if (retryMs) return enter(state, "pausing", retryMs);
  const failed = refusal || outcome.error;
  if (!failed && stopReasonOf(outcome) === STOP.refused) return endTurn(state, outcome, "refused");
  if (!failed && pendingOf(state).length > 0) return enter(state, "pausing", 0);
  endTurn(state, outcome, "agentFailed");
};

/** All that is left goes in one prompt; what an agent could read as a slash command goes alone. */
const nextBatch = (pending: readonly Steer[]): readonly Steer[] => {
  const slash = pending.findIndex((steer) => startsWithSlash(steer.prompt));
  return slash < 0 ? pending : pending.slice(0, slash || 1);
};

/** The next run of the turn, with what is left; the end of the turn where nothing is. */
export const continueTurn = (state: State): void => {
  const turn = turnOf(state);
  const pending = pendingOf(state);
  const batch = nextBatch(pending);
  if (batch.length === 0) return decide(state);
  const prompt = state.policy.interrupts ? withGuidance(turn.prompt, "") : [];
  for (const steer of batch) prompt.push(...(steer === batch[0] ? [] : SEPARATOR), ...steer.prompt);
  for (const steer of pending) steer.fate = batch.includes(steer) ? "continued" : "waiting";
  const messageIds = batch.map(({ messageId }) => messageId);
  startRun(state, { prompt, _meta: { [META_KEY]: { turnId: turn.id, continuation: true, messageIds } } });
  injectNext(state);
};

/** The outcome with the report of a turn that was steered (spec §2, owner's answer). */
const reported = (state: State, outcome: RunOutcome): RunOutcome => {
  const { report, settled } = turnOf(state);
  if (settled.length === 0) return outcome;
  const steering = { [META_KEY]: report };
  const { result, error } = outcome;
  if (!error) return { result: { ...result, _meta: { ...(result["_meta"] as JsonObject), ...steering } } };
  const data = isObject(error.data) || error.data === undefined ? error.data : { details: error.data };
  return { error: { ...error, data: { ...data, ...steering } } };
};

/** What is left is handed back, then the turn's end is told, then everybody who asked is answered (spec §2, order). */
const endTurn = (state: State, outcome: RunOutcome, leftovers: UndeliveredReason): void => {
  settle(state, pendingOf(state), leftovers);
  const { id: turnId, owner, joined, settled } = turnOf(state);
  const { error } = outcome;
  order(state, "receipt", { turnId, state: "turnEnded", error, stopReason: stopReasonOf(outcome) } as Told);
  const answer = reported(state, outcome);
  for (const asker of owner ? [owner, ...joined] : joined) respond(state, asker, answer);
  state.turn = undefined;
  state.past = settled.slice(-MAX_PAST);
  if (state.run) fence(state);
  else rest(state);
};

// --- Cancel -----------------------------------------------------------------------------------------------------------

/** Stops the open turn on behalf of a client. */
export const cancelTurn = (state: State, reason: "cancelled" | "closed"): void => {
  const turn = turnOf(state);
  const { run } = state;
  const { cancelGraceMs } = state.policy;
  turn.cancelReason = reason;
  if (reason === "cancelled" && weightOf(turn.prompt) <= MAX_INTERRUPTED_BYTES) state.interrupted = turn.prompt;
  releaseHolds(state);
  settle(state, pendingOf(state), reason);
  if (injectingOf(state)) order(state, "abortInjection");
  else if (!run) return endCancelled(state);
  enter(state, "cancelling", cancelGraceMs);
  if (!run) return;
  run.lively = true;
  order(state, "arm", "sendCancel", 0);
  order(state, "arm", "sendCancelRequest", cancelGraceMs / 2);
};

/** Tells a run that shows life to stop, and one that was cancelled again while it still does. */
export const sendCancel = (state: State): void => {
  const { run } = state;
  if (!run) return;
  if (run.lively) order(state, "sendCancel", run.link);
  run.lively = false;
  if (state.phase !== "running") order(state, "arm", "sendCancel", CANCEL_AGAIN_MS);
};

export const noteLife = (state: State): void => {
  if (state.run) state.run.lively = true;
};

/** Every verdict that is missing now counts as accepted. The answer is `cancelled` whatever the agent said. */
export const endCancelled = (state: State): void => {
  const { outcome, cancelReason } = turnOf(state);
  closeInjection(state, "accepted");
  assumeRest(state);
  endTurn(state, { result: { ...outcome?.result, stopReason: STOP.cancelled } }, cancelReason);
};

/** What a connection asked for in the turn of another gets no answer of that turn any more. */
const leaveTurn = (state: State, link: LinkRef): void => {
  const turn = turnOf(state);
  const staying = (askers: readonly Asker[]): readonly Asker[] =>
    askers.filter((asker) => asker.link !== link || respond(state, asker, { error: agentGone }));
  turn.joined = staying(turn.joined);
  for (const steer of turn.bound) steer.revokers = staying(steer.revokers);
};

/** The connection to the agent is gone, and with it what it owes. */
export const loseAgent = (state: State, link: LinkRef): void => {
  const { turn } = state;
  unqueue(state, ({ asker }) => asker.link === link, { error: agentGone });
  if (state.run?.link === link) state.run = undefined;
  if (turn && turn.link !== link) leaveTurn(state, link);
  else if (turn) {
    releaseHolds(state);
    Object.assign(turn, { outcome: { error: agentGone }, refusal: undefined });
    if (state.phase === "cancelling") return endCancelled(state);
    closeInjection(state, "accepted");
    decide(state);
  } else if (state.phase === "fenced" && !state.run) rest(state);
};

/** The owner has its answer, the old run is still open: nothing of it passes, prompts wait for it. */
const fence = (state: State): void => {
  enter(state, "fenced");
  order(state, "arm", "sendCancel", CANCEL_AGAIN_MS);
  for (const queued of state.queue) armStuck(state, queued);
};

/** An interrupted prompt and what the user says to it now (spec §7). */
export const withGuidance = (prompt: readonly ContentBlock[], text: string): ContentBlock[] => [
  ...prompt,
  ...textPrompt(`\n\nUser correction/guidance after interrupt: ${text}`),
];
