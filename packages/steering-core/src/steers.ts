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

/** The steers of the open turn that are at one of these. */
export const steersAt = (draft: Draft, ...fates: readonly Fate[]): readonly Steer[] =>
  turnOf(draft).steers.filter(({ fate }) => fates.includes(fate));

export const pendingOf = (draft: Draft): readonly Steer[] => steersAt(draft, "waiting", "fallen");

export const injectingOf = (draft: Draft): Steer | undefined => steersAt(draft, "injecting")[0];

export const move = (draft: Draft, moved: readonly Steer[], changes: Partial<Steer>): void => {
  const turn = turnOf(draft);
  if (moved.length > 0)
    turn.steers = turn.steers.map((steer) => (moved.includes(steer) ? { ...steer, ...changes } : steer));
};

const FINAL = { prompt: [], bytes: 0 } as const;

/** What a result, a receipt or a report says of a steer; without the members that say nothing. */
const identify = ({ messageId, clientMessageId }: ArrivingSteer): { messageId: string; clientMessageId?: string } =>
  clientMessageId === undefined ? { messageId } : { messageId, clientMessageId };

export const answerSteer = (
  draft: Draft,
  asker: Asker,
  steer: ArrivingSteer,
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
  const pending = pendingOf(draft);
  const bytes = pending.reduce((sum, other) => sum + other.bytes, steer.bytes);
  if (pending.length >= maxPending.steers || bytes > maxPending.bytes) return tooManyPending(maxPending);
  const turn = turnOf(draft);
  turn.steers = [...turn.steers, { ...steer, link, outcome: "injected", fate: "waiting" }];
  return undefined;
}

export function deliver(draft: Draft, steers: readonly Steer[], assumed: boolean): void {
  move(draft, steers, { fate: "delivered", ...FINAL });
  for (const steer of steers) {
    const unsure = assumed ? ({ assumed: true, prompt: steer.prompt } as const) : {};
    const receipt = { turnId: turnOf(draft).id, state: "delivered", ...identify(steer), ...unsure } as const;
    order(draft, "receipt", receipt, steer.link);
    order(draft, "echo", steer);
  }
}

export function handBack(draft: Draft, steers: readonly Steer[], reason: UndeliveredReason): void {
  const turn = turnOf(draft);
  move(draft, steers, { fate: reason === "revoked" ? "revoked" : "undelivered", ...FINAL });
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
  if (phase !== "running" || closing) return;
  const [steer] = pendingOf(draft);
  const turn = turnOf(draft);
  if (!steer || turn.holds > 0 || injectingOf(draft)) return;
  if (policy.interrupts && run && !run.interrupted) {
    draft.run = { ...run, interrupted: true };
    order(draft, "arm", "cancel", 0);
  }
  if (!policy.hasDriver || !steer.injectable || steer.fate === "fallen") return;
  move(draft, [steer], { fate: "injecting" });
  order(draft, "inject", turn.id, steer);
}

/** Everything that waits for a sign of the agent has it now. */
export const confirm = (draft: Draft): void => deliver(draft, steersAt(draft, "taken", "continued"), false);

/** What was not handed over after all waits for the continuation, in its place. In a cancelled turn there is none. */
export function fall(draft: Draft, steers: readonly Steer[]): void {
  if (draft.phase === "cancelling") handBack(draft, steers, turnOf(draft).cancelReason);
  else move(draft, steers, { fate: "fallen" });
}

/** The driver's verdict on the steer that is at it. */
export function closeInjection(draft: Draft, verdict: Verdict): void {
  const turn = turnOf(draft);
  const { report, revokers } = turn;
  const steer = injectingOf(draft);
  if (!steer) return;
  Object.assign(turn, { report: undefined, revokers: [] });
  const kept = verdict === "delivered" || (verdict === "accepted" && report !== "undelivered");
  if (!kept && revokers.length > 0) handBack(draft, [steer], "revoked");
  else if (!kept) fall(draft, [steer]);
  else if (verdict === "accepted" && !report) move(draft, [steer], { fate: "accepted" });
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
  const given = blocked ? [] : pendingOf(draft);
  move(draft, given, { fate: "taken" });
  order(draft, "give", given);
}
