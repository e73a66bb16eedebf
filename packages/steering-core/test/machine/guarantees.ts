/**
 * G1-G8 of the contract as predicates over one step of a session: what was known before each effect, and what is known
 * after all of them. Nothing here calls the machine; only G5 and G8 look at its state at all.
 */
import { CODE, REASON, STOP } from "../../src/protocol.js";
import { awaitsAgent } from "../../src/session.js";
import type { Asker, Effect, Event, Policy, State, TimerName } from "../../src/state.js";
import { continuationOf, type KnownSteer, type Ledger, requestOf, sameAsker, steerOf } from "./ledger.js";

/** One effect, and what was known just before it. */
export interface Moment {
  readonly ledger: Ledger;
  readonly effect: Effect;
  readonly event: Event;
  readonly policy: Policy;
}

/** One whole step. `unchanged`: the machine and the ledger are as before. */
export interface Passage {
  readonly before: { readonly state: State; readonly ledger: Ledger };
  readonly after: { readonly state: State; readonly ledger: Ledger };
  readonly event: Event;
  readonly effects: readonly Effect[];
  readonly policy: Policy;
  readonly unchanged: boolean;
}

export interface Guarantee {
  readonly says: string;
  readonly atEffect?: (moment: Moment) => boolean;
  readonly afterStep?: (passage: Passage) => boolean;
}

const RETRIES: readonly number[] = [100, 500, 2_000];

/** The steers that an effect hands over. */
function handedOver(effect: Effect): readonly string[] {
  if (effect[0] === "inject") return [effect[2].messageId];
  if (effect[0] === "give") return effect[1].map(({ messageId }) => messageId);
  if (effect[0] === "startRun") return continuationOf(effect[4])?.messageIds ?? [];
  return [];
}

/** The turn that an effect belongs to, where it says so. */
function turnIdOf(effect: Effect): string | undefined {
  if (effect[0] === "receipt") return effect[1].turnId;
  if (effect[0] === "inject") return effect[1];
  if (effect[0] === "startRun") return continuationOf(effect[4])?.turnId;
  return undefined;
}

const isTimer = (event: Event, ...timers: readonly TimerName[]): boolean =>
  event.type === "timerFired" && timers.includes(event.timer);

const isPending = ({ handed, final }: KnownSteer): boolean => final === undefined && handed === "no";
const isAsking = ({ handed }: KnownSteer): boolean => handed === "asking";
const awaitsReport = ({ handed, road, report, final }: KnownSteer): boolean =>
  final === undefined && handed === "yes" && road === "driver" && report === undefined;

const askersOf = ({ turn }: Ledger): readonly Asker[] =>
  (turn ? [turn.owner, ...turn.joined] : []).filter((asker) => asker !== undefined);
const isOf = (ledger: Ledger, asker: Asker): boolean => askersOf(ledger).some((one) => sameAsker(one, asker));

const reasonOf = (data: unknown): unknown => (data as { reason?: unknown } | undefined)?.reason;

/** Why a steer may be handed back, by the reason that its sender is given. */
const CAUSES: Readonly<Record<string, (ledger: Ledger, steer: KnownSteer, event: Event) => boolean>> = {
  revoked: (_, { revoked }) => revoked,
  cancelled: ({ turn }) => turn?.cancelled === true,
  closed: ({ turn, closing, closed }) => turn?.cancelled === true || closing > 0 || closed,
  refused: ({ turn }) => turn?.outcome?.result?.["stopReason"] === STOP.refusal,
  agentFailed: ({ turn }) =>
    turn?.outcome?.error !== undefined ||
    (turn !== undefined &&
      turn.turnedAway > 0 &&
      (turn.lastCode !== CODE.invalidRequest || turn.turnedAway > RETRIES.length)),
};

/** What the owner of a turn is told (spec §4, first table). */
function isRightEnd(ledger: Ledger, effect: Effect): boolean {
  const { turn, closing } = ledger;
  if (turn === undefined) return false;
  if (turn.cancelled || closing > 0) return effect[0] === "answer" && effect[2]["stopReason"] === STOP.cancelled;
  const { outcome } = turn;
  if (effect[0] === "refuse") return outcome?.error !== undefined && effect[2].code === outcome.error.code;
  return (
    effect[0] === "answer" && outcome?.result !== undefined && effect[2]["stopReason"] === outcome.result["stopReason"]
  );
}

