/** How a steer was handed over, as the agent, the driver and the clock saw it (spec §3, G2; §4). */

import { NEVER, type OfKind, tokensOf } from "./chronicle.js";
import type { Entry } from "./history.js";
import type { RunStory, Story, TurnStory } from "./story.js";
import { GRACE_MS } from "./world.js";

/** A hand-over, or the attempt at one. */
export interface Attempt {
  readonly road: "taken" | "injected" | "continued";
  readonly at: number;
  readonly entry: Entry;
  /** Where the driver had its say; for the other roads, where it was handed over. */
  readonly verdictAt: number;
  /** Where it had failed, or infinity. */
  readonly failedAt: number;
  /** Where the run ended that was open at the time, or infinity. */
  readonly runTo: number;
  /** `either`: the driver handed it back so late that it counts as delivered or as handed back. */
  readonly status: "handedOver" | "failed" | "either";
  /** Something of the driver or the agent showed that it arrived; undefined where that can be read both ways. */
  readonly confirmed: boolean | undefined;
}

/** Every attempt at one steer, in order. */
export function attemptsAt(story: Story, token: string, turn: TurnStory, since: number): Attempt[] {
  return story.entries.slice(since + 1).flatMap((entry): Attempt[] => {
    if (entry.kind === "took" && tokensOf(entry.steers).includes(token)) return [taken(story, entry, turn)];
    if (entry.kind === "injected" && tokensOf(entry.text).includes(token)) return [injected(story, entry, turn)];
    const run = entry.kind === "agentGot" ? story.runs.find(({ began }) => began === entry) : undefined;
    return run?.tokens.includes(token) ? [continued(story, run, turn)] : [];
  });
}

function taken(story: Story, entry: OfKind<"took">, turn: TurnStory): Attempt {
  const { at, sessionId } = entry;
  const run = story.runAtPlace(sessionId, at);
  const confirmed = story.hasActed(sessionId, at, Math.min(run?.to ?? NEVER, turn.to));
  const runTo = run?.to ?? NEVER;
  return { road: "taken", at, entry, verdictAt: at, failedAt: NEVER, runTo, status: "handedOver", confirmed };
}

function continued(story: Story, run: RunStory, turn: TurnStory): Attempt {
  const failedAt = run.notTaken && run.to < turn.to ? run.to : NEVER;
  const confirmed = story.hasActed(run.sessionId, run.from, Math.min(run.to, turn.to));
  const status = failedAt < NEVER ? "failed" : "handedOver";
  const { from: at, to: runTo } = run;
  return { road: "continued", at, entry: run.began, verdictAt: at, failedAt, runTo, status, confirmed };
}

/** A verdict counts until `cancelGraceMs` after the run, or after the cancel; one that is missing then counts as `accepted`. */
function injected(story: Story, entry: OfKind<"injected">, turn: TurnStory): Attempt {
  const { at, messageId } = entry;
  const isLater = (other: OfKind<"verdict" | "reported">): boolean => other.messageId === messageId && other.at > at;
  const verdict = story.of("verdict").find(isLater);
  const report = story.of("reported").find((other) => isLater(other) && other.at < turn.to);
  const run = story.runAtPlace(entry.sessionId, at);
  const deadline = Math.min(run?.ended?.now ?? NEVER, turn.cancelled?.entry.now ?? NEVER) + GRACE_MS;
  const overdueAt = Math.min(
    story.entries.find((other) => other.at > at && other.now >= deadline)?.at ?? NEVER,
    turn.to,
  );
  const attempt = { road: "injected", at, entry, failedAt: NEVER, runTo: run?.to ?? NEVER } as const;
  if (!verdict || verdict.at > overdueAt) {
    const isOpen = report?.report === "undelivered" || verdict?.now === deadline;
    const confirmed = report || verdict ? undefined : false;
    return { ...attempt, verdictAt: overdueAt, status: isOpen ? "either" : "handedOver", confirmed };
  }
  return { ...attempt, verdictAt: verdict.at, ...judged(verdict, report, attempt.runTo) };
}

type Judgement = Pick<Attempt, "status" | "confirmed"> & Partial<Pick<Attempt, "failedAt">>;

function judged(verdict: OfKind<"verdict">, report: OfKind<"reported"> | undefined, runTo: number): Judgement {
  const isTold = report?.report === "delivered" && report.at < verdict.at;
  if (isTold || verdict.verdict === "delivered") return { status: "handedOver", confirmed: true };
  if (verdict.verdict !== "accepted") return { status: "failed", failedAt: verdict.at, confirmed: false };
  if (!report) return { status: "handedOver", confirmed: false };
  const isInTime = report.at < runTo;
  if (report.report === "delivered") return { status: "handedOver", confirmed: isInTime || undefined };
  if (!isInTime) return { status: "either", confirmed: undefined };
  return { status: "failed", failedAt: Math.max(verdict.at, report.at), confirmed: false };
}
