import type { Requirement } from "../requirements/requirement.js";
import { REQUIREMENTS } from "../requirements/requirements.js";
import type { PlayedTrials } from "./boundary/play-trials.js";
import { findingsOf } from "./boundary/tally.js";
import type { CaseReport, CheckReport, RequirementReport, TranscriptLine, Verdict } from "./check-report.js";

const MAX_TRANSCRIPTS = 10;

/** Of a requirement that only informs nothing can fail: where a case of it does, there is nothing to report. */
export function asInformation(report: CaseReport): CaseReport {
  const tier = REQUIREMENTS.find(({ id }) => id === report.requirement)?.tier;
  if (tier !== "informs" || report.verdict !== "fail") return report;
  const { transcript: _, ...rest } = report;
  return { ...rest, verdict: "notApplicable", problems: [], reason: report.problems.join("; ") };
}

/** What every requirement comes to, in the order of the requirements; those without a case are left out. */
export function requirementReports(cases: readonly CaseReport[]): readonly RequirementReport[] {
  return (REQUIREMENTS as readonly Requirement[]).flatMap((requirement) => {
    const own = cases.filter((report) => report.requirement === requirement.id);
    return own.length === 0 ? [] : [requirementReport(requirement, own)];
  });
}

function requirementReport(requirement: Requirement, cases: readonly CaseReport[]): RequirementReport {
  const { id, holds, source, tier } = requirement;
  const verdict = verdictOf(cases.map((report) => report.verdict));
  const figure = joined(cases.map((report) => report.figure));
  const reason = joined(cases.map((report) => report.reason));
  return {
    id: id as RequirementReport["id"],
    holds,
    source,
    tier,
    verdict,
    ...(figure !== "" && { figure }),
    ...(verdict === "notApplicable" && { reason }),
    cases,
  };
}

function verdictOf(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.includes("fail")) return "fail";
  return verdicts.includes("pass") ? "pass" : "notApplicable";
}

const joined = (texts: readonly (string | undefined)[]): string =>
  [...new Set(texts.filter((text) => text !== undefined))].join("; ");

/** Whether every `must` that applies holds; one that was not looked at says nothing. */
export const isConformant = (requirements: CheckReport["requirements"]): boolean =>
  requirements.every(({ tier, verdict }) => tier !== "must" || verdict !== "fail");

/** What the trials show, as the report of one more case for each requirement that they speak for. */
export function trialReports(trials: PlayedTrials): readonly CaseReport[] {
  const { judged, broken } = trials;
  const count = judged.length + broken.length;
  return findingsOf(trials).map(({ requirement, problems, figure, failing }) => {
    const transcript = transcriptsOf(trials, failing);
    const isJudged = problems.length > 0 || judged.length > 0;
    return {
      requirement,
      title: `${count} timed trials`,
      verdict: problems.length > 0 ? "fail" : isJudged ? "pass" : "notApplicable",
      problems,
      figure,
      durationMs: Math.round(trials.durationMs),
      ...(problems.length > 0 && { transcript }),
      ...(!isJudged && { reason: `every trial broke off: ${broken[0]?.problem}` }),
    };
  });
}

function transcriptsOf({ transcripts }: PlayedTrials, failing: readonly number[]): readonly TranscriptLine[] {
  return failing.slice(0, MAX_TRANSCRIPTS).flatMap((number) => transcripts.get(number) ?? []);
}
