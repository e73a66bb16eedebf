import type { DialectName } from "../model-server/index.js";
import type { Tier } from "../requirements/requirement.js";
import type { RequirementId } from "../requirements/requirements.js";
import type { BoundaryFigures } from "./boundary/figures.js";

/** What came of a requirement, or of one case: `notApplicable` where there was nothing to judge. */
export type Verdict = "pass" | "fail" | "notApplicable";

/** One line on the wire, or one request to the model (`model`, with the new texts in it). */
export interface TranscriptLine {
  /** Milliseconds since the case began. */
  readonly at: number;
  readonly direction: "out" | "in" | "model";
  /** As it stood on the wire; a very long line is cut, and says so. */
  readonly raw: string;
}

/** What one case showed. */
export interface CaseReport {
  readonly requirement: RequirementId;
  readonly title: string;
  readonly verdict: Verdict;
  /** What was wrong, a sentence each. */
  readonly problems: readonly string[];
  readonly figure?: string;
  /** Why it does not apply. */
  readonly reason?: string;
  readonly durationMs: number;
  /** Of a failure: the wire from the case's beginning to its end. */
  readonly transcript?: readonly TranscriptLine[];
}

/** What became of one requirement, with the cases that show it. */
export interface RequirementReport {
  readonly id: RequirementId;
  readonly holds: string;
  readonly source: string;
  readonly tier: Tier;
  readonly verdict: Verdict;
  /** What was measured. */
  readonly figure?: string;
  /** Why it does not apply. */
  readonly reason?: string;
  readonly cases: readonly CaseReport[];
}

/** Who was checked. */
export interface CheckedAgent {
  readonly command: readonly string[];
  readonly name?: string;
  readonly version?: string;
  /** `_meta.steering` of its `initialize` result; missing where there is none. */
  readonly advertisement?: Readonly<Record<string, unknown>>;
}

/** Everything that a check found: pure data, the same in the library and in `acp-steer check --json`. */
export interface CheckReport {
  /** Of this form of the report. */
  readonly version: 1;
  readonly agent: CheckedAgent;
  /** The wire format of the model server, or `null` for a blind check. */
  readonly modelServer: DialectName | null;
  /** When it began, as an ISO date. */
  readonly startedAt: string;
  readonly durationMs: number;
  /** Whether every `must` that applies holds. */
  readonly conformant: boolean;
  readonly requirements: readonly RequirementReport[];
  /** What was counted at the end of turns; missing where no trials were run. */
  readonly boundary?: BoundaryFigures;
  /** The end of what the agent last wrote to stderr, where something failed. */
  readonly stderr?: string;
}

/** What happens during a check, as it happens. */
export type CheckEvent =
  | { readonly type: "agent"; readonly agent: CheckedAgent }
  | {
      readonly type: "case";
      readonly requirement: RequirementId;
      readonly title: string;
      /** From 1. */
      readonly number: number;
      readonly of: number;
    }
  | { readonly type: "caseDone"; readonly report: CaseReport }
  | { readonly type: "trial"; readonly number: number; readonly of: number }
  | { readonly type: "done"; readonly report: CheckReport };
