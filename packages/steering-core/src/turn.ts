/**
 * The moves that the table in `session.ts` is made of: how steers are handed over, how a turn goes on and how it ends.
 * Each move reads and replaces the parts of a draft; nothing is shared with the state it came from.
 */
import type { Verdict } from "./driver.js";
import { agentStuck, alreadyDelivered, tooManyPending } from "./errors.js";
import { measure, startsWithSlash } from "./parse.js";
import {
  CODE,
  type ContentBlock,
  type IdleDetail,
  type JsonObject,
  META_KEY,
  NO_RUNNING_TURN,
  type RpcError,
  type SteeringOutcome,
  STOP,
  type TurnReport,
  type UndeliveredReason,
} from "./protocol.js";
import { isObject } from "./parse.js";
import type { ArrivingSteer, Asker, DriverReport, Effect, LedgerEntry, Phase, Policy, QueuedPrompt, RunOutcome, State, Steer, Turn } from "./state.js";

/** A state being changed, and what is to be done about it. Lives for one step. */
export interface Draft {
  state: State;
  readonly policy: Policy;
  readonly effects: Effect[];
}

/** How often and when a continuation that the agent refused as too early is tried again. */
const RETRY_MS = [100, 500, 2_000] as const;
/** How long after a cancel it is repeated while the run still shows life. */
export const CANCEL_AGAIN_MS = 250;
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
  closing: false,
  unattended: false,
  past: [],
});

export const set = (draft: Draft, changes: Partial<State>): void => {
  draft.state = { ...draft.state, ...changes };
};

export const emit = (draft: Draft, ...effects: Effect[]): void => {
  for (const effect of effects) draft.effects.push(effect);
};

/** Every timer belongs to the phase that armed it. */
export function enter(draft: Draft, phase: Phase): void {
  if (draft.state.phase !== phase) emit(draft, { type: "disarm" });
  set(draft, { phase });
}

/** The open turn. Cells call it only in phases that have one. */
export const turnOf = (draft: Draft): Turn => draft.state.turn as Turn;

export const setTurn = (draft: Draft, changes: Partial<Turn>): void => set(draft, { turn: { ...turnOf(draft), ...changes } });

export const answer = (draft: Draft, asker: Asker, result: JsonObject): void => emit(draft, { type: "answer", asker, result });

export const refuse = (draft: Draft, asker: Asker, error: RpcError): void => emit(draft, { type: "refuse", asker, error });

export const sameAsker = (one: Asker | undefined, other: Asker): boolean => one?.link === other.link && one.id === other.id;

// --- Steers -----------------------------------------------------------------------------------------------------------

type SteeringDetails = {
  readonly messageId: string;
  readonly turnId?: string | undefined;
  readonly clientMessageId?: string | undefined;
  readonly detail?: IdleDetail;
};

export function answerSteer(draft: Draft, asker: Asker, outcome: SteeringOutcome, details: SteeringDetails): void {
  const reason = outcome === "promptRequired" ? { reason: NO_RUNNING_TURN } : {};
  const steering = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  answer(draft, asker, { outcome, ...reason, _meta: { [META_KEY]: steering } });
}

export const promptRequired = (draft: Draft, asker: Asker, steer: ArrivingSteer, detail: IdleDetail): void =>
  answerSteer(draft, asker, "promptRequired", { messageId: steer.messageId, clientMessageId: steer.clientMessageId, detail });

const mark = (draft: Draft, steers: readonly Steer[], fate: LedgerEntry["fate"]): void => {
  const ids = new Set(steers.map((steer) => steer.messageId));
  setTurn(draft, { ledger: turnOf(draft).ledger.map((entry) => (ids.has(entry.messageId) ? { ...entry, fate } : entry)) });
};

export const byPlace = (one: Steer, other: Steer): number => one.place - other.place;

const without = (steers: readonly Steer[], gone: Steer): readonly Steer[] => steers.filter((steer) => steer !== gone);

export const findSteer = (steers: readonly Steer[], messageId: string): Steer | undefined =>
  steers.find((steer) => steer.messageId === messageId);

