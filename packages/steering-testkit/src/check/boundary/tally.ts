import type { RequirementId } from "../../requirements/requirements.js";
import type { BoundaryFigures } from "./figures.js";
import type { JudgedTrial } from "./judge.js";

/** A trial that could not be played to its end. */
export interface BrokenTrial {
  readonly number: number;
  readonly problem: string;
  /** Of its two requests, which the agent owed an answer when it was given up. */
  readonly promptUnanswered: boolean;
  readonly steerUnanswered: boolean;
}

/** Everything that came of the trials. */
export interface TrialsResult {
  readonly judged: readonly JudgedTrial[];
  readonly broken: readonly BrokenTrial[];
  readonly durationMs: number;
}

/** What all trials show of one requirement. */
export interface TrialsFinding {
  readonly requirement: RequirementId;
  readonly problems: readonly string[];
  readonly figure: string;
  /** The numbers of the trials that the problems are about. */
  readonly failing: readonly number[];
}

type Fault = (trial: JudgedTrial) => string | false;

const isInjected = ({ answer }: JudgedTrial): boolean => answer === "injected";

/** Each fault belongs to one requirement, so that none fails because of another. */
const FAULTS: readonly (readonly [RequirementId, Fault])[] = [
  ["G1.boundary", (trial) => isLost(trial) && "answered `injected`, and the model never saw it"],
  ["G2.once", ({ copies }) => copies > 1 && `the model saw it ${copies} times in one request`],
  ["G4.prompt", ({ promptAnswers }) => promptAnswers > 1 && `the prompt was answered ${promptAnswers} times`],
  ["G4.steer", ({ steerAnswers }) => steerAnswers > 1 && `the steer was answered ${steerAnswers} times`],
  ["G4.last", (trial) => isLate(trial) && "the model was asked about it after the owner's answer"],
  ["G4.last", ({ followUps }) => followUps > 0 && `${followUps} updates followed the owner's answer`],
  ["G5.nothing", (trial) => isConsumed(trial) && "answered `promptRequired`, and the model saw it all the same"],
  ["G7.turn", (trial) => isLeaked(trial) && "answered `injected`, and the model saw it in a later turn only"],
];

/** What trials speak for, beside the cases. */
export const JUDGED_BY_TRIALS: readonly RequirementId[] = [...new Set(FAULTS.map(([requirement]) => requirement))];

const isLost = (trial: JudgedTrial): boolean => isInjected(trial) && trial.seen === "never";
const isLate = (trial: JudgedTrial): boolean => isInjected(trial) && trial.seen === "late";
const isLeaked = (trial: JudgedTrial): boolean => isInjected(trial) && trial.seen === "later";
const isConsumed = ({ answer, seen }: JudgedTrial): boolean => answer === "promptRequired" && seen !== "never";

/** Adds the trials up. */
export function figuresOf({ judged, broken, durationMs }: TrialsResult): BoundaryFigures {
  const count = (accepts: (trial: JudgedTrial) => boolean): number => judged.filter(accepts).length;
  const answered = (answer: JudgedTrial["answer"]): readonly JudgedTrial[] =>
    judged.filter((trial) => trial.answer === answer);
  const answerTimes = judged.map(({ answerMs }) => answerMs).sort((one, other) => one - other);
  return {
    trials: judged.length + broken.length,
    brokenOff: broken.length,
    injected: answered("injected").length,
    promptRequired: answered("promptRequired").length,
    other: answered("other").length,
    inTurn: count((trial) => isInjected(trial) && trial.seen === "inTurn"),
    late: count(isLate),
    leaked: count(isLeaked),
    lost: count(isLost),
    duplicated: count(({ copies }) => copies > 1),
    consumed: count(isConsumed),
    steersAnsweredTwice: count(({ steerAnswers }) => steerAnswers > 1),
    steersUnanswered: broken.filter(({ steerUnanswered }) => steerUnanswered).length,
    promptsAnsweredTwice: count(({ promptAnswers }) => promptAnswers > 1),
    promptsUnanswered: broken.filter(({ promptUnanswered }) => promptUnanswered).length,
    followedUp: count((trial) => trial.followUps > 0),
    answeredAfterOwner: count(({ answeredAfterOwner }) => answeredAfterOwner),
    latestInjectedMs: rounded(
      answered("injected").map(({ offset }) => offset),
      Math.max,
    ),
    earliestPromptRequiredMs: rounded(
      answered("promptRequired").map(({ offset }) => offset),
      Math.min,
    ),
    answerMedianMs: rounded(answerTimes.slice(Math.floor(answerTimes.length / 2)), Math.min),
    answerMaxMs: rounded(answerTimes, Math.max),
    durationMs: Math.round(durationMs),
  };
}

