import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { UsageError } from "@acp-steering/kit/adapter";
import { describe, expect, test } from "vitest";
import { HELP, readCommandLine } from "../src/command-line.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

function run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  if (!existsSync(CLI)) throw new Error("The adapter is not built. Run `npm run build` first.");
  return spawnSync(process.execPath, [CLI, ...args], { encoding: "utf8" });
}

describe("the command line", () => {
  test("takes where Kimi is, or nothing", () => {
    expect(readCommandLine([])).toEqual({ serve: { startTimeoutMs: 60_000 } });
    expect(readCommandLine(["--kimi", "k", "--node", "n", "--home", "h", "--start-timeout", "5"])).toEqual({
      serve: { kimi: "k", node: "n", home: "h", startTimeoutMs: 5_000 },
    });
    expect(readCommandLine(["--login", "--home", "h"])).toEqual({ login: { home: "h", startTimeoutMs: 60_000 } });
  });

  test.each([
    [["--start-timeout", "soon"], /number of seconds up to 86400, not "soon"/],
    [["--start-timeout", "99999999"], /up to 86400/],
    [["--wrong"], /--wrong/],
    [["word"], /word/],
  ])("says what is wrong with %j", (args, message) => {
    expect(() => readCommandLine(args)).toThrow(UsageError);
    expect(() => readCommandLine(args)).toThrow(message);
  });

  test("--help and --version answer on stdout and end with 0", () => {
    expect(run("--help")).toMatchObject({ status: 0, stdout: HELP, stderr: "" });
    expect(run("--version")).toMatchObject({ status: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test("a wrong command line ends with 2 and lines on stderr, with nothing on stdout", () => {
    expect(run("--wrong")).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining("--help") });
  });

  test("--login without Kimi says what to install", () => {
    expect(run("--login", "--kimi", "no-such-kimi")).toMatchObject({
      status: 1,
      stdout: "",
      stderr: expect.stringMatching(/Cannot find Kimi Code.*npm install -g @moonshot-ai\/kimi-code/),
    });
  });
});
