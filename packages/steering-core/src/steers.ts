/**
 * How steers are handed over and what becomes of them: the moves of the session machine that concern one steer.
 */
import type { Verdict } from "./driver.js";
import { alreadyDelivered, tooManyPending } from "./errors.js";
import { META_KEY, type RpcError, type SteeringOutcome, type UndeliveredReason } from "./protocol.js";
import type {
  Asker,
  DriverReport,
  Effect,
  EffectName,
  Effects,
  Fate,
  LinkRef,
  Phase,
  RunOutcome,
  State,
  Steer,
  Told,
  Turn,
} from "./state.js";

/** Asks for one thing to be done. */
export const order = <Name extends EffectName>(state: State, name: Name, ...details: Effects[Name]): void => {
  state.effects.push([name, ...details] as unknown as Effect);
};

export const respond = (state: State, asker: Asker, outcome: RunOutcome): void =>
  order(state, "respond", asker, outcome);

/** Every timer belongs to the phase that armed it; a phase that waits for time is told how long. */
export const enter = (state: State, phase: Phase, ms?: number): void => {
  if (state.phase !== phase) order(state, "disarm");
  state.phase = phase;
  if (ms !== undefined) order(state, "arm", phase, ms);
};

/** The open turn. Cells call it only in phases that have one. */
export const turnOf = (state: State): Turn => state.turn as Turn;

export const sameAsker = (one: Asker | undefined, other: Asker): boolean =>
  one?.link === other.link && one?.id === other.id;

/** The steers of the open turn that are at one of these, in order of arrival. */
export const steersAt = (state: State, ...fates: readonly Fate[]): readonly Steer[] =>
  turnOf(state).bound.filter(({ fate }) => fates.includes(fate));

export const isPending = ({ fate }: Steer): boolean => fate === "waiting" || fate === "fallen";

/** The steers of the open turn that the agent may have been shown. */
export const handedOverOf = (state: State): readonly Steer[] =>
  turnOf(state).bound.filter((steer) => !isPending(steer));

export const pendingOf = (state: State): readonly Steer[] => turnOf(state).bound.filter(isPending);

export const injectingOf = (state: State): Steer | undefined =>
  turnOf(state).bound.find(({ fate }) => fate === "injecting");

/** The steer of that name that a connection sent to the open turn, or, after it, to the last. */
export const findSteer = (
  { turn, past }: State,
  sender: LinkRef,
  name: "messageId" | "clientMessageId",
  value: string | undefined,
): Steer | undefined =>
  (turn ? [...turn.bound, ...turn.settled] : past).find((steer) => steer.link === sender && steer[name] === value);

/** Answers the request that brought a steer. */
export const answerSteer = (
  state: State,
  asker: Asker,
  { messageId, clientMessageId }: Steer,
  answer: { readonly outcome: SteeringOutcome; readonly reason?: string },
  details: object,
): void =>
  respond(state, asker, {
    result: { ...answer, _meta: { [META_KEY]: { messageId, clientMessageId, ...details } } },
  });

/** Binds a steer to the turn, or says why not. */
export const bindSteer = (state: State, steer: Steer): RpcError | undefined => {
  const { maxPending } = state.policy;
  const turn = turnOf(state);
  const pending = pendingOf(state);
  const weight = pending.reduce((sum, other) => sum + other.weight, steer.weight);
  if (pending.length >= maxPending.steers || weight > maxPending.bytes) return tooManyPending;
  turn.bound.push(steer);
  return undefined;
};

/** The final word on steers: delivered, where there is no reason why not. */
export const settle = (state: State, steers: readonly Steer[], reason?: UndeliveredReason, assumed?: true): void => {
  const turn = turnOf(state);
  for (const steer of steers) {
    const { messageId, clientMessageId, prompt, link } = steer;
    const said = { messageId, clientMessageId, reason };
    const handedBack = reason || assumed ? prompt : undefined;
    const told = { turnId: turn.id, state: reason ? "undelivered" : "delivered", ...said, assumed, prompt: handedBack };
    order(state, "receipt", told as Told, link);
    if (reason) turn.report.undelivered.push(said);
    else order(state, "echo", messageId, prompt);
    Object.assign(steer, { fate: "settled", reason, prompt: [] });
    turn.settled.push(steer);
  }
  turn.bound = turn.bound.filter(({ fate }) => fate !== "settled");
};

/** Hands the next steer to the driver, if it is its turn and nothing stands before it. */
export const injectNext = (state: State): void => {
  const { phase, run, closing, policy } = state;
  if (phase !== "running" || closing) return;
  const steer = turnOf(state).bound.find(isPending);
  if (!steer || turnOf(state).holds > 0) return;
  if (policy.interrupts && run?.lively) order(state, "arm", "sendCancel", 0);
  if (!steer.injectable || steer.fate === "fallen" || injectingOf(state)) return;
  steer.fate = "injecting";
  order(state, "inject", turnOf(state).id, steer);
};

/** Everything that waits for a sign of the agent has it now. */
export const confirm = (state: State): void => settle(state, steersAt(state, "taken", "continued"));

/** What was not handed over after all waits for the continuation. In a cancelled turn there is none. */
export const fall = (state: State, steers: readonly Steer[]): void => {
  if (state.phase === "cancelling") return settle(state, steers, turnOf(state).cancelReason);
  for (const steer of steers) Object.assign(steer, { fate: "fallen", report: undefined });
};

/** What the driver says of a steer, in its verdict or after it. Whatever is no word of delivery hands it back. */
const hear = (state: State, steer: Steer, word: Verdict | DriverReport): void => {
  const { revokers, messageId } = steer;
  const kept = word === "delivered" || word === "accepted";
  steer.revokers = [];
  if (word === "accepted") steer.fate = word;
  else if (kept) settle(state, [steer]);
  else if (revokers.length > 0) settle(state, [steer], "revoked");
  else fall(state, [steer]);
  for (const revoker of revokers)
    respond(state, revoker, kept ? { error: alreadyDelivered(messageId) } : { result: {} });
};

/** The driver's verdict on the steer that is at it. */
export const closeInjection = (state: State, verdict: Verdict): void => {
  const steer = injectingOf(state);
  // A verdict of delivery outweighs the report: handed over again, the steer would be there twice.
  if (steer) hear(state, steer, verdict === "delivered" ? verdict : (steer.report ?? verdict));
};

/** What the driver says of a steer that it accepted, or of one that it is about to accept. */
export const takeReport = (state: State, messageId: string, report: DriverReport): void => {
  const steer = steersAt(state, "accepted", "injecting").find((known) => known.messageId === messageId);
  if (steer?.fate === "injecting") steer.report ??= report;
  else if (steer) hear(state, steer, report);
};

export const giveInbox = (state: State): void => {
  if (turnOf(state).holds > 0 || steersAt(state, "accepted", "injecting").length > 0) return;
  const steers = pendingOf(state);
  for (const steer of steers) steer.fate = "taken";
  order(state, "give", steers);
};
