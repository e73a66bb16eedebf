import { UsageError } from "@acp-steering/kit/adapter";
import { describe, expect, test } from "vitest";
import { HELP, readCommandLine } from "../src/command-line.js";
import { piRpc } from "../src/dialects/pi-rpc.js";
import { spawnAdapter } from "./stage.js";

describe("the command line", () => {
  test("takes the agent's command after --, its options untouched", async () => {
    const args = ["--dialect", "pi-rpc", "--log-content", "--", "pi", "--mode", "rpc", "--help"];
    expect(await readCommandLine(args)).toEqual({
      dialect: piRpc,
      command: ["pi", "--mode", "rpc", "--help"],
      logContent: true,
      startTimeoutMs: 60_000,
    });
  });

  test.each([
    [[], /command after --/],
    [["--dialect", "pi-rpc"], /command after --/],
    [["--", "pi"], /--dialect.*pi-rpc/],
    [["--dialect", "klingon", "--", "pi"], /no dialect "klingon".*pi-rpc, steer-jsonl.*\.\/my-dialect\.mjs/],
    [["--dialect", "pi-rpc", "--start-timeout", "soon", "--", "pi"], /number of seconds up to 86400, not "soon"/],
    [["--dialect", "pi-rpc", "--start-timeout", "99999999", "--", "pi"], /up to 86400, not "99999999"/],
    [["--wrong", "--", "pi"], /--wrong/],
  ])("says what is wrong with %j", async (args, message) => {
    await expect(readCommandLine(args)).rejects.toBeInstanceOf(UsageError);
    await expect(readCommandLine(args)).rejects.toThrow(message);
  });

  test("--help and --version answer on stdout and end with 0", async () => {
    const help = await spawnAdapter(["--help"]);
    expect(await help.exited).toEqual({ code: 0, signal: null });
    expect(help.log.map(({ raw }) => raw).join("\n")).toBe(HELP.trimEnd());
    const version = await spawnAdapter(["--version"]);
    await version.exited;
    expect(version.log.map(({ raw }) => raw)).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)]);
  });

  test("a wrong command line ends with 2 and a line on stderr, with nothing on stdout", async () => {
    const client = await spawnAdapter(["--dialect", "klingon", "--", "pi"]);
    expect(await client.exited).toEqual({ code: 2, signal: null });
    expect(client.log).toEqual([]);
    expect(client.stderr).toContain('There is no dialect "klingon"');
  });
});