/** How a prompt is answered that never had a turn. */
function isRightWithdrawal({ ledger, effect, event, policy }: Moment, asker: Asker): boolean {
  if (effect[0] === "answer") {
    if (event.type === "promptArrived") return event.command !== undefined && effect[2]["stopReason"] === STOP.endTurn;
    return (event.type === "cancelArrived" || ledger.closed) && effect[2]["stopReason"] === STOP.cancelled;
  }
  if (effect[0] !== "refuse") return false;
  const { code, data } = effect[2];
  if (event.type === "promptArrived")
    return code === CODE.notFound
      ? ledger.closed || event.barred !== undefined
      : reasonOf(data) === REASON.busy && policy.whenBusy === "reject";
  if (event.type === "promptCancelled") return sameAsker(event.asker, asker) && code === CODE.requestCancelled;
  if (event.type === "agentLost") return asker.link === event.link && code === CODE.internalError;
  return isTimer(event, "stuck") && reasonOf(data) === REASON.agentStuck && ledger.run !== undefined;
}

/** Its report on the steers that did not arrive (spec §2, owner's answer). */
function reportedSteers(effect: Effect): readonly string[] | undefined {
  const carrier = effect[0] === "answer" ? effect[2]["_meta"] : effect[0] === "refuse" ? effect[2].data : undefined;
  const report = (carrier as { steering?: { undelivered: readonly { messageId: string }[] } } | undefined)?.steering;
  return report?.undelivered.map(({ messageId }) => messageId);
}

const undeliveredOf = ({ turn }: Ledger): string[] =>
  (turn?.steers ?? []).filter(({ final }) => final === "undelivered").map(({ messageId }) => messageId);

const NO_LOST_STEER: readonly Guarantee[] = [
  {
    says: "G1: a steer gets one final receipt, and only while it has none",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "receipt" ||
      effect[1].messageId === undefined ||
      (steerOf(ledger, effect[1].messageId) !== undefined && steerOf(ledger, effect[1].messageId)?.final === undefined),
  },
  {
    says: "G1: when a turn ends, every steer of it has its final receipt",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "receipt" ||
      effect[1].state !== "turnEnded" ||
      ledger.turn?.steers.every(({ final }) => final !== undefined) === true,
  },
  {
    says: "G1: a steer is handed back with its content, for a reason that happened",
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "receipt" || effect[1].state !== "undelivered") return true;
      const { messageId = "", reason = "", prompt } = effect[1];
      const steer = steerOf(ledger, messageId);
      return (
        steer !== undefined &&
        prompt !== undefined &&
        prompt.length > 0 &&
        CAUSES[reason]?.(ledger, steer, event) === true
      );
    },
  },
  {
    says: "G1: the owner's answer names every steer that was not delivered",
    atEffect: ({ ledger, effect }) => {
      const { turn } = ledger;
      if ((effect[0] !== "answer" && effect[0] !== "refuse") || !turn?.ended || !isOf(ledger, effect[1])) return true;
      if (turn.steers.length === 0) return true;
      return reportedSteers(effect)?.toSorted().join() === undeliveredOf(ledger).toSorted().join();
    },
  },
];