/** Binds a steer to the turn, or says why there is no room for it. */
export function bindSteer(draft: Draft, arriving: ArrivingSteer, link: number): RpcError | undefined {
  const { pending, ledger } = turnOf(draft);
  const { maxPending } = draft.policy;
  const bytes = pending.reduce((sum, steer) => sum + steer.bytes, arriving.bytes);
  if (pending.length >= maxPending.steers || bytes > maxPending.bytes) return tooManyPending(maxPending);
  const { messageId, clientMessageId } = arriving;
  const steer: Steer = { ...arriving, link, place: ledger.length, fallen: false };
  const entry: LedgerEntry = { messageId, clientMessageId, link, outcome: "injected", fate: "pending" };
  setTurn(draft, { pending: [...pending, steer], ledger: [...ledger, entry] });
  return undefined;
}

export function deliver(draft: Draft, steer: Steer, assumed: boolean): void {
  mark(draft, [steer], "delivered");
  const { messageId, clientMessageId, prompt, link } = steer;
  const unsure = assumed ? ({ assumed: true, prompt } as const) : {};
  const receipt = { turnId: turnOf(draft).id, messageId, ...(clientMessageId === undefined ? {} : { clientMessageId }), state: "delivered", ...unsure } as const;
  emit(draft, { type: "receipt", link, receipt }, { type: "echo", steer });
}

export function handBack(draft: Draft, steers: readonly Steer[], reason: UndeliveredReason): void {
  mark(draft, steers, reason === "revoked" ? "revoked" : "undelivered");
  for (const { messageId, clientMessageId, prompt, link } of steers) {
    const undelivered = { messageId, ...(clientMessageId === undefined ? {} : { clientMessageId }), reason };
    setTurn(draft, { undelivered: [...turnOf(draft).undelivered, undelivered] });
    emit(draft, { type: "receipt", link, receipt: { turnId: turnOf(draft).id, state: "undelivered", ...undelivered, prompt } });
  }
}

export function handBackPending(draft: Draft, reason: UndeliveredReason): void {
  const { pending } = turnOf(draft);
  setTurn(draft, { pending: [] });
  handBack(draft, pending, reason);
}

/** Hands the next steer to the driver, if it is its turn and nothing stands before it. */
export function injectNext(draft: Draft): void {
  const { phase, run, closing } = draft.state;
  if (phase !== "running" || closing) return;
  const { pending, injection, holds, id } = turnOf(draft);
  const [steer, ...later] = pending;
  if (!steer || injection || holds > 0) return;
  if (draft.policy.interrupts && run && !run.interrupted) {
    set(draft, { run: { ...run, interrupted: true } });
    emit(draft, { type: "arm", timer: "cancel", ms: 0 });
  }
  if (!draft.policy.hasDriver || !steer.injectable || steer.fallen) return;
  setTurn(draft, { pending: later, injection: { steer, revokers: [] } });
  emit(draft, { type: "inject", turnId: id, steer });
}

/** A steer that was not handed over after all goes back to its place and waits for the continuation. */
export const fall = (draft: Draft, steers: readonly Steer[]): void => {
  mark(draft, steers, "pending");
  setTurn(draft, { pending: [...turnOf(draft).pending, ...steers.map((steer) => ({ ...steer, fallen: true }))].sort(byPlace) });
};

/** Everything that waits for a sign of the agent has it now. */
export function confirm(draft: Draft): void {
  const { unconfirmed } = turnOf(draft);
  setTurn(draft, { unconfirmed: [], continuation: [] });
  for (const steer of unconfirmed) deliver(draft, steer, false);
}

/** The driver's verdict on the steer that is at it. */
export function closeInjection(draft: Draft, verdict: Verdict): void {
  const { injection } = turnOf(draft);
  if (!injection) return;
  const { steer, report, revokers } = injection;
  setTurn(draft, { injection: undefined });
  const kept = verdict === "delivered" || (verdict === "accepted" && report !== "undelivered");
  if (kept && verdict === "accepted" && report === undefined) {
    mark(draft, [steer], "handedOver");
    setTurn(draft, { accepted: [...turnOf(draft).accepted, steer] });
  } else if (kept) deliver(draft, steer, false);
  else if (revokers.length > 0) handBack(draft, [steer], "revoked");
  else if (draft.state.phase === "cancelling") handBack(draft, [steer], turnOf(draft).cancelReason);
  else fall(draft, [steer]);
  for (const revoker of revokers)
    if (kept) refuse(draft, revoker, alreadyDelivered(steer.messageId));
    else answer(draft, revoker, {});
}

