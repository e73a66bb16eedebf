/** What the contract lets the layer answer: the tables of spec §2 and §4, in the words of {@link describe}. */
import type { SteerStory } from "./steer-story.js";
import type { Answer, Ask, Story, TurnStory } from "./story.js";

export const name = ({ method, message, token, link }: Ask): string => `${method} ${token ?? message.id} of ${link}`;

/** An answer in a word or two: stop reason, detail or outcome; code and reason of an error. */
export function describe(answer: Answer | undefined): string {
  if (!answer) return "never";
  const { result, error } = answer.message;
  if (error) return [error.code, error.data?.reason].filter(Boolean).join(" ");
  return result?.stopReason ?? result?._meta?.steering?.detail ?? result?.outcome ?? "a result";
}

/** What a steer may be answered, by where it arrives (spec §2, §5, §6). */
export function expectedAnswers(story: Story, ask: Ask): string[] {
  const sessionId = ask.sessionId as string;
  const { at } = ask.sent;
  const { expectedTurnId, idleBehavior } = ask.message.params._meta?.steering ?? {};
  if (!story.isAttached(ask.link, sessionId, at) || story.isClosing(sessionId, at)) return ["-32002"];
  const open = story.turnAt(sessionId, at);
  const turn = open?.cancelled && open.cancelled.at < at ? undefined : open;
  if (turn && story.isRepeat(ask, turn)) return ["injected", "startedNewTurn"];
  if (turn && (expectedTurnId === undefined || expectedTurnId === turn.id)) return acceptedOrTooMany(story, turn, at);
  const behavior = idleBehavior ?? story.scenario.idleBehavior;
  const refusal = behavior === "reject" ? "-32600 noRunningTurn" : undefined;
  if (turn && turn.id === undefined) return [...acceptedOrTooMany(story, turn, at), refusal ?? "turnMismatch"];
  if (refusal) return [refusal];
  if (turn) return ["turnMismatch"];
  if (open || story.isFenced(sessionId, at)) return ["cancelling"];
  if (behavior !== "startNewTurn" || !story.wants(ask.link, "receipts") || expectedTurnId !== undefined)
    return ["idle"];
  return story.queuedAt(sessionId, at).length > 0 ? ["idle", "startedNewTurn"] : ["startedNewTurn"];
}

/** Of a steer whose driver handed it back too late, both can be said: that it is pending again, and that it is not. */
function acceptedOrTooMany(story: Story, turn: TurnStory, at: number): string[] {
  const { maxSteers } = story.scenario;
  const steers = story.steersOf(turn);
  const pending = steers.filter((steer) => steer.isPendingAt(at)).length;
  const perhaps = steers.filter((steer) => steer.isUnsureAt(at)).length;
  const tooMany = "-32600 tooManyPending";
  if (pending >= maxSteers) return [tooMany];
  return pending + perhaps >= maxSteers ? ["injected", tooMany] : ["injected"];
}

/** What the owner of a turn may be answered (spec §4, first table). */
export function expectedEnds(story: Story, turn: TurnStory): string[] {
  if (turn.cancelled || isCutByClose(story, turn)) return ["cancelled"];
  const last = turn.runs.findLast(({ notTaken }) => !notTaken);
  const end = last?.error ? String(last.error.code) : last?.result?.stopReason;
  return story.hasAgentLeft(turn.link) ? [end, "-32603"] : [end];
}

/** A continuation is tried again after 100 ms, 500 ms and 2 s (spec §4). */
const MAX_TRIES = 4;

/** How a turn went on that it should not have (spec §4). */
export function wrongRuns({ runs }: TurnStory): string[] {
  const failed = runs
    .slice(0, -1)
    .filter(({ notTaken, error, result }) => !notTaken && (error || result?.stopReason === "refusal"));
  const tooOften = runs.some((_, index) => {
    const tries = runs.slice(index, index + MAX_TRIES + 1);
    return tries.length > MAX_TRIES && tries.every(({ notTaken }) => notTaken);
  });
  const faults = failed.map(() => "a turn went on after it had failed");
  return tooOften ? [...faults, "a continuation was tried too often"] : faults;
}

/** Why a steer may have come back (spec §2, receipts; §4). */
export function expectedReasons(story: Story, { turn, revokedAt }: SteerStory): string[] {
  const { cancelled } = turn;
  if (revokedAt < turn.to) return ["revoked", ...(cancelled ? [cancelled.reason] : [])];
  if (cancelled) return [cancelled.reason, "closed"];
  if (isCutByClose(story, turn)) return ["closed"];
  const last = turn.runs[turn.runs.length - 1];
  if (last?.result?.stopReason === "refusal") return ["refused"];
  return last?.error || story.hasAgentLeft(turn.link) ? ["agentFailed"] : [];
}

/** It ended while its session was being closed, or with the close. */
const isCutByClose = (story: Story, { sessionId, to, answer }: TurnStory): boolean =>
  story.isClosing(sessionId, to) || story.isClosedWith(sessionId, answer);
