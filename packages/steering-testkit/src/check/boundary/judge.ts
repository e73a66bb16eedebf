import { METHOD } from "@acp-steering/core/protocol";
import { showsWork } from "../../cases/play.js";
import type { RequestId, WireRecord } from "../../wire-record.js";
import { MODEL_WORDS, type Trial } from "./trial.js";

/** A request to the model, with its place among the messages on the wire. */
export interface Sighting {
  /** How many messages the client had in its log when the request arrived. */
  readonly order: number;
  /** What the user said and what tools gave. */
  readonly text: string;
}

/** All trials that one session saw, in order, and what was seen meanwhile. */
export interface SessionRecord {
  readonly sessionId: string;
  readonly trials: readonly Trial[];
  readonly log: readonly WireRecord[];
  readonly sightings: readonly Sighting[];
}

/** When the model first saw a steer: before its owner's answer, after it, in a later turn. */
type Seen = "inTurn" | "late" | "later" | "never";

/** What became of one trial. */
export interface JudgedTrial extends Trial {
  readonly answer: "injected" | "promptRequired" | "other";
  readonly seen: Seen;
  /** In how many places of one request the steer stood, at the most. */
  readonly copies: number;
  readonly promptAnswers: number;
  readonly steerAnswers: number;
  /** Updates that show work of the turn after the owner's answer. */
  readonly followUps: number;
  readonly answeredAfterOwner: boolean;
}

/** Judges every trial of a session by the whole of what was seen in it. */
export function judgeTrials(record: SessionRecord): readonly JudgedTrial[] {
  return record.trials.map((trial, index) => judge(trial, record.trials[index + 1], record));
}

function judge(trial: Trial, next: Trial | undefined, { sessionId, log, sightings }: SessionRecord): JudgedTrial {
  const promptAnswers = answersTo(log, trial.promptId);
  const steerAnswers = answersTo(log, trial.steerId);
  const ownerOrder = promptAnswers[0]?.order ?? Number.POSITIVE_INFINITY;
  const nextPrompt = nextPromptAfter(log, trial, next);
  const nextAsked = sightings.find(({ order }) => order > nextPrompt)?.order ?? Number.POSITIVE_INFINITY;
  const answer = outcomeOf(steerAnswers[0]);
  return {
    ...trial,
    answer,
    seen: seenWhen(trial, sightings, ownerOrder, nextPrompt),
    copies: Math.max(0, ...sightings.map(({ text }) => text.split(trial.steerMark).length - 1)),
    promptAnswers: promptAnswers.length,
    steerAnswers: steerAnswers.length,
    followUps: log.filter(
      (record) =>
        record.order > ownerOrder &&
        record.order < nextAsked &&
        isWork(record, sessionId) &&
        (record.order < nextPrompt || isOfModel(record)),
    ).length,
    answeredAfterOwner: answer === "injected" && (steerAnswers[0]?.order ?? 0) > ownerOrder,
  };
}

function seenWhen(trial: Trial, sightings: readonly Sighting[], ownerOrder: number, nextPrompt: number): Seen {
  const first = sightings.find(({ text }) => text.includes(trial.steerMark));
  if (first === undefined) return "never";
  if (first.order <= ownerOrder) return "inTurn";
  return first.order <= nextPrompt ? "late" : "later";
}

/** The prompt of the next trial, or the one that closes the session. */
function nextPromptAfter(log: readonly WireRecord[], { promptOrder }: Trial, next: Trial | undefined): number {
  if (next !== undefined) return next.promptOrder;
  const isPrompt = ({ direction, message }: WireRecord): boolean =>
    direction === "out" && message?.method === METHOD.prompt;
  return log.find((record) => record.order > promptOrder && isPrompt(record))?.order ?? Number.POSITIVE_INFINITY;
}

const answersTo = (log: readonly WireRecord[], id: RequestId): readonly WireRecord[] =>
  log.filter(({ direction, message }) => direction === "in" && message?.id === id && message.method === undefined);

// An echo of what the user said is no work of the agent.
const isWork = (record: WireRecord, sessionId: string): boolean =>
  showsWork(record, sessionId) && !record.raw.includes("user_message_chunk");

/** Behind the next prompt an agent may have words of its own; the model's can only be of the turn before. */
const isOfModel = ({ raw }: WireRecord): boolean => MODEL_WORDS.some((words) => raw.includes(words));

function outcomeOf(record: WireRecord | undefined): JudgedTrial["answer"] {
  const outcome = (record?.message?.result as { outcome?: unknown } | null | undefined)?.outcome;
  return outcome === "injected" || outcome === "promptRequired" ? outcome : "other";
}