/** What the trials show of each requirement that they speak for. */
export function findingsOf(result: TrialsResult): readonly TrialsFinding[] {
  const figures = figuresOf(result);
  return JUDGED_BY_TRIALS.map((requirement) => {
    const faults = FAULTS.filter(([id]) => id === requirement).flatMap(([, fault]) => found(result.judged, fault));
    const broken = result.broken.filter((trial) => isOwed(requirement, trial));
    return {
      requirement,
      problems: [
        ...faults.map(({ text }) => text),
        ...broken.map(({ number, problem }) => `trial ${number}: ${problem}`),
      ],
      figure: figureOf(requirement, figures),
      failing: [...new Set([...faults, ...broken].map(({ number }) => number))],
    };
  });
}

function found(judged: readonly JudgedTrial[], fault: Fault): readonly { number: number; text: string }[] {
  return judged.flatMap((trial) => {
    const what = fault(trial);
    return what === false
      ? []
      : [{ number: trial.number, text: `trial ${trial.number} (${signed(trial.offset)}): ${what}` }];
  });
}

const isOwed = (requirement: RequirementId, { promptUnanswered, steerUnanswered }: BrokenTrial): boolean =>
  (requirement === "G4.prompt" && promptUnanswered) || (requirement === "G4.steer" && steerUnanswered);

function figureOf(requirement: RequirementId, figures: BoundaryFigures): string {
  const { trials, injected } = figures;
  switch (requirement) {
    case "G1.boundary":
      return boundaryText(figures);
    case "G2.once":
      return `${figures.duplicated} doubled in ${trials} trials`;
    case "G4.prompt":
      return `${trials} trials: ${figures.promptsAnsweredTwice} answered twice, ${figures.promptsUnanswered} never`;
    case "G4.steer":
      return `${trials} trials: ${figures.steersAnsweredTwice} answered twice, ${figures.steersUnanswered} never`;
    case "G4.last":
      return `${figures.late} asked late, ${figures.followedUp} followed by updates, in ${trials} trials`;
    case "G5.nothing":
      return `${figures.consumed} of ${figures.promptRequired} consumed`;
    default:
      return `${figures.leaked} of ${injected} injected leaked into a later turn`;
  }
}

function boundaryText({
  trials,
  brokenOff,
  injected,
  lost,
  inTurn,
  latestInjectedMs,
  earliestPromptRequiredMs,
}: BoundaryFigures): string {
  const more = [
    brokenOff === 0 ? "" : `${brokenOff} trials broke off`,
    latestInjectedMs === null ? "" : `latest injected ${signed(latestInjectedMs)}`,
    earliestPromptRequiredMs === null ? "" : `earliest promptRequired ${signed(earliestPromptRequiredMs)}`,
  ];
  const counts = `${lost} of ${injected} injected lost, ${inTurn} in their turn (${trials} trials)`;
  return [counts, ...more].filter((part) => part !== "").join("; ");
}

const signed = (milliseconds: number): string => `${milliseconds > 0 ? "+" : ""}${milliseconds.toFixed(1)} ms`;

function rounded(values: readonly number[], choose: (...values: number[]) => number): number | null {
  return values.length === 0 ? null : Math.round(choose(...values) * 10) / 10;
}
