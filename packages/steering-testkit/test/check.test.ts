import { writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { check } from "../src/check/check.js";
import { CheckError, type CheckOptions } from "../src/check/check-options.js";
import type { CheckEvent, CheckReport, RequirementReport } from "../src/check/check-report.js";
import { temporaryFolder } from "./temporary-folder.js";

const AGENT = fileURLToPath(new URL("fixtures/steered-agent.mjs", import.meta.url));
const LIMITS = { startMs: 20_000, silenceMs: 2_000, caseMs: 20_000 };

const checkAgent = (args: readonly string[], options: Partial<CheckOptions> = {}): Promise<CheckReport> =>
  check({
    command: process.execPath,
    args: [AGENT, ...args],
    modelServer: "openai-chat",
    trials: 12,
    limits: LIMITS,
    ...options,
  });

const of = ({ requirements }: CheckReport, id: string): RequirementReport => {
  const found = requirements.find((requirement) => requirement.id === id);
  if (found === undefined) throw new Error(`${id} is not in the report`);
  return found;
};

describe("what is found out about an agent", () => {
  test("requirements, trials and figures; what is not asked for is left out", async () => {
    const report = await checkAgent([], { only: ["advertised", "G1.running", "G1.boundary", "hold.allowed"] });
    expect(report.requirements.map(({ id, verdict }) => [id, verdict])).toEqual([
      ["advertised", "pass"],
      ["G1.running", "pass"],
      ["G1.boundary", "pass"],
      ["hold.allowed", "notApplicable"],
    ]);
    expect(of(report, "hold.allowed").reason).toBe("the agent did not ask before it ran a command");
    expect(report.boundary).toMatchObject({ trials: 12, lost: 0, duplicated: 0, leaked: 0 });
    expect(report).toMatchObject({ version: 1, conformant: true, modelServer: "openai-chat" });
  });

  test("a request without tools before the first with some is a side request", async () => {
    const report = await checkAgent(["--title"], { only: ["G1.tool", "hold.allowed"], trials: 0 });
    expect(of(report, "G1.tool").verdict).not.toBe("notApplicable");
    expect(of(report, "hold.allowed").reason).toBe("the agent did not ask before it ran a command");
  });

  test("the wire of a failure, with what the model was asked meanwhile", async () => {
    const report = await checkAgent(["--dies-at", "1"], { only: ["G1.running"], trials: 0 });
    const [failed] = of(report, "G1.running").cases.filter(({ verdict }) => verdict === "fail");
    expect(failed?.problems.join()).toMatch(/ended with exit code 4/);
    expect(failed?.transcript?.map(({ direction }) => direction)).toContain("model");
    expect(failed?.transcript?.at(-1)?.raw).toContain("_session/steering");
  });

  test("events tell of the agent, of each case and trial, and of the end", async () => {
    const events: CheckEvent[] = [];
    await checkAgent([], { only: ["advertised", "G1.boundary"], trials: 2, onEvent: (event) => events.push(event) });
    const types = events.map(({ type }) => type);
    expect(types[0]).toBe("agent");
    expect(types.at(-1)).toBe("done");
    expect(types.filter((type) => type === "trial")).toHaveLength(2);
    expect(types.filter((type) => type === "case").length).toBeGreaterThan(0);
  });

  test("it works in an empty folder of its own, which is gone afterwards", async () => {
    const folder = await temporaryFolder();
    const before = process.env["TMPDIR"];
    process.env["TMPDIR"] = folder;
    onTestFinished(() => {
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
    });
    await checkAgent([], { only: ["advertised"], trials: 0 });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("G8 containment: an agent that goes wrong in the trials", () => {
  test("one that dies now and then is started again, and its trials are told", async () => {
    const report = await checkAgent(["--dies-at", "2"], { only: ["G1.boundary", "G4.prompt"] });
    const { trials, brokenOff, promptsUnanswered } = report.boundary ?? {};
    expect([trials, brokenOff]).toEqual([12, promptsUnanswered]);
    expect(brokenOff).toBeGreaterThan(0);
    expect(of(report, "G1.boundary").figure).toContain(`${brokenOff} trials broke off`);
    expect(of(report, "G4.prompt").verdict).toBe("fail");
  });

  test("one that dies every time is given up after three in a row", async () => {
    const file = join(await temporaryFolder(), "now");
    const onEvent = ({ type }: CheckEvent): void => {
      if (type === "trial") writeFileSync(file, "");
    };
    const report = await checkAgent(["--dies-when", file], { only: ["G1.boundary", "G4.prompt"], onEvent });
    expect(report.boundary).toMatchObject({ trials: 3, brokenOff: 3, promptsUnanswered: 3 });
    expect(of(report, "G1.boundary")).toMatchObject({
      verdict: "notApplicable",
      reason: expect.stringMatching(/every trial broke off: .*exit code 4/),
    });
    expect(of(report, "G4.prompt").verdict).toBe("fail");
  });

  test("one that owes an answer fails by it", async () => {
    const report = await checkAgent(["--hangs-at", "3"], { only: ["G4.steer"], limits: { ...LIMITS, silenceMs: 500 } });
    const problems = of(report, "G4.steer").cases.flatMap((report) => report.problems);
    expect(problems.join("\n")).toMatch(
      /trial \d+: nothing happened for 0\.5 s while waiting for the answer to a steer/,
    );
  });
});

describe("what cannot be checked", () => {
  test("an agent that does not ask the model server", async () => {
    const checking = checkAgent([], { env: { OPENAI_BASE_URL: "http://127.0.0.1:9" } });
    await expect(checking).rejects.toMatchObject({ code: "noModel", message: expect.stringContaining("{model-url}") });
  });

  test("one that is interrupted", async () => {
    const controller = new AbortController();
    const checking = checkAgent([], { signal: controller.signal, onEvent: () => controller.abort() });
    await expect(checking).rejects.toSatisfy((error) => error instanceof CheckError && error.code === "interrupted");
  });

  test("one that is interrupted before it began", async () => {
    const checking = checkAgent([], { signal: AbortSignal.abort() });
    await expect(checking).rejects.toMatchObject({ code: "interrupted" });
  });

  test.each([[{ trials: -1 }], [{ trials: 1.5 }], [{ only: ["nonsense"] }], [{ cwd: "/no/such/folder" }]])(
    "options without sense: %j",
    async (options) => {
      await expect(checkAgent([], options)).rejects.toMatchObject({ code: "setup" });
    },
  );
});