const NO_DUPLICATE: readonly Guarantee[] = [
  {
    says: "G2: only what is not handed over is handed over",
    atEffect: ({ ledger, effect }) =>
      handedOver(effect).every((messageId) => {
        const steer = steerOf(ledger, messageId);
        return steer !== undefined && isPending(steer);
      }),
  },
  {
    says: "G2: delivered is what was handed over, undelivered what was not or came back",
    atEffect: ({ ledger, effect }) => {
      if (effect[0] !== "receipt" || effect[1].messageId === undefined) return true;
      return steerOf(ledger, effect[1].messageId)?.handed === (effect[1].state === "delivered" ? "yes" : "no");
    },
  },
  {
    says: "G2: delivered without `assumed` has a verdict, a report or a sign of the agent behind it; assumed has the content",
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "receipt" || effect[1].state !== "delivered") return true;
      const { assumed, prompt, messageId = "" } = effect[1];
      const confirmed =
        ["agentActed", "verdictArrived", "reportArrived"].includes(event.type) ||
        steerOf(ledger, messageId)?.report === "delivered";
      return assumed ? prompt !== undefined && prompt.length > 0 : confirmed;
    },
  },
  {
    says: "G2: a continuation that was turned away is tried again after 100, 500 and 2,000 ms, and then not at all",
    atEffect: ({ ledger, effect }) => {
      const { turn } = ledger;
      if (!turn || turn.turnedAway === 0) return true;
      const mayRetry = turn.lastCode === CODE.invalidRequest && turn.turnedAway <= RETRIES.length;
      if (effect[0] === "startRun") return mayRetry;
      return (
        effect[0] !== "arm" || effect[1] !== "continue" || (mayRetry && effect[2] === RETRIES[turn.turnedAway - 1])
      );
    },
  },
];

const ORDER: readonly Guarantee[] = [
  {
    says: "G3: steers are handed over in order of arrival; one that waits holds back all later ones",
    atEffect: ({ ledger, effect }) => {
      const handed = handedOver(effect);
      const steers = ledger.turn?.steers ?? [];
      let next = 0;
      for (const steer of steers) {
        if (next === handed.length) return true;
        if (steer.messageId === handed[next]) next += 1;
        else if (isPending(steer) || isAsking(steer)) return false;
      }
      return next === handed.length;
    },
  },
  {
    says: "G3: the next steer goes to the driver only after the verdict on the one before, and only content it takes",
    atEffect: ({ ledger, effect, policy }) =>
      effect[0] !== "inject" ||
      (policy.hasDriver &&
        !ledger.turn?.steers.some(isAsking) &&
        steerOf(ledger, effect[2].messageId)?.injectable === true),
  },
  {
    says: "G3: what the driver turned away in a run does not go to it again in that run",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "inject" || steerOf(ledger, effect[2].messageId)?.fellIn !== ledger.run?.id,
  },
  {
    says: "G3: nothing is injected or given during a hold, between runs, or in a cancelled turn",
    atEffect: ({ ledger, effect }) =>
      (effect[0] !== "inject" && (effect[0] !== "give" || effect[1].length === 0)) ||
      (ledger.holds === 0 && ledger.run !== undefined && ledger.turn?.cancelled === false),
  },
  {
    says: "G3: take() is [] behind a steer that is at the driver without a final word",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "give" ||
      effect[1].length === 0 ||
      ledger.turn?.steers.some((steer) => isAsking(steer) || awaitsReport(steer)) === false,
  },
  {
    says: "G3: take() gives all that is pending",
    afterStep: ({ event, before: { ledger, state }, after }) =>
      event.type !== "takeCalled" ||
      state.phase !== "running" ||
      ledger.holds > 0 ||
      ledger.turn?.steers.some((steer) => isAsking(steer) || awaitsReport(steer)) === true ||
      after.ledger.turn?.steers.some(isPending) === false,
  },
  {
    says: "G3: where the first pending steer can go to the driver, it does",
    afterStep: ({ after: { state, ledger }, policy }) => {
      if (state.phase !== "running" || ledger.closing > 0 || ledger.holds > 0 || !policy.hasDriver) return true;
      const first = ledger.turn?.steers.find((steer) => isPending(steer));
      return (
        first === undefined ||
        !first.injectable ||
        first.fellIn === ledger.run?.id ||
        ledger.turn?.steers.some(isAsking) === true
      );
    },
  },
];