/** What the driver says later of a steer that it accepted, or earlier than its verdict. */
export function takeReport(draft: Draft, messageId: string, report: DriverReport): void {
  const { accepted, injection } = turnOf(draft);
  if (injection?.steer.messageId === messageId && injection.report === undefined)
    return setTurn(draft, { injection: { ...injection, report } });
  const steer = findSteer(accepted, messageId);
  if (!steer) return;
  setTurn(draft, { accepted: without(accepted, steer) });
  if (report === "delivered") deliver(draft, steer, false);
  else if (draft.state.phase === "cancelling") handBack(draft, [steer], turnOf(draft).cancelReason);
  else fall(draft, [steer]);
}

export function giveInbox(draft: Draft): void {
  const { pending, accepted, injection, holds, unconfirmed } = turnOf(draft);
  if (holds > 0 || accepted.length > 0 || injection) return emit(draft, { type: "give", steers: [] });
  mark(draft, pending, "handedOver");
  setTurn(draft, { pending: [], unconfirmed: [...unconfirmed, ...pending] });
  emit(draft, { type: "give", steers: pending });
}

/** Takes back a steer that was not handed over. */
export function revoke(draft: Draft, asker: Asker, steer: Steer): void {
  const { pending } = turnOf(draft);
  setTurn(draft, { pending: without(pending, steer) });
  handBack(draft, [steer], "revoked");
  answer(draft, asker, {});
}

// --- Turns ------------------------------------------------------------------------------------------------------------

const newTurn = (turn: Pick<Turn, "id" | "link" | "owner" | "prompt">): Turn => ({
  ...turn,
  joined: [],
  ledger: [],
  pending: [],
  injection: undefined,
  accepted: [],
  unconfirmed: [],
  continuation: [],
  refusals: 0,
  refusal: undefined,
  runsBegun: 0,
  stopReasons: [],
  undelivered: [],
  holds: 0,
  outcome: undefined,
  cancelReason: "cancelled",
});

function startRun(draft: Draft, params: JsonObject, asker: Asker | undefined): void {
  const { id, link, runsBegun } = turnOf(draft);
  const run = `${id}/${runsBegun}`;
  setTurn(draft, { runsBegun: runsBegun + 1 });
  set(draft, { run: { id: run, link, lively: false } });
  enter(draft, "running");
  emit(draft, { type: "startRun", run, link, asker, params });
}

export type Opening = Pick<Turn, "id" | "link" | "owner" | "prompt"> & { readonly params: JsonObject };

export function openTurn(draft: Draft, { params, ...turn }: Opening): void {
  set(draft, { turn: newTurn(turn), interrupted: undefined, unattended: false, past: [] });
  emit(draft, { type: "receipt", link: undefined, receipt: { turnId: turn.id, state: "turnStarted" } });
  startRun(draft, params, turn.owner);
}

export const openQueued = (draft: Draft, { asker, turnId, params, prompt }: QueuedPrompt): void =>
  openTurn(draft, { id: turnId, link: asker.link, owner: asker, prompt, params });

export function enqueue(draft: Draft, queued: QueuedPrompt): void {
  set(draft, { queue: [...draft.state.queue, queued] });
  if (draft.state.phase === "fenced") emit(draft, { type: "arm", timer: "stuck", ms: draft.policy.cancelGraceMs, turnId: queued.turnId });
}

/** No turn and no run is open: the next queued prompt begins a macrotask later, so that the agent has left the last one. */
export function rest(draft: Draft): void {
  const { queue, closing } = draft.state;
  if (queue.length === 0 || closing) return enter(draft, "idle");
  enter(draft, "resting");
  emit(draft, { type: "arm", timer: "begin", ms: 0 });
}

export function beginQueued(draft: Draft): void {
  const [next, ...later] = draft.state.queue;
  set(draft, { queue: later });
  if (next) openQueued(draft, next);
}

export function cancelQueue(draft: Draft): void {
  const { queue } = draft.state;
  set(draft, { queue: [] });
  for (const { asker } of queue) answer(draft, asker, { stopReason: STOP.cancelled });
}

/** The part of a run's end that does not depend on how it ended. */
export function endRun(draft: Draft, outcome: RunOutcome): void {
  const stopReason = outcome.result?.["stopReason"];
  if (turnOf(draft).holds > 0) emit(draft, { type: "releaseHolds" });
  set(draft, { run: undefined });
  setTurn(draft, { holds: 0, ...(typeof stopReason === "string" ? { stopReasons: [...turnOf(draft).stopReasons, stopReason] } : {}) });
  if (turnOf(draft).injection) emit(draft, { type: "abortInjection" });
}

