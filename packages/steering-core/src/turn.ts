/**
 * How a turn opens, goes on and ends: the moves of the session machine that concern a turn as a whole.
 */
import { agentGone, agentStuck } from "./errors.js";
import { isObject, measure, startsWithSlash, stringAt } from "./parse.js";
import { CODE, type ContentBlock, type JsonObject, META_KEY, STOP, type UndeliveredReason } from "./protocol.js";
import type { Asker, Done, QueuedPrompt, Run, RunOutcome, State, Turn } from "./state.js";
import {
  closeInjection,
  type Draft,
  deliver,
  enter,
  fall,
  handBack,
  handOver,
  injectingOf,
  injectNext,
  order,
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
const SEPARATOR: ContentBlock = { type: "text", text: "\n\n" };

export const IDLE: State = Object.freeze({
  phase: "idle",
  turn: undefined,
  run: undefined,
  queue: [],
  interrupted: undefined,
  closing: 0,
  unattended: false,
  past: undefined,
});

type Opening = Pick<Turn, "id" | "link" | "owner" | "prompt"> & Partial<Pick<Turn, "done">>;

function startRun(draft: Draft, params: JsonObject, asker?: Asker): void {
  const turn = turnOf(draft);
  const run: Run = { id: `${turn.id}/${turn.runsBegun}`, link: turn.link, lively: false };
  turn.runsBegun += 1;
  draft.run = run;
  enter(draft, "running");
  order(draft, "startRun", run.id, run.link, asker, params);
}

export function openTurn(draft: Draft, opening: Opening, params: JsonObject): void {
  draft.turn = {
    joined: [],
    bound: 0,
    pending: [],
    pendingBytes: 0,
    active: [],
    done: undefined,
    report: undefined,
    revokers: [],
    refusals: 0,
    refusal: undefined,
    runsBegun: 0,
    stopReasons: [],
    undelivered: [],
    holds: 0,
    outcome: undefined,
    cancelReason: "cancelled",
    ...opening,
  };
  Object.assign(draft, { interrupted: undefined, unattended: false, past: undefined });
  order(draft, "receipt", { turnId: opening.id, state: "turnStarted" });
  startRun(draft, params, opening.owner);
}

export const openQueued = (draft: Draft, { asker, turnId, params, prompt }: QueuedPrompt): void =>
  openTurn(draft, { id: turnId, link: asker.link, owner: asker, prompt }, params);

const armStuck = (draft: Draft, { turnId }: QueuedPrompt): void =>
  order(draft, "arm", "stuck", draft.policy.cancelGraceMs, turnId);

export function enqueue(draft: Draft, queued: QueuedPrompt): void {
  draft.queue = [...draft.queue, queued];
  if (draft.phase === "fenced") armStuck(draft, queued);
}

/**
 * No turn and no run is open: the next queued prompt begins a macrotask later, so that the agent has left the last one.
 * While the session is being closed it waits.
 */
export function rest(draft: Draft): void {
  const waits = draft.queue.length > 0;
  enter(draft, waits ? "resting" : "idle");
  if (waits && !draft.closing) order(draft, "arm", "begin", 0);
}

export function beginQueued(draft: Draft): void {
  const [next, ...later] = draft.queue;
  if (!next || draft.closing) return;
  draft.queue = later;
  openQueued(draft, next);
}

/** Takes prompts out of the queue; where nothing waits any more, nothing begins. */
export function unqueue(draft: Draft, gone: (queued: QueuedPrompt) => boolean): readonly QueuedPrompt[] {
  const { queue } = draft;
  draft.queue = queue.filter((queued) => !gone(queued));
  if (draft.phase === "resting" && draft.queue.length === 0) enter(draft, "idle");
  return queue.filter(gone);
}

export function cancelQueue(draft: Draft): void {
  for (const { asker } of unqueue(draft, () => true)) order(draft, "answer", asker, { stopReason: STOP.cancelled });
}

const stopReasonOf = ({ result }: RunOutcome): string | undefined => stringAt(result, "stopReason");

/** A run was answered. A continuation that the agent turned away before it did anything with it was not taken. */
export function endRun(draft: Draft, outcome: RunOutcome): void {
  const turn = turnOf(draft);
  const { error } = outcome;
  const continued = steersAt(draft, "continued");
  const notTaken = error !== undefined && continued.length > 0 && NOT_TAKEN.includes(error.code);
  draft.run = undefined;
  releaseHolds(draft);
  const stopReason = stopReasonOf(outcome);
  if (stopReason !== undefined) turn.stopReasons = [...turn.stopReasons, stopReason];
  if (notTaken) fall(draft, continued);
  Object.assign(turn, notTaken ? { refusal: error } : { outcome, refusals: 0 });
  if (injectingOf(draft)) order(draft, "abortInjection");
}

function releaseHolds(draft: Draft): void {
  const turn = turnOf(draft);
  if (turn.holds > 0) order(draft, "releaseHolds");
  turn.holds = 0;
}

/** Everything the agent was given and nobody reported on counts as delivered, assumed (spec G2). */
const assumeRest = (draft: Draft): void => deliver(draft, steersAt(draft, "accepted", "taken", "continued"), true);

function pause(draft: Draft, ms: number): void {
  enter(draft, "pausing");
  order(draft, "arm", "continue", ms);
}

/** The run was answered and every verdict is in: spec §4, first table. */
export function decide(draft: Draft): void {
  assumeRest(draft);
  const turn = turnOf(draft);
  const { refusal, refusals } = turn;
  const outcome = turn.outcome as RunOutcome;
  if (draft.closing) return endTurn(draft, { result: { stopReason: STOP.cancelled } }, "closed");
  const retryMs = refusal?.code === CODE.invalidRequest ? RETRY_MS[refusals] : undefined;
  Object.assign(turn, { refusal: undefined, refusals: refusal ? refusals + 1 : 0 });
  if (retryMs !== undefined) return pause(draft, retryMs);
  if (refusal || outcome.error) return endTurn(draft, outcome, "agentFailed");
  if (stopReasonOf(outcome) === STOP.refusal) return endTurn(draft, outcome, "refused");
  if (turn.pending.length > 0) return pause(draft, 0);
  endTurn(draft, outcome, "agentFailed");
}

/** All that is left goes in one prompt; what an agent could read as a slash command goes alone. */
function nextBatch({ pending }: Turn): number {
  const slash = pending.findIndex((steer) => startsWithSlash(steer.prompt));
  return slash < 0 ? pending.length : slash || 1;
}

/** The next run of the turn, with what is left; the end of the turn where nothing is. */
export function continueTurn(draft: Draft): void {
  const turn = turnOf(draft);
  const batch = handOver(draft, nextBatch(turn), "continued");
  if (batch.length === 0) return decide(draft);
  const prompt = draft.policy.interrupts ? withGuidance(turn.prompt, "") : [];
  for (const steer of batch) prompt.push(...(steer === batch[0] ? [] : [SEPARATOR]), ...steer.prompt);
  turn.pending = turn.pending.map((steer) => ({ ...steer, fate: "waiting" }));
  const messageIds = batch.map(({ messageId }) => messageId);
  startRun(draft, { prompt, _meta: { [META_KEY]: { turnId: turn.id, continuation: true, messageIds } } });
  injectNext(draft);
}

/** The outcome with the report of a turn that was steered (spec §2, owner's answer). */
function reported(outcome: RunOutcome, { id, bound, stopReasons, undelivered }: Turn): RunOutcome {
  if (bound === 0) return outcome;
  const report = { [META_KEY]: { turnId: id, runs: stopReasons.map((stopReason) => ({ stopReason })), undelivered } };
  const { result, error } = outcome;
  if (!error) return { result: { ...result, _meta: { ...(result["_meta"] as JsonObject), ...report } } };
  const data = isObject(error.data) ? error.data : error.data === undefined ? {} : { details: error.data };
  return { error: { ...error, data: { ...data, ...report } } };
}

const latest = (done: Done | undefined, count: number): Done | undefined =>
  done && count > 0 ? { ...done, earlier: latest(done.earlier, count - 1) } : undefined;

/** What is left is handed back, then the turn's end is told, then everybody who asked is answered (spec §2, order). */
function endTurn(draft: Draft, outcome: RunOutcome, leftovers: UndeliveredReason): void {
  handBack(draft, turnOf(draft).pending, leftovers);
  const turn = turnOf(draft);
  const { result, error } = reported(outcome, turn);
  const stopReason = stopReasonOf(outcome);
  const told = { turnId: turn.id, state: "turnEnded" } as const;
  if (outcome.error) order(draft, "receipt", { ...told, error: outcome.error });
  else order(draft, "receipt", stopReason === undefined ? told : { ...told, stopReason });
  for (const asker of turn.owner ? [turn.owner, ...turn.joined] : turn.joined)
    if (error) order(draft, "refuse", asker, error);
    else order(draft, "answer", asker, result);
  draft.turn = undefined;
  draft.past = latest(turn.done, MAX_PAST);
  if (draft.run) fence(draft);
  else rest(draft);
}

// --- Cancel -----------------------------------------------------------------------------------------------------------

/** Stops the open turn on behalf of a client. */
export function cancelTurn(draft: Draft, reason: "cancelled" | "closed"): void {
  const turn = turnOf(draft);
  const { run } = draft;
  const { cancelGraceMs } = draft.policy;
  turn.cancelReason = reason;
  if (reason === "cancelled" && measure(turn.prompt).bytes <= MAX_INTERRUPTED_BYTES) draft.interrupted = turn.prompt;
  releaseHolds(draft);
  handBack(draft, turn.pending, reason);
  if (injectingOf(draft)) order(draft, "abortInjection");
  else if (!run) return endCancelled(draft);
  enter(draft, "cancelling");
  order(draft, "arm", "grace", cancelGraceMs);
  if (!run) return;
  draft.run = { ...run, lively: false };
  order(draft, "arm", "cancel", 0);
  order(draft, "arm", "cancelRequest", cancelGraceMs / 2);
}

export function sendCancel(draft: Draft): void {
  const { run } = draft;
  if (!run) return;
  draft.run = { ...run, lively: false };
  order(draft, "sendCancel", run.link);
  watchCancelled(draft);
}

const watchCancelled = (draft: Draft): void => {
  if (draft.phase !== "running") order(draft, "arm", "cancelAgain", CANCEL_AGAIN_MS);
};

export const sendCancelAgain = (draft: Draft): void => (draft.run?.lively ? sendCancel(draft) : watchCancelled(draft));

export const noteLife = (draft: Draft): void => {
  if (draft.run) draft.run = { ...draft.run, lively: true };
};

/** Every verdict that is missing now counts as accepted. The answer is `cancelled` whatever the agent said. */
export function endCancelled(draft: Draft): void {
  const { outcome, cancelReason } = turnOf(draft);
  closeInjection(draft, "accepted");
  assumeRest(draft);
  endTurn(draft, { result: { ...outcome?.result, stopReason: STOP.cancelled } }, cancelReason);
}

/** What a connection asked for in the turn of another gets no answer of that turn any more. */
function leaveTurn(draft: Draft, link: number): void {
  const turn = turnOf(draft);
  const stays = (asker: Asker): boolean => asker.link !== link;
  for (const asker of [...turn.joined, ...turn.revokers]) if (!stays(asker)) order(draft, "refuse", asker, agentGone);
  turn.joined = turn.joined.filter(stays);
  turn.revokers = turn.revokers.filter(stays);
}

/** The connection to the agent is gone, and with it what it owes. */
export function loseAgent(draft: Draft, link: number): void {
  for (const { asker } of unqueue(draft, (queued) => queued.asker.link === link))
    order(draft, "refuse", asker, agentGone);
  if (draft.run?.link === link) draft.run = undefined;
  if (draft.turn && draft.turn.link !== link) leaveTurn(draft, link);
  else if (draft.turn) {
    releaseHolds(draft);
    Object.assign(draft.turn, { outcome: { error: agentGone }, refusal: undefined });
    if (draft.phase === "cancelling") return endCancelled(draft);
    closeInjection(draft, "accepted");
    decide(draft);
  } else if (draft.phase === "fenced" && !draft.run) rest(draft);
}

/** The owner has its answer, the old run is still open: nothing of it passes, prompts wait for it. */
function fence(draft: Draft): void {
  enter(draft, "fenced");
  watchCancelled(draft);
  for (const queued of draft.queue) armStuck(draft, queued);
}

export function refuseStuck(draft: Draft, stuck: string | undefined): void {
  for (const { asker } of unqueue(draft, ({ turnId }) => turnId === stuck)) order(draft, "refuse", asker, agentStuck);
}

/** An interrupted prompt and what the user says to it now (spec §7). */
export const withGuidance = (prompt: readonly ContentBlock[], text: string): ContentBlock[] => [
  ...prompt,
  { type: "text", text: `\n\nUser correction/guidance after interrupt: ${text}` },
];
