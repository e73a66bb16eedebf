import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { check } from "../src/check/check.js";
import { CheckError, type CheckOptions } from "../src/check/check-options.js";
import type { CheckReport } from "../src/check/check-report.js";
import { noneLeft } from "./processes.js";

const AGENT = fileURLToPath(new URL("fixtures/unruly-agent.mjs", import.meta.url));
const LIMITS = { startMs: 3_000, silenceMs: 1_000, caseMs: 4_000, output: 8_388_608 };
const MARK = "UNRULY_AGENT";

/** Plays a blind check against the agent, and sees to it that nothing of it is left. */
async function checkUnruly(
  how: string,
  when: "start" | "prompt",
  options: Partial<CheckOptions> = {},
): Promise<CheckReport> {
  const mark = randomUUID();
  try {
    return await check({
      command: process.execPath,
      args: [AGENT, "--how", how, "--when", when],
      env: { [MARK]: mark },
      only: ["advertised", "G4.prompt", "error.session"],
      limits: LIMITS,
      ...options,
    });
  } finally {
    await noneLeft(MARK, mark);
  }
}

const verdictsOf = ({ requirements }: CheckReport): Record<string, string> =>
  Object.fromEntries(requirements.map(({ id, verdict }) => [id, verdict]));

const problemsOf = ({ requirements }: CheckReport, id: string): string =>
  requirements
    .filter((requirement) => requirement.id === id)
    .flatMap(({ cases }) => cases.flatMap(({ problems }) => problems))
    .join("\n");

const failureOf = async (checking: Promise<CheckReport>): Promise<{ code: string; message: string }> => {
  const error = await checking.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CheckError);
  const { code, message } = error as CheckError;
  return { code, message };
};

describe("G8 containment: an agent that goes wrong from its start is told, and nothing of it is left", () => {
  test("it exits at once", async () => {
    const { code, message } = await failureOf(checkUnruly("exits", "start"));
    expect(code).toBe("agentFailed");
    expect(message).toMatch(/ended with exit code 3 before it answered initialize[\s\S]*no more disk/);
  });

  test("it exits at once and leaves a child that holds its pipes", async () => {
    expect((await failureOf(checkUnruly("leavesChild", "start"))).code).toBe("agentFailed");
  });

  test("it exits at once and leaves a process that has a session of its own", async () => {
    expect((await failureOf(checkUnruly("leavesDaemon", "start"))).code).toBe("agentFailed");
  });

  test("it closes its output and stays", async () => {
    const { code, message } = await failureOf(checkUnruly("closesStdout", "start"));
    expect(code).toBe("agentFailed");
    expect(message).toContain("did not answer initialize");
  });

  test("it writes a line without an end", async () => {
    const { code, message } = await failureOf(checkUnruly("writesHugeLine", "start"));
    expect(code).toBe("agentFailed");
    expect(message).toContain("wrote more than 8388608 characters");
  });

  test.each(["floodsStderr", "printsRubbish", "answersWrongIds", "ignoresSignals", "hangs"])(
    "it %s, and answers all the same",
    async (how) => {
      expect(verdictsOf(await checkUnruly(how, "start", { only: ["advertised", "error.session"] }))).toMatchObject({
        advertised: "pass",
      });
    },
  );
});

describe("G8 containment: an agent that goes wrong in a case fails it, and nothing of it is left", () => {
  test.each([
    ["exits", /ended with exit code 3[\s\S]*no more disk/],
    ["leavesChild", /ended with exit code 0/],
    ["leavesDaemon", /ended with exit code 0/],
    ["hangs", /nothing happened for 1 s while waiting for .*; not answered: session\/prompt/],
    ["ignoresSignals", /nothing happened for 1 s/],
    ["floodsStdout", /wrote more than 8388608 characters/],
    ["writesHugeLine", /wrote more than 8388608 characters/],
    ["closesStdout", /nothing happened for 1 s/],
  ])("it %s", async (how, problem) => {
    const report = await checkUnruly(how, "prompt");
    expect(verdictsOf(report)).toMatchObject({ advertised: "pass", "G4.prompt": "fail" });
    expect(problemsOf(report, "G4.prompt")).toMatch(problem);
    expect(report.conformant).toBe(false);
  });

  test.each(["floodsStderr", "printsRubbish", "answersWrongIds"])("it %s, which harms nobody", async (how) => {
    expect(verdictsOf(await checkUnruly(how, "prompt"))).toMatchObject({ advertised: "pass", "G4.prompt": "pass" });
  });
});
