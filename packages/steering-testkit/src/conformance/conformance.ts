import { BOUNDARY_CASES } from "../cases/boundary.js";
import type { Case, Finding } from "../cases/case.js";
import { CASES } from "../cases/cases.js";
import { REQUIREMENTS, type RequirementId } from "../requirements/requirements.js";
import { Players, surveyRig } from "./in-process.js";
import type { MakeRig } from "./rig.js";

/** What is used of a test runner: vitest, jest, and `node:test` with an `expect` have it. */
export interface Runner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>, timeoutMs: number) => unknown;
  readonly expect: (actual: unknown) => { toEqual(expected: unknown): unknown };
}

/** Requirements by id, each with the reason. */
export type Exceptions = Readonly<Partial<Record<RequirementId, string>>>;

/** What is not as it should be, and known to be so. */
export interface ConformanceOptions {
  /** Does not hold yet. Its test fails as soon as it does. */
  readonly knownFailures?: Exceptions;
  /** Is not looked at. */
  readonly optOut?: Exceptions;
}

/** What became of one case. */
export interface Outcome {
  readonly requirement: RequirementId;
  readonly title: string;
  readonly finding: Finding;
}

const ALL: readonly Case[] = [...CASES, ...BOUNDARY_CASES];
const TIMEOUT_MS = 120_000;

/**
 * Proves an agent in this process: one test for each case of each requirement. A case that found
 * nothing wrong leaves its agent and its session to the next one, unless that needs new ones.
 *
 * The cases read what arrived behind the agent, so that it cannot vouch for itself; what its driver `supports` and what
 * it advertises selects what applies. There is no sleep and no clock: a case goes on when something has happened, and
 * one that hangs ends after ten seconds without a sign of life, with what it waited for.
 *
 * Known limits: what comes after a long silence of an agent in another process is not seen; times are the matter of
 * `acp-steer check`. Cases that do not apply pass; the result says which.
 *
 * @param runner `describe`, `it` and `expect` of the test runner
 * @param makeRig gives an agent and what stands behind it; called whenever a new agent is needed. {@link modelServerRig} makes one
 * @param options requirements that are known not to hold, or that are left out
 * @returns what became of the cases, filled while the tests run
 * @throws Error at once for an id that there is not, and for one without a reason
 * @example
 * ```ts
 * import { conformance, modelServerRig } from "@acp-steering/testkit";
 * import { describe, expect, it } from "vitest";
 *
 * conformance({ describe, it, expect }, modelServerRig({ start: ({ modelUrl }) => myAgent(modelUrl) }));
 * ```
 */
export function conformance(
  { describe, it, expect }: Runner,
  makeRig: MakeRig,
  { knownFailures = {}, optOut = {} }: ConformanceOptions = {},
): readonly Outcome[] {
  checkExceptions({ knownFailures, optOut });
  const outcomes: Outcome[] = [];
  const gather = once(async () => new Players(makeRig, await surveyRig(makeRig)));
  const findBoundary = once(async () => (await gather()).play(BOUNDARY_CASES));
  const find = async (played: Case): Promise<Finding> => {
    const index = BOUNDARY_CASES.indexOf(played);
    const [finding] = index < 0 ? await (await gather()).play([played]) : (await findBoundary()).slice(index);
    return finding as Finding;
  };
  const play = async (played: Case): Promise<readonly string[]> => {
    const finding = await find(played);
    outcomes.push({ requirement: played.requirement, title: played.title, finding });
    return "problems" in finding ? finding.problems : [];
  };

  for (const { id, holds } of REQUIREMENTS) {
    if (optOut[id] !== undefined) continue;
    const cases = ALL.filter(({ requirement }) => requirement === id);
    const reason = knownFailures[id];
    describe(`${id}: ${holds}`, () => {
      if (reason !== undefined) it(`known failure: ${reason}`, () => expectFailure(expect, cases, play), TIMEOUT_MS);
      else
        for (const played of cases)
          it(played.title, async () => void expect(await play(played)).toEqual([]), TIMEOUT_MS);
    });
  }
  it("the agent ends with its connection", async () => (await gather()).close(), TIMEOUT_MS);
  return outcomes;
}

async function expectFailure(
  expect: Runner["expect"],
  cases: readonly Case[],
  play: (played: Case) => Promise<readonly string[]>,
): Promise<void> {
  const problems: string[] = [];
  for (const played of cases) problems.push(...(await play(played)));
  expect(problems.length > 0 ? "it fails" : "it holds: take it out of knownFailures").toEqual("it fails");
}

function checkExceptions(options: Required<ConformanceOptions>): void {
  for (const [option, exceptions] of Object.entries(options)) {
    for (const [id, reason] of Object.entries(exceptions)) {
      if (!REQUIREMENTS.some((requirement) => requirement.id === id))
        throw new Error(`conformance: ${option} names "${id}", which is no requirement. See REQUIREMENTS for the ids.`);
      if (typeof reason !== "string" || reason.trim() === "")
        throw new Error(`conformance: ${option} gives no reason for "${id}". Say why in a few words.`);
    }
  }
}

function once<Value>(find: () => Promise<Value>): () => Promise<Value> {
  let found: Promise<Value> | undefined;
  return () => {
    found ??= find();
    return found;
  };
}
