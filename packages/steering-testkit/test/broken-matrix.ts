import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { BOUNDARY_CASES, CASES, type Case, startModelBehind } from "../src/cases/index.js";
import { playTogether, surveyRig } from "../src/conformance/in-process.js";
import type { MakeRig } from "../src/conformance/rig.js";
import { type BrokenAgent, breakAgent } from "../src/reference/broken/broken-agent.js";
import { type AskModel, chatModel } from "../src/reference/chat-model.js";
import { DRIVER_SUPPORTS } from "../src/reference/driver-agent.js";
import { REQUIREMENTS, type RequirementId } from "../src/requirements/requirements.js";

const TIERS = new Map(REQUIREMENTS.map(({ id, tier }) => [id, tier]));

/** What was found, by requirement; those that hold are not in it. */
type Failures = Partial<Record<RequirementId, readonly string[]>>;

/** Plays all cases of the tier of the requirement that it breaks; gives those that fail, and with what. */
async function failuresOf(broken: BrokenAgent): Promise<Failures> {
  const behind = await startModelBehind();
  const cwd = await mkdtemp(join(tmpdir(), "broken-agent-"));
  const isDriven = broken.requirement === "driver.boundary";
  const makeRig: MakeRig = () => {
    let asked = 0;
    const model = chatModel({ modelUrl: behind.model.url });
    const askModel: AskModel = (question) => {
      asked += 1;
      return model(question);
    };
    const agent = breakAgent(broken, isDriven ? "driver" : "inbox", askModel);
    return { agent, behind, cwd, activity: () => asked, ...(isDriven && { supports: DRIVER_SUPPORTS }) };
  };
  try {
    const unmet = await surveyRig(makeRig);
    const failures: Failures = {};
    const isOfTier = ({ requirement }: Case): boolean => TIERS.get(requirement) === TIERS.get(broken.requirement);
    for (const together of [...CASES.map((one) => [one]), BOUNDARY_CASES]) {
      const cases = together.filter(isOfTier);
      const findings = await playTogether(cases, makeRig, unmet);
      for (const [index, { requirement, title }] of cases.entries()) {
        const finding = findings[index];
        const problems = finding !== undefined && "problems" in finding ? finding.problems : [];
        if (problems.length === 0) continue;
        failures[requirement] = [...(failures[requirement] ?? []), ...problems.map((what) => `${title}: ${what}`)];
      }
    }
    return failures;
  } finally {
    await behind.close();
    await rm(cwd, { recursive: true, force: true });
  }
}

/** One test for each of them; several at a time, since a case mostly waits. */
export function testMatrix(agents: readonly BrokenAgent[]): void {
  for (const broken of agents) {
    const { requirement, what } = broken;
    const title = `an agent that ${what} fails ${requirement}, and nothing else of its tier`;
    test.concurrent(title, { timeout: 120_000 }, async () => {
      const failures = await failuresOf(broken);
      expect(Object.keys(failures), JSON.stringify(failures, null, 2)).toEqual([requirement]);
    });
  }
}
