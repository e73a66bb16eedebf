/** G1, G2, G3 and G7: what becomes of a steer. */
import { startsWithSlash } from "../../src/parse.js";
import { CODE, type ContentBlock, STOP } from "../../src/protocol.js";
import { type KnownSteer, type Ledger, sameAsker, steerOf } from "./ledger.js";
import { awaitsReport, type Guarantee, handedOver, isAsking, isOf, isPending, RETRIES, turnIdOf } from "./moment.js";
import type { Effect, Event } from "./told.js";

/** Why a steer may be handed back, by the reason that its sender is given. */
const CAUSES: Readonly<Record<string, (ledger: Ledger, steer: KnownSteer, event: Event) => boolean>> = {
  revoked: (_, { revoked }) => revoked,
  cancelled: ({ turn }) => turn?.cancelled === true,
  closed: ({ turn, closing, closed }) => turn?.cancelled === true || closing > 0 || closed,
  refused: ({ turn }) => turn?.outcome?.result?.["stopReason"] === STOP.refused,
  agentFailed: ({ turn }) =>
    turn?.outcome?.error !== undefined ||
    (turn !== undefined &&
      turn.turnedAway > 0 &&
      (turn.lastCode !== CODE.invalidRequest || turn.turnedAway > RETRIES.length)),
};

/** Its report on the steers that did not arrive (spec §2, owner's answer). */
function reportedSteers(effect: Effect): readonly string[] | undefined {
  const carrier = effect[0] === "answer" ? effect[2]["_meta"] : effect[0] === "refuse" ? effect[2].data : undefined;
  const report = (carrier as { steering?: { undelivered: readonly { messageId: string }[] } } | undefined)?.steering;
  return report?.undelivered.map(({ messageId }) => messageId);
}

const undeliveredOf = ({ turn }: Ledger): string[] =>
  (turn?.steers ?? []).filter(({ final }) => final === "undelivered").map(({ messageId }) => messageId);

export const NO_LOST_STEER: readonly Guarantee[] = [
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
    says: "G1: a steer is shown when it is delivered, and only then",
    afterStep: ({ effects }) => {
      const delivered: string[] = [];
      const shown: string[] = [];
      for (const effect of effects)
        if (effect[0] === "echo") shown.push(effect[1]);
        else if (effect[0] === "receipt" && effect[1].state === "delivered") delivered.push(effect[1].messageId);
      return shown.join() === delivered.join();
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

export const NO_DUPLICATE: readonly Guarantee[] = [
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
      return effect[0] !== "arm" || effect[1] !== "pausing" || (mayRetry && effect[2] === RETRIES[turn.turnedAway - 1]);
    },
  },
];

export const ORDER: readonly Guarantee[] = [
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
    says: "G3: a steer that begins with / goes into a continuation alone",
    atEffect: ({ effect }) => {
      if (effect[0] !== "startRun" || handedOver(effect).length < 2) return true;
      const blocks = effect[4]["prompt"] as readonly ContentBlock[];
      return !blocks.some((block) => startsWithSlash([block]));
    },
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

export const ISOLATION: readonly Guarantee[] = [
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
    says: "G7: every run of a turn has an id of its own",
    atEffect: ({ ledger, effect }) => effect[0] !== "startRun" || ledger.turn?.runs.includes(effect[1]) === false,
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
