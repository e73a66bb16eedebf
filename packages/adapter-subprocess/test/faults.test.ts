import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { childrenOf, groupGone, membersOf } from "./process-table.js";
import { openStage, spawnAdapter, spawnWithFake, temporaryFolder, userTexts } from "./stage.js";

const PI_COMMAND = ["--dialect", "pi-rpc", "--"] as const;

/** Pi leads the process group that the adapter started it in. */
function piOf(adapterPid: number | undefined): number {
  const [pi, ...others] = childrenOf(adapterPid ?? 0);
  if (pi === undefined || others.length > 0) throw new Error(`expected one child, found ${[pi, ...others]}`);
  return pi;
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended, as it should.
  }
}

describe("faults", () => {
  test("G8: a child that closes its output and goes on is ended, and its turn with it", async () => {
    const client = await spawnWithFake("mute.mjs");
    await client.initialize();
    const sessionId = await client.newSession(await temporaryFolder());
    await expect(client.prompt(sessionId, "Say something").answer).rejects.toMatchObject({
      message: expect.stringContaining("closed its output and was stopped"),
      data: { reason: "agentExited" },
    });
  });

  test("G8: a child killed in the middle of a turn costs that turn; the next prompt has the history", async () => {
    const { client, model, sessionId } = await openStage([
      { text: "Remembered." },
      { text: "Working", hold: "held", holdAt: "afterText" },
      { text: "Back again." },
    ]);
    await client.prompt(sessionId, "Remember this").answer;
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    process.kill(piOf(client.pid), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/--mode rpc" was ended by SIGKILL.*The next prompt starts it again, with/),
      data: { reason: "agentExited" },
    });
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toContain("Back again.");
    expect(userTexts(model).at(-1)).toEqual(["Remember this", "Long work", "Still there?"]);
  });

  test("G1: a steer in Pi's queue is handed back when Pi is killed", async () => {
    const { client, model, sessionId } = await openStage([{ text: "Working", hold: "held", holdAt: "afterText" }]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "lost with Pi");
    process.kill(piOf(client.pid), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      data: { steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
  });

  test("G8: a child killed between turns is started again, and answers idle steers as before", async () => {
    const { client, model, sessionId } = await openStage([{ text: "One." }, { text: "Two." }]);
    await client.prompt(sessionId, "First").answer;
    const pi = piOf(client.pid);
    process.kill(pi, "SIGKILL");
    await groupGone(pi);
    expect(await client.prompt(sessionId, "Second").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["First", "Second"]);
  });

  test("a missing executable is one error that says what to install", async () => {
    const client = await spawnAdapter([...PI_COMMAND, "no-such-agent-here", "--mode", "rpc"]);
    await client.initialize();
    await expect(client.newSession(await temporaryFolder())).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(
        /Cannot find the executable "no-such-agent-here".*npm install -g @earendil-works\/pi-coding-agent/,
      ),
    });
  });

  test("an executable that fails is one error with its exit code and last words, without what looks like a secret", async () => {
    const client = await spawnWithFake("exits.mjs");
    await client.initialize();
    const error = await client.newSession(await temporaryFolder()).catch((reason: Error) => reason);
    expect(error).toMatchObject({ code: -32603, data: { reason: "agentStartFailed" } });
    expect((error as Error).message).toMatch(/exit code 3.*first line.*cannot find module.*npm install -g/s);
    expect((error as Error).message).not.toContain("abcdef123456");
  });

  test("a folder that does not exist is an error that names it", async () => {
    const client = await spawnWithFake("rubbish.mjs");
    await client.initialize();
    await expect(client.newSession("/no/such/folder")).rejects.toMatchObject({
      message: expect.stringContaining('the folder "/no/such/folder" does not exist'),
    });
  });

  test("G8: a child that never answers is given up after the start timeout", async () => {
    const client = await spawnAdapter(["--dialect", "pi-rpc", "--start-timeout", "0.5", "--", "cat"]);
    await client.initialize();
    await expect(client.newSession(await temporaryFolder())).rejects.toMatchObject({
      message: expect.stringMatching(/no answer within 500 ms/),
    });
  });

  test("G8: rubbish on the child's stdout is ignored, and logged without its content", async () => {
    const client = await spawnWithFake("rubbish.mjs");
    await client.initialize();
    const sessionId = await client.newSession(await temporaryFolder());
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("still here");
    expect(client.stderr).toContain("no JSON object");
    expect(client.stderr).not.toContain("Debugger attached");
    expect(client.log.every(({ message }) => message !== undefined)).toBe(true);
  });

  test("G8: a line without an end is an error that says so, and the child is ended", async () => {
    const client = await spawnWithFake("long-line.mjs");
    await client.initialize();
    const sessionId = await client.newSession(await temporaryFolder());
    await expect(client.prompt(sessionId, "Hello").answer).rejects.toMatchObject({
      message: expect.stringMatching(/wrote a line of more than \d+ bytes and was stopped/),
    });
  });

  test("G6 G8: a child that does not react to a cancel is ended, and the next prompt starts a new one", async () => {
    const client = await spawnWithFake("hangs.mjs");
    await client.initialize();
    const sessionId = await client.newSession(await temporaryFolder());
    const turn = client.prompt(sessionId, "Hello");
    await client.waitForUpdate("agent_message_chunk");
    const first = piOf(client.pid);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    const next = client.prompt(sessionId, "Hello again");
    await client.waitForUpdate("agent_message_chunk", () => true, client.log.length);
    await groupGone(first);
    expect(piOf(client.pid)).not.toBe(first);
    client.kill("SIGTERM");
    expect(await next.answer).toMatchObject({ stopReason: "cancelled" });
  });

  test("a malformed line costs nothing", async () => {
    const { client, sessionId } = await openStage([{ text: "Hello." }]);
    client.sendRaw('{"jsonrpc": "2.0", "id": 99, "method": ');
    client.sendRaw("not JSON at all");
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("an unknown session is -32002, for a prompt, a steer and a close", async () => {
    const { client } = await openStage([]);
    await expect(client.prompt("nobody", "Hello").answer).rejects.toMatchObject({ code: -32002 });
    await expect(client.steer("nobody", "Hello")).rejects.toMatchObject({ code: -32002 });
    await expect(client.request("session/close", { sessionId: "nobody" })).rejects.toMatchObject({ code: -32002 });
  });

  test("the process ends with its session", async () => {
    const { client, sessionId } = await openStage([{ text: "Hello." }]);
    await client.prompt(sessionId, "Hello").answer;
    const pi = piOf(client.pid);
    await client.request("session/close", { sessionId });
    await groupGone(pi);
    await expect(client.prompt(sessionId, "Hello").answer).rejects.toMatchObject({ code: -32002 });
  });

  test("the end of input ends every process, in the middle of a turn too", async () => {
    const { client, model, sessionId } = await openStage([{ text: "Working", hold: "held", holdAt: "afterText" }]);
    void client.prompt(sessionId, "Long work");
    await model.held("held");
    const pi = piOf(client.pid);
    expect(await client.close()).toEqual({ code: 0, signal: null });
    await groupGone(pi);
  });

  test.each([
    ["SIGTERM", { code: 143, signal: null }],
    ["SIGINT", { code: 130, signal: null }],
    ["SIGKILL", { code: null, signal: "SIGKILL" }],
  ] as const)("nothing is left of the process group after %s, in the middle of a tool call", async (signal, exit) => {
    const { client, cwd, sessionId } = await openStage([
      { toolCalls: [{ name: "bash", arguments: { command: "echo $$ > tool.pid; echo begun; sleep 600" } }] },
    ]);
    void client.prompt(sessionId, "Sleep");
    await client.waitForUpdate("tool_call_update", (update) => JSON.stringify(update).includes("begun"));
    const pi = piOf(client.pid);
    const tool = Number(await readFile(join(cwd, "tool.pid"), "utf8"));
    onTestFinished(() => endProcess(tool));
    expect(membersOf(pi)).toContain(pi);
    client.kill(signal);
    expect(await client.exited).toEqual(exit);
    await groupGone(pi);
    // Pi starts its tools in groups of their own. It ends them when it is told to end; after kill -9 it may see the end
    // of its input first, and then leaves them.
    if (signal !== "SIGKILL") await groupGone(tool);
  });

  test("--log-content shows what the child says", async () => {
    const folder = await temporaryFolder();
    await writeFile(join(folder, "talks.mjs"), 'console.error("secret plan"); process.exit(1);');
    const client = await spawnAdapter([
      ...["--log-content"],
      ...PI_COMMAND,
      process.execPath,
      join(folder, "talks.mjs"),
    ]);
    await client.initialize();
    await expect(client.newSession(folder)).rejects.toThrow("secret plan");
    expect(client.stderr).toContain("Pi: secret plan");
  });
});