const ONE_ANSWER: readonly Guarantee[] = [
  {
    says: "G4: only a request that waits is answered",
    atEffect: ({ ledger, effect }) =>
      (effect[0] !== "answer" && effect[0] !== "refuse") || requestOf(ledger, effect[1]) !== undefined,
  },
  {
    says: "G4: a steering request is answered at once, a revoke at the latest with its steer's verdict",
    afterStep: ({ after: { ledger } }) =>
      ledger.open.every(
        ({ kind, messageId }) =>
          kind === "prompt" || (kind === "revoke" && steerOf(ledger, messageId)?.handed === "asking"),
      ),
  },
  {
    says: "G4: a revoke succeeds exactly for what is not handed over",
    atEffect: ({ ledger, effect }) => {
      if (effect[0] !== "answer" && effect[0] !== "refuse") return true;
      const request = requestOf(ledger, effect[1]);
      const steer = request?.kind === "revoke" ? steerOf(ledger, request.messageId) : undefined;
      if (!steer || steer.link !== effect[1].link) return true;
      return effect[0] === "answer" ? steer.final === "undelivered" : steer.handed === "yes";
    },
  },
  {
    says: "G4: those who asked for a turn are answered when it has ended, as its end says; others as what happened says",
    atEffect: (moment) => {
      const { ledger, effect, event } = moment;
      if (effect[0] !== "answer" && effect[0] !== "refuse") return true;
      if (requestOf(ledger, effect[1])?.kind !== "prompt") return true;
      const isArriving = event.type === "promptArrived" && sameAsker(event.asker, effect[1]);
      const hasLostItsAgent = event.type === "agentLost" && ledger.turn?.link !== event.link;
      if (isOf(ledger, effect[1]) && !isArriving && !hasLostItsAgent)
        return ledger.turn?.ended === true && isRightEnd(ledger, effect);
      return isRightWithdrawal(moment, effect[1]);
    },
  },
  {
    says: "G4: all who asked for a turn are answered with its end",
    afterStep: ({ after: { ledger } }) =>
      ledger.open.every((request) => request.kind !== "prompt" || request.queued || isOf(ledger, request.asker)),
  },
  {
    says: "G4: a turn ends only when no verdict is missing, and no run is open unless a client cancelled",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "receipt" ||
      effect[1].state !== "turnEnded" ||
      (ledger.turn?.steers.some(isAsking) === false && (ledger.run === undefined || ledger.turn.cancelled)),
  },
  {
    says: "G4: the machine and the books agree on who waits",
    afterStep: ({ after: { state, ledger } }) => {
      const { turn, queue } = state;
      const waiting = [
        turn?.owner,
        ...(turn?.joined ?? []),
        ...(turn?.revokers ?? []),
        ...queue.map(({ asker }) => asker),
      ];
      const known = waiting.filter((asker) => asker !== undefined);
      return known.length === ledger.open.length && known.every((asker) => requestOf(ledger, asker) !== undefined);
    },
  },
];

const IDLE: readonly Guarantee[] = [
  {
    says: "G5: a steer that is not taken up changes nothing and causes nothing but its answer",
    afterStep: ({ event, effects, unchanged }) => {
      if (event.type !== "steerArrived") return true;
      const [first] = effects;
      const isTaken =
        first?.[0] === "answer" && (first[2]["outcome"] === "injected" || first[2]["outcome"] === "startedNewTurn");
      return isTaken || (effects.length === 1 && unchanged);
    },
  },
  {
    says: "G5: a steer is injected exactly where a turn is open, not cancelled and not closing",
    afterStep: ({ event, effects, before: { ledger } }) => {
      if (event.type !== "steerArrived") return true;
      const { turn, closing } = ledger;
      const isOpen = turn !== undefined && !turn.cancelled && closing === 0;
      const joins = isOpen && !event.unsupported && (event.expectedTurnId ?? turn.id) === turn.id;
      const [first] = effects;
      return (first?.[0] === "answer" && first[2]["outcome"] === "injected") === joins;
    },
  },
  {
    says: "G5: a run begins for a prompt, for a steer that may start a turn, or as the continuation of a turn",
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "startRun") return true;
      if (continuationOf(effect[4])) return isTimer(event, "continue") && ledger.turn?.outcome !== undefined;
      if (event.type === "steerArrived")
        return event.idleBehavior === "startNewTurn" && event.expectedTurnId === undefined;
      return event.type === "promptArrived" || isTimer(event, "begin");
    },
  },
];

