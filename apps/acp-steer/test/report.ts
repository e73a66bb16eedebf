import type { CaseReport, CheckReport, RequirementReport } from "@acp-steering/testkit";

/** A case of a made-up report. */
export const caseReport = (changes: Partial<CaseReport> = {}): CaseReport => ({
  requirement: "G1.running",
  title: "while the model speaks",
  verdict: "pass",
  problems: [],
  durationMs: 1_234,
  ...changes,
});

/** A requirement of a made-up report. */
export const requirementReport = (changes: Partial<RequirementReport> = {}): RequirementReport => ({
  id: "G1.running",
  holds: "It holds.",
  source: "contract §3",
  tier: "must",
  verdict: "pass",
  cases: [caseReport()],
  ...changes,
});

/** A made-up report. */
export const checkReport = (
  requirements: readonly RequirementReport[],
  changes: Partial<CheckReport> = {},
): CheckReport => ({
  version: 1,
  agent: { command: ["some-agent", "--acp"], name: "some-agent", version: "1.2.3" },
  modelServer: "openai-chat",
  startedAt: "2026-01-01T00:00:00.000Z",
  durationMs: 61_000,
  conformant: requirements.every(({ tier, verdict }) => tier !== "must" || verdict !== "fail"),
  requirements,
  ...changes,
});