/** Takes back a continuation that the agent turned away before it did anything with it; says whether it did. */
export function takeBackContinuation(draft: Draft, { error }: RunOutcome): boolean {
  const { continuation, unconfirmed } = turnOf(draft);
  if (continuation.length === 0 || !error || !NOT_TAKEN.includes(error.code)) return false;
  setTurn(draft, { continuation: [], refusal: error, unconfirmed: unconfirmed.filter((steer) => !continuation.includes(steer)) });
  fall(draft, continuation);
  return true;
}

/** Everything the agent was given and nobody reported on counts as delivered, assumed (spec G2). */
function assumeRest(draft: Draft): void {
  const { accepted, unconfirmed } = turnOf(draft);
  setTurn(draft, { accepted: [], unconfirmed: [], continuation: [] });
  for (const steer of [...accepted, ...unconfirmed].sort(byPlace)) deliver(draft, steer, true);
}

/** A continuation that was refused as too early is tried again; after any other refusal the turn ends as the run before it. */
function retryContinuation(draft: Draft, refusal: RpcError): void {
  const { refusals, outcome } = turnOf(draft);
  const delay = refusal.code === CODE.invalidRequest ? RETRY_MS[refusals] : undefined;
  setTurn(draft, { refusal: undefined, refusals: refusals + 1 });
  if (delay === undefined) endTurn(draft, outcome as RunOutcome, "agentFailed");
  else pause(draft, delay);
}

export function pause(draft: Draft, ms: number): void {
  enter(draft, "pausing");
  emit(draft, { type: "arm", timer: "continue", ms });
}

/** The run was answered and every verdict is in: spec §4, first table. */
export function decide(draft: Draft): void {
  const { refusal } = turnOf(draft);
  assumeRest(draft);
  const { outcome, pending } = turnOf(draft);
  const ended = outcome as RunOutcome;
  if (draft.state.closing) return endTurn(draft, { result: { stopReason: STOP.cancelled } }, "closed");
  if (refusal) return retryContinuation(draft, refusal);
  if (ended.error) return endTurn(draft, ended, "agentFailed");
  if (ended.result["stopReason"] === STOP.refusal) return endTurn(draft, ended, "refused");
  if (pending.length > 0) return pause(draft, 0);
  endTurn(draft, ended, "agentFailed");
}

/** All that is left goes in one prompt; what an agent could read as a slash command goes alone. */
function nextBatch(pending: readonly Steer[]): readonly Steer[] {
  const boundary = pending.findIndex((steer) => startsWithSlash(steer.prompt));
  if (boundary === 0) return pending.slice(0, 1);
  return boundary < 0 ? pending : pending.slice(0, boundary);
}

function continuationPrompt(draft: Draft, batch: readonly Steer[]): readonly ContentBlock[] {
  const { prompt } = turnOf(draft);
  const restated: ContentBlock[] = draft.policy.interrupts ? withGuidance(prompt, "") : [];
  return batch.reduce<ContentBlock[]>((blocks, steer, index) => [...blocks, ...(index > 0 ? [SEPARATOR] : []), ...steer.prompt], restated);
}

export function continueTurn(draft: Draft): void {
  const { pending, id, outcome } = turnOf(draft);
  const batch = nextBatch(pending);
  if (batch.length === 0) return endTurn(draft, outcome as RunOutcome, "agentFailed");
  mark(draft, batch, "handedOver");
  setTurn(draft, {
    pending: pending.slice(batch.length).map((steer) => ({ ...steer, fallen: false })),
    continuation: batch,
    unconfirmed: batch,
  });
  const _meta = { [META_KEY]: { turnId: id, continuation: true, messageIds: batch.map((steer) => steer.messageId) } };
  startRun(draft, { prompt: continuationPrompt(draft, batch), _meta }, undefined);
  injectNext(draft);
}

const reportOf = ({ id, stopReasons, undelivered }: Turn): TurnReport => ({
  turnId: id,
  runs: stopReasons.map((stopReason) => ({ stopReason })),
  undelivered,
});

function withReport(outcome: RunOutcome, report: TurnReport): RunOutcome {
  if (outcome.error) {
    const { data } = outcome.error;
    const rest = isObject(data) ? data : data === undefined ? {} : { details: data };
    return { error: { ...outcome.error, data: { ...rest, [META_KEY]: report } } };
  }
  const meta = outcome.result["_meta"];
  return { result: { ...outcome.result, _meta: { ...(isObject(meta) ? meta : {}), [META_KEY]: report } } };
}