const CANCEL: readonly Guarantee[] = [
  {
    says: "G6: after a cancel no run begins in that turn, and none while the old one is open",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "startRun" ||
      (ledger.run === undefined && ledger.turn?.cancelled === false && ledger.closing === 0 && !ledger.closed),
  },
  {
    says: "G6: a cancel answers every prompt that waits, at once",
    afterStep: ({ event, after: { ledger } }) =>
      (event.type !== "cancelArrived" && !ledger.closed) || ledger.open.every(({ queued }) => !queued),
  },
  {
    says: "G6: a cancel leaves nothing pending",
    afterStep: ({ after: { ledger } }) => !ledger.turn?.cancelled || !ledger.turn.steers.some(isPending),
  },
  {
    says: "G6: between runs, with no verdict missing, a cancel ends the turn at once and nothing is forwarded",
    afterStep: ({ event, before, after: { ledger } }) => {
      if (before.ledger.run || before.ledger.turn?.steers.some(isAsking)) return true;
      const cancels = ["cancelArrived", "promptCancelled", "linkLost"].includes(event.type);
      return !cancels || ledger.turn === undefined || !ledger.turn.cancelled;
    },
  },
  {
    says: "G6: a cancel goes to the agent from a timer that was armed after the run began, or to one that works unasked",
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "sendCancel") return true;
      if (event.type === "cancelArrived")
        return ledger.turn === undefined && ledger.run === undefined && ledger.unattended;
      return isTimer(event, "cancel", "cancelAgain") && ledger.run !== undefined && effect[1] === ledger.run.link;
    },
  },
  {
    says: "G6: a timer that cancels was armed for the run that is open",
    afterStep: ({ after: { ledger } }) =>
      ledger.timers.every(
        ({ timer, run }) =>
          !["cancel", "cancelAgain", "cancelRequest"].includes(timer) ||
          ledger.run === undefined ||
          run === ledger.run.id,
      ),
  },
  {
    says: "G6: the layer itself stops a run only to let a steer in",
    atEffect: ({ ledger, effect, event, policy }) =>
      effect[0] !== "sendCancel" ||
      event.type === "cancelArrived" ||
      ledger.turn?.id !== ledger.run?.turnId ||
      ledger.turn?.cancelled === true ||
      (policy.interrupts && (ledger.turn?.steers.length ?? 0) > 0),
  },
  {
    says: "G6: $/cancel_request goes to a run that was cancelled, half the grace later",
    atEffect: ({ ledger, effect, event }) =>
      effect[0] !== "sendCancelRequest" ||
      (isTimer(event, "cancelRequest") && ledger.run !== undefined && ledger.turn?.cancelled === true),
  },
  {
    says: "G6: a cancelled turn has its grace, its cancel and its $/cancel_request armed",
    afterStep: ({ before, after: { ledger }, policy }) => {
      if (!ledger.turn?.cancelled || before.ledger.turn?.cancelled) return true;
      const has = (name: TimerName, ms: number): boolean =>
        ledger.timers.some(({ timer, ms: armed }) => timer === name && armed === ms);
      const { cancelGraceMs } = policy;
      return (
        has("grace", cancelGraceMs) && (!ledger.run || (has("cancel", 0) && has("cancelRequest", cancelGraceMs / 2)))
      );
    },
  },
  {
    says: "G6: a hold ends with its run or with the cancel",
    afterStep: ({ after: { ledger } }) =>
      ledger.holds === 0 || (ledger.run !== undefined && ledger.turn?.cancelled === false),
  },
  {
    says: "G6: after a close nothing begins and nobody waits",
    afterStep: ({ after: { ledger } }) =>
      !ledger.closed || (ledger.open.length === 0 && ledger.turn === undefined && ledger.timers.length === 0),
  },
];

