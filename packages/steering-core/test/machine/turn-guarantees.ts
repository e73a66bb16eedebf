/** G4, G5, G6 and G8: what becomes of prompts, turns and runs. */
import { CODE, REASON, STOP } from "../../src/protocol.js";
import type { Asker, State } from "../../src/state.js";
import { continuationOf, type Ledger, requestOf, sameAsker, steerOf } from "./ledger.js";
import { type Guarantee, isAsking, isOf, isPending, isTimer, type Moment, type Passage } from "./moment.js";
import type { Effect, TimerName } from "./told.js";

const reasonOf = (data: unknown): unknown => (data as { reason?: unknown } | undefined)?.reason;

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

export const ONE_ANSWER: readonly Guarantee[] = [
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
    atEffect: ({ ledger, effect, event }) => {
      if (effect[0] !== "answer" && effect[0] !== "refuse") return true;
      const request = requestOf(ledger, effect[1]);
      const steer = request?.kind === "revoke" ? steerOf(ledger, request.messageId) : undefined;
      if (!steer || steer.link !== effect[1].link) return true;
      if (effect[0] === "answer") return steer.final === "undelivered";
      return steer.handed === "yes" || (event.type === "agentLost" && event.link === effect[1].link);
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
    says: "G4: a turn ends when no verdict is missing and no run is open, at the latest at the end of a cancel's grace",
    atEffect: ({ ledger, effect, event }) =>
      effect[0] !== "receipt" ||
      effect[1].state !== "turnEnded" ||
      (ledger.turn?.steers.some(isAsking) === false && (ledger.run === undefined || isTimer(event, "cancelling"))),
  },
  {
    says: "G4: the signal of a pending inject aborts when its run ends, when it is cancelled, and when it is revoked",
    afterStep: ({ event, effects, before, after: { ledger } }) => {
      const asking = ledger.turn?.steers.find(isAsking);
      const hasEnded = before.ledger.run !== undefined && ledger.run === undefined;
      const isCancelled = ledger.turn?.cancelled === true && before.ledger.turn?.cancelled === false;
      const isRevoked = event.type === "revokeArrived" && event.messageId === asking?.messageId;
      const mustAbort = hasEnded || isCancelled || (isRevoked && event.asker.link === asking?.link);
      return !asking || !mustAbort || effects.some(([name]) => name === "abortInjection");
    },
  },
  {
    says: "G4: the machine and the books agree on who waits",
    afterStep: ({ after: { state, ledger } }) => {
      const { turn, queue } = state;
      const waiting = [
        turn?.owner,
        ...(turn?.joined ?? []),
        ...(turn?.bound.flatMap(({ revokers }) => revokers) ?? []),
        ...queue.map(({ asker }) => asker),
      ];
      const known = waiting.filter((asker) => asker !== undefined);
      return known.length === ledger.open.length && known.every((asker) => requestOf(ledger, asker) !== undefined);
    },
  },
];

export const IDLE: readonly Guarantee[] = [
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
      if (continuationOf(effect[4])) return isTimer(event, "pausing") && ledger.turn?.outcome !== undefined;
      if (event.type === "steerArrived")
        return event.idleBehavior === "startNewTurn" && event.expectedTurnId === undefined;
      return event.type === "promptArrived" || isTimer(event, "resting");
    },
  },
];

/** How long after a cancel it is repeated. */
const CANCEL_AGAIN_MS = 250;

export const CANCEL: readonly Guarantee[] = [
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
      return isTimer(event, "sendCancel") && ledger.run !== undefined && effect[1] === ledger.run.link;
    },
  },
  {
    says: "G6: a run that is cancelled is told so, and again while it shows life, and only then",
    afterStep: ({ event, effects, before: { ledger } }) => {
      if (!isTimer(event, "sendCancel") || ledger.run === undefined) return true;
      const isRepeat = ledger.timers.find(({ timer }) => timer === "sendCancel")?.ms === CANCEL_AGAIN_MS;
      return (ledger.run.stirred || !isRepeat) === effects.some(([name]) => name === "sendCancel");
    },
  },
  {
    says: "G6: a run that was cancelled is watched, so that the cancel can be repeated",
    afterStep: ({ event, after: { ledger } }) =>
      !isTimer(event, "sendCancel") ||
      ledger.run === undefined ||
      ledger.turn?.cancelled === false ||
      ledger.timers.some(({ timer, ms }) => timer === "sendCancel" && ms === CANCEL_AGAIN_MS),
  },
  {
    says: "G6: a timer that cancels was armed for the run that is open",
    afterStep: ({ after: { ledger } }) =>
      ledger.timers.every(
        ({ timer, run }) =>
          !["sendCancel", "sendCancelRequest"].includes(timer) || ledger.run === undefined || run === ledger.run.id,
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
      (isTimer(event, "sendCancelRequest") && ledger.run !== undefined && ledger.turn?.cancelled === true),
  },
  {
    says: "G6: half the grace after a cancel, $/cancel_request is sent for a run that is still open",
    afterStep: ({ event, effects, before: { ledger } }) =>
      !isTimer(event, "sendCancelRequest") ||
      ledger.run === undefined ||
      effects.some(([name]) => name === "sendCancelRequest"),
  },
  {
    says: "G6: a cancelled turn has its grace, its cancel and its $/cancel_request armed",
    afterStep: ({ before, after: { ledger }, policy }) => {
      if (!ledger.turn?.cancelled || before.ledger.turn?.cancelled) return true;
      const has = (name: TimerName, ms: number): boolean =>
        ledger.timers.some(({ timer, ms: armed }) => timer === name && armed === ms);
      const { cancelGraceMs } = policy;
      return (
        has("cancelling", cancelGraceMs) &&
        (!ledger.run || (has("sendCancel", 0) && has("sendCancelRequest", cancelGraceMs / 2)))
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

/** What has to be armed in a phase, so that the session goes on without anybody's help. */
const KEEPS_GOING: Readonly<Partial<Record<State["phase"], TimerName>>> = {
  resting: "resting",
  settling: "settling",
  pausing: "pausing",
  cancelling: "cancelling",
};

/** The next sign of the agent changes something. */
function awaitsAgent({ phase, unattended, turn, run }: State): boolean {
  if (turn?.bound.some(({ fate }) => fate === "taken" || fate === "continued")) return true;
  if (phase === "cancelling" || phase === "fenced") return run !== undefined && !run.lively;
  return (phase === "idle" || phase === "resting") && !unattended;
}

const isLate = ({ before: { state, ledger }, event }: Passage): boolean => {
  if (event.type === "runAnswered") return ledger.run?.id !== event.run;
  if (event.type === "verdictArrived") return steerOf(ledger, event.messageId)?.handed !== "asking";
  if (event.type === "agentActed") return !awaitsAgent(state);
  if (event.type !== "reportArrived") return false;
  const steer = steerOf(ledger, event.messageId);
  return steer?.road !== "driver" || steer.final !== undefined || steer.report !== undefined;
};

export const CONTAINMENT: readonly Guarantee[] = [
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
        !ledger.open.some(({ asker }) => asker.link === event.link)),
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
