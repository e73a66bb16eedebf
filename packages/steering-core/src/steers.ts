/**
 * How steers are handed over and what becomes of them: the moves of the session machine that concern one steer.
 * A move changes a draft, which lives for one step and shares nothing that changes with the state it came from.
 */
import type { Verdict } from "./driver.js";
import { alreadyDelivered, tooManyPending } from "./errors.js";
import {
  type IdleDetail,
  META_KEY,
  NO_RUNNING_TURN,
  type RpcError,
  type SteeringOutcome,
  type UndeliveredReason,
} from "./protocol.js";
import type {
  ArrivingSteer,
  Asker,
  Done,
  DriverReport,
  Effect,
  EffectName,
  Effects,
  Fate,
  Phase,
  Policy,
  State,
  Steer,
  Turn,
} from "./state.js";

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A state being changed, and what is to be done about it. */
export interface Draft extends Omit<Mutable<State>, "turn"> {
  turn: Mutable<Turn> | undefined;
  readonly policy: Policy;
  readonly effects: Effect[];
}

/** Asks for one thing to be done. */
export const order = <Name extends EffectName>(draft: Draft, name: Name, ...details: Effects[Name]): void => {
  draft.effects.push([name, ...details] as unknown as Effect);
};

/** Every timer belongs to the phase that armed it. */
export const enter = (draft: Draft, phase: Phase): void => {
  if (draft.phase !== phase) order(draft, "disarm");
  draft.phase = phase;
};

/** The open turn. Cells call it only in phases that have one. */
export const turnOf = (draft: Draft): Mutable<Turn> => draft.turn as Mutable<Turn>;

export const sameAsker = (one: Asker | undefined, other: Asker): boolean =>
  one?.link === other.link && one.id === other.id;

/** The steers of the open turn that are at one of these, of those that were handed over. */
export const steersAt = (draft: Draft, ...fates: readonly Fate[]): readonly Steer[] =>
  turnOf(draft).active.filter(({ fate }) => fates.includes(fate));

export const injectingOf = (draft: Draft): Steer | undefined => steersAt(draft, "injecting")[0];

const sizeOf = (steers: readonly Steer[]): number => steers.reduce((sum, { bytes }) => sum + bytes, 0);

/** Moves the first of what waits to where it is handed over. */
export function handOver(draft: Draft, count: number, fate: Fate): readonly Steer[] {
  const turn = turnOf(draft);
  const moved = turn.pending.slice(0, count).map((steer) => ({ ...steer, fate }));
  turn.pending = turn.pending.slice(count);
  turn.pendingBytes -= sizeOf(moved);
  turn.active = [...turn.active, ...moved];
  return moved;
}

/** Takes steers out of the turn, wherever they are. */
function remove(draft: Draft, steers: readonly Steer[]): void {
  const turn = turnOf(draft);
  const gone = new Set(steers);
  const kept = turn.pending.filter((steer) => !gone.has(steer));
  if (kept.length < turn.pending.length) Object.assign(turn, { pending: kept, pendingBytes: sizeOf(kept) });
  turn.active = turn.active.filter((steer) => !gone.has(steer));
}

function finish(draft: Draft, steers: readonly Steer[], delivered: boolean): void {
  const turn = turnOf(draft);
  remove(draft, steers);
  for (const { messageId, clientMessageId, link } of steers)
    turn.done = { messageId, clientMessageId, link, outcome: "injected", delivered, earlier: turn.done };
}

/** The steer of a connection that fits, if its state is final. */
export function findDone(list: Done | undefined, link: number, fits: (steer: Identity) => boolean): Done | undefined {
  for (let done = list; done; done = done.earlier) if (done.link === link && fits(done)) return done;
  return undefined;
}

export type Identity = Pick<ArrivingSteer, "messageId" | "clientMessageId">;

/** What a result, a receipt or a report says of a steer; without the members that say nothing. */
const identify = ({ messageId, clientMessageId }: Identity): { messageId: string; clientMessageId?: string } =>
  clientMessageId === undefined ? { messageId } : { messageId, clientMessageId };

export const answerSteer = (
  draft: Draft,
  asker: Asker,
  steer: Identity,
  outcome: SteeringOutcome,
  turnId: string,
): void => order(draft, "answer", asker, { outcome, _meta: { [META_KEY]: { ...identify(steer), turnId } } });

export const promptRequired = (draft: Draft, asker: Asker, steer: ArrivingSteer, detail: IdleDetail): void =>
  order(draft, "answer", asker, {
    outcome: "promptRequired",
    reason: NO_RUNNING_TURN,
    _meta: { [META_KEY]: { ...identify(steer), detail } },
  });

