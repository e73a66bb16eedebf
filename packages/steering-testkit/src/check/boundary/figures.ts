/** What was counted in all trials at the end of a turn; times in milliseconds from the model's last byte. */
export interface BoundaryFigures {
  readonly trials: number;
  /** Trials that could not be played to their end: nothing of them is counted below but what was not answered. */
  readonly brokenOff: number;
  /** How the steers were answered; `other` are errors and other outcomes. */
  readonly injected: number;
  readonly promptRequired: number;
  readonly other: number;
  /** Of the injected: seen by the model before the owner's answer. */
  readonly inTurn: number;
  /** … after it, and before the next prompt. */
  readonly late: number;
  /** … not before a later turn. */
  readonly leaked: number;
  /** … never. */
  readonly lost: number;
  /** Seen twice or more in one request. */
  readonly duplicated: number;
  /** Answered `promptRequired` and seen by the model all the same. */
  readonly consumed: number;
  readonly steersAnsweredTwice: number;
  readonly steersUnanswered: number;
  readonly promptsAnsweredTwice: number;
  readonly promptsUnanswered: number;
  /** Turns of which something followed after their owner's answer. */
  readonly followedUp: number;
  /** Steers whose `injected` came only after their owner's answer. */
  readonly answeredAfterOwner: number;
  readonly latestInjectedMs: number | null;
  readonly earliestPromptRequiredMs: number | null;
  /** From the writing of a steer to its answer. */
  readonly answerMedianMs: number | null;
  readonly answerMaxMs: number | null;
  readonly durationMs: number;
}
