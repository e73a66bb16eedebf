import { performance } from "node:perf_hooks";
import { type Case, type Finding, withNoted } from "../cases/case.js";
import type { OwnedStage } from "../cases/create-stage.js";
import type { Agent } from "./agent.js";
import type { CaseReport } from "./check-report.js";
import { keepSession, leaveSession, openStage, type Setting, within } from "./setting.js";
import type { Unmet } from "./survey.js";
import { transcriptOf } from "./transcript.js";

/** Plays one case with an agent that is as it should be, and leaves no trace of it behind. Never rejects. */
export async function playCase(item: Case, unmet: Unmet, setting: Setting): Promise<CaseReport> {
  const startedAt = performance.now();
  const { requirement, title } = item;
  const done = (rest: Pick<CaseReport, "verdict"> & Partial<CaseReport>): CaseReport => ({
    requirement,
    title,
    problems: [],
    durationMs: Math.round(performance.now() - startedAt),
    ...rest,
  });
  const missing = item.needs.map((need) => unmet.get(need)).find((why) => why !== undefined);
  if (missing !== undefined) return done({ verdict: "notApplicable", reason: missing });
  try {
    const agent = await setting.pool.acquire(item.wishes, item.fresh);
    return done(await playWith(agent, item, setting));
  } catch (error) {
    await setting.pool.retire();
    return done({ verdict: "fail", problems: [(error as Error).message] });
  }
}

type Outcome = Pick<CaseReport, "verdict" | "problems" | "reason" | "figure" | "transcript">;

async function playWith(agent: Agent, item: Case, setting: Setting): Promise<Outcome> {
  const { client } = agent;
  const from = client.log.length;
  const stage = await openStage(agent, setting, { isNew: item.newSession });
  const outcome = outcomeOf(await perform(item, stage, setting));
  setting.behind?.forget();
  const failed = outcome.verdict === "fail";
  const transcript = failed && transcriptOf(client.log.slice(from), setting.behind?.model.requests ?? [], Date.now());
  if (failed || item.fresh) await setting.pool.retire();
  else if (outcome.verdict === "pass") keepSession(agent, stage);
  else await leaveSession(agent, stage.sessionId, setting);
  return { ...outcome, ...(transcript && { transcript }) };
}

async function perform(item: Case, stage: OwnedStage, setting: Setting): Promise<Finding> {
  try {
    return withNoted(await within(stage, item.run(stage), setting), stage);
  } catch (error) {
    return withNoted({ problems: [(error as Error).message] }, stage);
  } finally {
    stage.giveUp();
  }
}

function outcomeOf(finding: Finding): Outcome {
  if ("notApplicable" in finding) return { verdict: "notApplicable", problems: [], reason: finding.notApplicable };
  const { problems, figure } = finding;
  return { verdict: problems.length === 0 ? "pass" : "fail", problems, ...(figure !== undefined && { figure }) };
}