/** Binds a steer to the turn, or says why not. */
export function bindSteer(draft: Draft, steer: ArrivingSteer, link: number): RpcError | undefined {
  const { maxPending } = draft.policy;
  const turn = turnOf(draft);
  const bytes = turn.pendingBytes + steer.bytes;
  if (turn.pending.length >= maxPending.steers || bytes > maxPending.bytes) return tooManyPending(maxPending);
  turn.pending = [...turn.pending, { ...steer, link, place: turn.bound, fate: "waiting" }];
  turn.pendingBytes = bytes;
  turn.bound += 1;
  return undefined;
}

export function deliver(draft: Draft, steers: readonly Steer[], assumed: boolean): void {
  finish(draft, steers, true);
  for (const steer of steers) {
    const unsure = assumed ? ({ assumed: true, prompt: steer.prompt } as const) : {};
    const receipt = { turnId: turnOf(draft).id, state: "delivered", ...identify(steer), ...unsure } as const;
    order(draft, "receipt", receipt, steer.link);
    order(draft, "echo", steer);
  }
}

export function handBack(draft: Draft, steers: readonly Steer[], reason: UndeliveredReason): void {
  const turn = turnOf(draft);
  finish(draft, steers, false);
  for (const steer of steers) {
    const undelivered = { ...identify(steer), reason };
    turn.undelivered = [...turn.undelivered, undelivered];
    const receipt = { turnId: turn.id, state: "undelivered", ...undelivered, prompt: steer.prompt } as const;
    order(draft, "receipt", receipt, steer.link);
  }
}

/** Hands the next steer to the driver, if it is its turn and nothing stands before it. */
export function injectNext(draft: Draft): void {
  const { phase, run, closing, policy } = draft;
  if (phase !== "running" || closing || !(policy.hasDriver || policy.interrupts)) return;
  const turn = turnOf(draft);
  const [steer] = turn.pending;
  if (!steer || turn.holds > 0 || injectingOf(draft)) return;
  if (policy.interrupts && run && !run.interrupted) {
    draft.run = { ...run, interrupted: true };
    order(draft, "arm", "cancel", 0);
  }
  if (!policy.hasDriver || !steer.injectable || steer.fate === "fallen") return;
  handOver(draft, 1, "injecting");
  order(draft, "inject", turn.id, steer);
}

/** Everything that waits for a sign of the agent has it now. */
export const confirm = (draft: Draft): void => deliver(draft, steersAt(draft, "taken", "continued"), false);

/** What was not handed over after all waits for the continuation, in its place. In a cancelled turn there is none. */
export function fall(draft: Draft, steers: readonly Steer[]): void {
  const turn = turnOf(draft);
  if (draft.phase === "cancelling") return handBack(draft, steers, turn.cancelReason);
  remove(draft, steers);
  const fallen = steers.map((steer) => ({ ...steer, fate: "fallen" as const }));
  turn.pending = [...turn.pending, ...fallen].sort((one, other) => one.place - other.place);
  turn.pendingBytes += sizeOf(steers);
}

/** The driver's verdict on the steer that is at it. */
export function closeInjection(draft: Draft, verdict: Verdict): void {
  const turn = turnOf(draft);
  const { report, revokers } = turn;
  const steer = injectingOf(draft);
  if (!steer) return;
  Object.assign(turn, { report: undefined, revokers: [] });
  // A report of delivery outweighs the verdict: handed over again, the steer would be there twice.
  const kept = [verdict, report].includes("delivered") || (verdict === "accepted" && report !== "undelivered");
  if (!kept && revokers.length > 0) handBack(draft, [steer], "revoked");
  else if (!kept) fall(draft, [steer]);
  else if (verdict === "accepted" && !report)
    turn.active = turn.active.map((other) => (other === steer ? { ...steer, fate: "accepted" } : other));
  else deliver(draft, [steer], false);
  for (const revoker of revokers)
    if (kept) order(draft, "refuse", revoker, alreadyDelivered(steer.messageId));
    else order(draft, "answer", revoker, {});
}

/** What the driver says of a steer that it accepted, or of one that it is about to accept. */
export function takeReport(draft: Draft, messageId: string, report: DriverReport): void {
  const steer = steersAt(draft, "accepted", "injecting").find((known) => known.messageId === messageId);
  if (steer?.fate === "injecting") turnOf(draft).report ??= report;
  else if (steer && report === "delivered") deliver(draft, [steer], false);
  else if (steer) fall(draft, [steer]);
}

export function giveInbox(draft: Draft): void {
  const blocked = turnOf(draft).holds > 0 || steersAt(draft, "accepted", "injecting").length > 0;
  order(draft, "give", handOver(draft, blocked ? 0 : turnOf(draft).pending.length, "taken"));
}
