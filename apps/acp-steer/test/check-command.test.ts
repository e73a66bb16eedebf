import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckReport } from "@acp-steering/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { noneLeft } from "../../../packages/steering-testkit/test/processes.js";
import { fixture, referenceAgent, run, start } from "./command-line.js";

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "acp-steer-test-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const ONLY = ["--only", "G1.running", "--only", "error.session"];
const check = (...args: string[]): string[] => ["check", "--model-server", "openai-chat", ...args];

describe("exit codes and streams", () => {
  test("a conformant agent: 0, the table alone on stdout, progress on stderr, no colours in a pipe", async () => {
    const { code, stdout, stderr } = await run(check(...ONLY, "--", ...referenceAgent()));
    expect(stderr).toBe("Checking reference-agent 1.0.0\n");
    expect(stdout).toMatch(/^reference-agent 1\.0\.0\n/);
    expect(stdout).toMatch(/^ {2}PASS {2}G1\.running /m);
    expect(stdout).toMatch(/^ {2}PASS {2}error\.session /m);
    expect(stdout).toContain("Conformant (must: 2 PASS, 0 FAIL, 0 n/a");
    expect(stdout).not.toContain("\u001b");
    expect(code).toBe(0);
  });

  test("an agent that breaks a must: 1, with what was wrong, and its wire in the JSON", async () => {
    const folder = await temporaryFolder();
    const [json, junit] = [join(folder, "report.json"), join(folder, "report.xml")];
    const args = check(...ONLY, "--json", json, "--junit", junit, "--", ...referenceAgent("--broken", "error.session"));
    const { code, stdout, stderr } = await run(args);
    expect(stdout).toMatch(/^ {2}FAIL {2}error\.session .*\n {8}.+/m);
    expect(stderr).toMatch(/^FAIL error\.session/m);
    const report = JSON.parse(await readFile(json, "utf8")) as CheckReport;
    expect(report).toMatchObject({ version: 1, conformant: false, modelServer: "openai-chat" });
    const failed = report.requirements.flatMap(({ cases }) => cases).filter(({ verdict }) => verdict === "fail");
    expect(failed[0]?.transcript?.map(({ raw }) => raw).join("\n")).toContain("_session/steering");
    expect(await readFile(junit, "utf8")).toMatch(
      /<testcase classname="must\.error\.session"[^>]*>\s*<failure message="/,
    );
    expect(code).toBe(1);
  });

  test("a should that fails is reported and does not count: 0", async () => {
    const args = check("--only", "result.names", "--", ...referenceAgent("--broken", "result.names"));
    const { code, stdout } = await run(args);
    expect(stdout).toMatch(/^ {2}FAIL {2}result\.names/m);
    expect(code).toBe(0);
  });

  test("--json - : the report alone on stdout, the table on stderr", async () => {
    const { code, stdout, stderr } = await run(check(...ONLY, "--json", "-", "--", ...referenceAgent()));
    expect((JSON.parse(stdout) as CheckReport).conformant).toBe(true);
    expect(stderr).toContain("Conformant");
    expect(code).toBe(0);
  });

  test.each([
    ["a command that is not there", ["check", "--", "no-such-agent"], 'Cannot find the executable "no-such-agent"'],
    ["no command", ["check"], "Give the agent's command after --"],
    [
      "an unknown requirement",
      ["check", "--only", "G9", "--", "x"],
      'There is no requirement "G9". There are: advertised',
    ],
    ["no such folder", ["check", "--cwd", "/no/such/folder", "--", "x"], 'The folder "/no/such/folder" does not exist'],
    ["an unknown command", ["cheque"], 'There is no command "cheque"'],
    ["nothing at all", [], "Give a command"],
  ])("it could not be checked: 2, for %s", async (_, args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  test("an agent that never asks the model server: 2, and what to do", async () => {
    const { code, stderr } = await run(
      check("--env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1", "--", ...referenceAgent()),
    );
    expect(stderr).toMatch(/never asked the model server: .*-32603.*\. Point its model configuration at the server/s);
    expect(code).toBe(2);
  });
});

describe("blind", () => {
  test("it says what it could not see, and judges the rest", async () => {
    const only = ["--only", "advertised", "--only", "G1.running", "--only", "G1.boundary", "--only", "error.session"];
    const noModel = ["--env", "OPENAI_BASE_URL=http://127.0.0.1:9/v1"];
    const { code, stdout } = await run(["check", "--blind", ...noModel, ...only, "--", ...referenceAgent()]);
    expect(stdout).toMatch(/^ {2}PASS {2}advertised/m);
    expect(stdout).toMatch(/^ {2}PASS {2}error\.session/m);
    expect(stdout).toMatch(/^ {2}n\/a {3}G1\.running +needs a model server/m);
    expect(stdout).toMatch(/^ {2}n\/a {3}G1\.boundary +needs a model server/m);
    expect(code).toBe(0);
  });
});

describe("help and version", () => {
  test("--help of the program and of the command, --version", async () => {
    expect((await run(["--help"])).stdout).toMatch(/^ {2}check {5}/m);
    const { code, stdout } = await run(["check", "--help"]);
    expect(stdout).toMatch(/--model-server.*--blind.*--trials.*--junit.*Exit code/s);
    expect(code).toBe(0);
    const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    expect((await run(["--version"])).stdout).toBe(`${manifest.version}\n`);
  });
});

describe("G8 containment: nothing is left", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s ends the check and an agent that ignores it: 130", async (signal) => {
    const [mark, folder] = [randomUUID(), await temporaryFolder()];
    const running = start(["check", "--env", `SILENT_AGENT=${mark}`, "--", ...fixture("silent-agent.mjs")], {
      TMPDIR: folder,
    });
    await running.seen("Checking");
    running.kill(signal);
    const { code, stderr } = await running.ended;
    expect(stderr).toContain("interrupted");
    expect(code).toBe(130);
    await noneLeft("SILENT_AGENT", mark);
    expect(existsSync(folder)).toBe(true);
  });

  test("kill -9 of the check ends the agent too", async () => {
    const mark = randomUUID();
    const running = start(["check", "--env", `SILENT_AGENT=${mark}`, "--", ...fixture("silent-agent.mjs")]);
    await running.seen("Checking");
    running.kill("SIGKILL");
    await running.ended;
    await noneLeft("SILENT_AGENT", mark);
  });
});
