import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { UsageError } from "@acp-steering/kit/adapter";
import { describe, expect, test } from "vitest";
import { HELP, readCommandLine } from "../src/command-line.js";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

function start(...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe("the command line", () => {
  test("takes the interpreter and the home of Hermes", () => {
    expect(readCommandLine(["--python", "p", "--hermes-home", "h"])).toEqual({ python: "p", hermesHome: "h" });
    expect(readCommandLine([])).toEqual({});
    expect(readCommandLine(["--help"])).toEqual({ show: "help" });
    expect(readCommandLine(["-v"])).toEqual({ show: "version" });
  });

  test.each([[["--wrong"]], [["extra"]], [["--python"]]])("says what is wrong with %j", (args) => {
    expect(() => readCommandLine(args)).toThrow(UsageError);
  });

  test("--help and --version answer on stdout and end with 0", async () => {
    expect(await start("--help")).toEqual({ code: 0, stdout: HELP, stderr: "" });
    expect(await start("--version")).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });

  test("a wrong command line ends with 2 and a line on stderr, with nothing on stdout", async () => {
    const wrong = await start("--dialect", "klingon");
    expect(wrong).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("See hermes-steering-acp --help"),
    });
  });
});