/** What is left is handed back, then the turn's end is told, then everybody who asked is answered; spec §2, order. */
export function endTurn(draft: Draft, outcome: RunOutcome, leftovers: UndeliveredReason): void {
  handBackPending(draft, leftovers);
  const turn = turnOf(draft);
  const final = turn.ledger.length > 0 ? withReport(outcome, reportOf(turn)) : outcome;
  const { result, error } = outcome;
  const ended = error ? { error } : { stopReason: String(result["stopReason"]) };
  emit(draft, { type: "receipt", link: undefined, receipt: { turnId: turn.id, state: "turnEnded", ...ended } });
  for (const asker of turn.owner ? [turn.owner, ...turn.joined] : turn.joined)
    if (final.error) refuse(draft, asker, final.error);
    else answer(draft, asker, final.result);
  set(draft, { turn: undefined, past: turn.ledger.slice(-MAX_PAST) });
  if (draft.state.run) fence(draft);
  else rest(draft);
}

// --- Cancel -----------------------------------------------------------------------------------------------------------

const rememberable = (prompt: readonly ContentBlock[]): boolean => measure(prompt).bytes <= MAX_INTERRUPTED_BYTES;

/** Stops the open turn on behalf of a client. */
export function cancelTurn(draft: Draft, reason: "cancelled" | "closed"): void {
  const { prompt, holds, injection } = turnOf(draft);
  setTurn(draft, { cancelReason: reason, holds: 0 });
  if (reason === "cancelled" && rememberable(prompt)) set(draft, { interrupted: prompt });
  if (holds > 0) emit(draft, { type: "releaseHolds" });
  handBackPending(draft, reason);
  const { run } = draft.state;
  if (!run && !injection) return endCancelled(draft);
  if (injection) emit(draft, { type: "abortInjection" });
  enter(draft, "cancelling");
  const { cancelGraceMs } = draft.policy;
  emit(draft, { type: "arm", timer: "grace", ms: cancelGraceMs });
  if (!run) return;
  set(draft, { run: { ...run, lively: false } });
  emit(draft, { type: "arm", timer: "cancel", ms: 0 }, { type: "arm", timer: "cancelRequest", ms: cancelGraceMs / 2 });
}

export function sendCancel(draft: Draft): void {
  const { run, phase } = draft.state;
  if (!run) return;
  set(draft, { run: { ...run, lively: false } });
  emit(draft, { type: "sendCancel", link: run.link });
  if (phase !== "running") emit(draft, { type: "arm", timer: "cancelAgain", ms: CANCEL_AGAIN_MS });
}

export function sendCancelAgain(draft: Draft): void {
  if (draft.state.run?.lively) sendCancel(draft);
  else emit(draft, { type: "arm", timer: "cancelAgain", ms: CANCEL_AGAIN_MS });
}

export const noteLife = (draft: Draft): void => {
  const { run } = draft.state;
  if (run) set(draft, { run: { ...run, lively: true } });
};

/** Every verdict that is missing now counts as accepted. The answer is `cancelled` whatever the agent said. */
export function endCancelled(draft: Draft): void {
  closeInjection(draft, "accepted");
  assumeRest(draft);
  const { outcome, cancelReason } = turnOf(draft);
  endTurn(draft, { result: { ...outcome?.result, stopReason: STOP.cancelled } }, cancelReason);
}

function fence(draft: Draft): void {
  enter(draft, "fenced");
  emit(draft, { type: "arm", timer: "cancelAgain", ms: CANCEL_AGAIN_MS });
  for (const { turnId } of draft.state.queue) emit(draft, { type: "arm", timer: "stuck", ms: draft.policy.cancelGraceMs, turnId });
}

export function refuseStuck(draft: Draft, turnId: string | undefined): void {
  const { queue } = draft.state;
  set(draft, { queue: queue.filter((queued) => queued.turnId !== turnId) });
  for (const queued of queue) if (queued.turnId === turnId) refuse(draft, queued.asker, agentStuck);
}

/** An interrupted prompt and what the user says to it now (spec §7). */
export const withGuidance = (prompt: readonly ContentBlock[], text: string): ContentBlock[] => [
  ...prompt,
  { type: "text", text: `\n\nUser correction/guidance after interrupt: ${text}` },
];