const ISOLATION: readonly Guarantee[] = [
  {
    says: "G7: what happens to a steer names the turn it was bound to, while that turn is open",
    atEffect: ({ ledger, effect }) => {
      if (effect[0] === "receipt" && effect[1].state === "turnStarted") return ledger.turn === undefined;
      const turnId = turnIdOf(effect);
      return turnId === undefined || (turnId === ledger.turn?.id && !ledger.turn.ended);
    },
  },
  {
    says: "G7: the answer to a steer names the open turn, and the steer as it was bound first",
    atEffect: ({ ledger, effect, event }) => {
      if (event.type !== "steerArrived" || effect[0] !== "answer" || effect[2]["outcome"] !== "injected") return true;
      const { messageId, turnId } = (effect[2]["_meta"] as { steering: { messageId: string; turnId: string } })
        .steering;
      const { clientMessageId } = event.steer;
      const first = ledger.turn?.steers.find(
        (known) =>
          clientMessageId !== undefined && known.clientMessageId === clientMessageId && known.link === event.asker.link,
      );
      return turnId === ledger.turn?.id && messageId === (first ?? event.steer).messageId;
    },
  },
  {
    says: "G7: receipts of a steer go to its sender alone, those of a turn to everybody",
    atEffect: ({ ledger, effect }) =>
      effect[0] !== "receipt" ||
      effect[2] === (effect[1].messageId === undefined ? undefined : steerOf(ledger, effect[1].messageId)?.link),
  },
  {
    says: "G7: prompts get their turns first in, first out",
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "startRun" || effect[3] === undefined || event.type === "promptArrived") return true;
      return sameAsker(ledger.open.find(({ queued }) => queued)?.asker, effect[3]);
    },
  },
  {
    says: "G7: a prompt never overtakes one that waits",
    atEffect: ({ ledger, effect, event }) =>
      effect[0] !== "startRun" || event.type !== "promptArrived" || !ledger.open.some(({ queued }) => queued),
  },
];

/** What has to be armed in a phase, so that the session goes on without anybody's help. */
const KEEPS_GOING: Readonly<Partial<Record<State["phase"], TimerName>>> = {
  resting: "begin",
  settling: "verdict",
  pausing: "continue",
  cancelling: "grace",
};

const isLate = ({ before: { state, ledger }, event }: Passage): boolean => {
  if (event.type === "runAnswered") return ledger.run?.id !== event.run;
  if (event.type === "verdictArrived") return steerOf(ledger, event.messageId)?.handed !== "asking";
  if (event.type === "agentActed") return !awaitsAgent(state);
  if (event.type !== "reportArrived") return false;
  const steer = steerOf(ledger, event.messageId);
  return steer?.road !== "driver" || steer.final !== undefined || steer.report !== undefined;
};

const CONTAINMENT: readonly Guarantee[] = [
  {
    says: "G8: what waits for time has its timer",
    afterStep: ({ after: { state, ledger } }) => {
      const name = KEEPS_GOING[state.phase];
      const waitsForClose = state.phase === "resting" && ledger.closing > 0;
      return name === undefined || waitsForClose || ledger.timers.some(({ timer }) => timer === name);
    },
  },
  {
    says: "G8: each prompt that waits for an old run has its limit",
    afterStep: ({ after: { state, ledger } }) =>
      state.phase !== "fenced" ||
      state.queue.every(({ turnId }) =>
        ledger.timers.some((armed) => armed.timer === "stuck" && armed.turnId === turnId),
      ),
  },
  {
    says: "G8: when an agent is gone, nobody waits for it",
    afterStep: ({ event, after: { ledger } }) =>
      event.type !== "agentLost" ||
      (ledger.run?.link !== event.link &&
        ledger.turn?.link !== event.link &&
        !ledger.open.some(({ asker, kind }) => kind === "prompt" && asker.link === event.link)),
  },
  {
    says: "G8: at rest no timer is armed and nobody waits, unless a close is at the agent",
    afterStep: ({ after: { state, ledger } }) =>
      state.phase !== "idle" ||
      (ledger.timers.length === 0 && ledger.run === undefined && (ledger.open.length === 0 || ledger.closing > 0)),
  },
  {
    says: "G8: what comes too late, or again, has no effect",
    afterStep: (passage) => !isLate(passage) || (passage.unchanged && passage.effects.length === 0),
  },
  {
    says: "G8: the machine knows as open at the agent what is open there",
    afterStep: ({ after: { state, ledger } }) =>
      state.run?.id === ledger.run?.id && state.run?.link === ledger.run?.link,
  },
];

/** All of them, in order. */
export const GUARANTEES: readonly Guarantee[] = [
  ...NO_LOST_STEER,
  ...NO_DUPLICATE,
  ...ORDER,
  ...ONE_ANSWER,
  ...IDLE,
  ...CANCEL,
  ...ISOLATION,
  ...CONTAINMENT,
];
