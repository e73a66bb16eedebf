import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { startModelServer } from "../src/model-server/index.js";
import { WireClient } from "../src/wire-client.js";
import { noneLeft } from "./processes.js";

const cli = fileURLToPath(new URL("../dist/reference-agent-cli.js", import.meta.url));
const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

const spawn = async (
  modelUrl: string,
  args: readonly string[] = [],
  more: NodeJS.ProcessEnv = {},
): Promise<WireClient> => {
  const env = { ...process.env, OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "any", ...more };
  const client = await WireClient.spawn({ command: process.execPath, args: [cli, ...args], env });
  opened.push(client);
  return client;
};

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const run = (args: readonly string[], modelUrl?: string): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { ...process.env, OPENAI_BASE_URL: modelUrl };
    const child = execFile(process.execPath, [cli, ...args], { env }, (error, stdout, stderr) => {
      resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
    child.stdin?.end();
  });

describe.each(["inbox", "driver"])("the command, --road %s", (road) => {
  test("G1 no lost steer: it is steered over stdio, and ends with its input", async () => {
    const model = await startModelServer({ script: [{ text: "Hm", hold: "talk", holdAt: "afterText" }] });
    opened.push(model);
    const client = await spawn(model.url, ["--road", road]);
    await client.initialize();
    const sessionId = await client.newSession(process.cwd());
    const turn = client.prompt(sessionId, "Look");
    await model.held("talk");
    expect(await client.steer(sessionId, "not there")).toMatchObject({ outcome: "injected" });
    model.release("talk");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(model.seen("not there")).toHaveLength(1);
    expect(await client.close()).toEqual({ code: 0, signal: null });
    expect(client.stderr).toBe("");
  });
});

test("G8 containment: a client that goes while a command runs leaves no process behind", async () => {
  const toolCalls = [{ name: "shell", arguments: { command: "sleep 1000" } }];
  const model = await startModelServer({ script: [{ toolCalls }] });
  opened.push(model);
  const mark = crypto.randomUUID();
  const client = await spawn(model.url, [], { REFERENCE_AGENT_TEST: mark });
  await client.initialize();
  client.prompt(await client.newSession(process.cwd()), "Sleep");
  await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
  expect(await client.close()).toEqual({ code: 0, signal: null });
  await noneLeft("REFERENCE_AGENT_TEST", mark);
});

test("--broken breaks one requirement", async () => {
  const model = await startModelServer();
  opened.push(model);
  const client = await spawn(model.url, ["--broken", "advertised"]);
  expect(await client.initialize()).not.toHaveProperty("_meta.steering");
});

test("--list-broken and --help go to stdout", async () => {
  expect(await run(["--list-broken"])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^G1\.boundary +loses/m),
  });
  expect(await run(["--help"])).toMatchObject({ code: 0, stdout: expect.stringContaining("Usage"), stderr: "" });
});

test.each([
  [["--road", "sea"], /--road takes inbox or driver or none, not "sea"/],
  [["--broken", "G0"], /Nothing breaks "G0"/],
  [["--fast"], /--fast/],
])("%j is refused, with exit code 2", async (args, message) => {
  expect(await run(args, "http://127.0.0.1:9/v1")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(message),
  });
});

test("without OPENAI_BASE_URL it says what to set", async () => {
  expect(await run([])).toMatchObject({ code: 2, stderr: expect.stringContaining("Set OPENAI_BASE_URL") });
});
