import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import type { WireMessage } from "@acp-steering/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { PROXY_EXIT } from "../src/options.js";
import { createProxy } from "../src/proxy.js";
import { LineClient, paramsOf } from "./line-client.js";

const pidOf = async (client: LineClient): Promise<number> =>
  ((await client.request("_pid")).result as { pid: number }).pid;

const textIn = (message: WireMessage): string => JSON.stringify(message);

describe("G8 containment: an agent that dies in the middle of a turn", () => {
  test.each([
    [{ deed: "die", words: ["out of memory", "api_key=sk-12345678"] }, "was ended by SIGKILL", { signal: "SIGKILL" }],
    [{ deed: "die", words: ["bad config"], code: 7 }, "ended with exit code 7", { exitCode: 7 }],
  ])("every open request is answered with how it ended and its last words: %j", async (deed, how, data) => {
    const client = await LineClient.start();
    const sessionId = await client.open({ _meta: { steering: { receipts: true } } });
    const owner = client.prompt(sessionId, { deed: "hang" });
    const steer = await client.request("_session/steering", {
      sessionId,
      prompt: [{ type: "text", text: '{"deed":"hang"}' }],
    });
    expect(steer.result).toMatchObject({ outcome: "injected" });
    const other = (await client.request("session/new", { cwd: "/", mcpServers: [] })).result as { sessionId: string };
    const dying = client.prompt(other.sessionId, deed);
    for (const id of [owner, dying]) {
      const { error } = (await client.answer(id)).message;
      expect(error).toMatchObject({ code: -32603, data: { reason: "agentExited", ...data } });
      expect(error?.message).toContain(how);
      expect(error?.message).toContain(deed.words[0]);
      expect(error?.message).not.toContain("sk-12345678");
    }
    const [receipt] = client.seen.filter(({ message }) => paramsOf(message)["state"] === "undelivered");
    expect(receipt && paramsOf(receipt.message)).toMatchObject({ reason: "agentFailed" });
  });

  test("the client is told that the agent's questions are void, and its late answer reaches nobody", async () => {
    const client = await LineClient.start({ capabilities: { sessionCapabilities: { resume: {} } } });
    const sessionId = await client.open();
    client.prompt(sessionId, { deed: "ask" });
    const asked = await client.see(({ message }) => message.method === "session/request_permission");
    process.kill(await pidOf(client), "SIGKILL");
    await client.see(
      ({ message }) =>
        message.method === "$/cancel_request" && paramsOf(message)["requestId"] === (asked.message.id as number),
    );
    client.prompt(sessionId, { deed: "ask" });
    const questions = () => client.seen.filter(({ message }) => message.method === "session/request_permission");
    const again = await client.when(() => questions()[1]);
    expect(again.message.id).not.toBe(asked.message.id);
    // The agent counts from 0 again: this answer is to a question of the process that is gone.
    client.write(`{"jsonrpc":"2.0","id":${asked.message.id},"result":{"late":true}}`);
    client.write(`{"jsonrpc":"2.0","id":"${again.message.id}","result":{"right":true}}`);
    await client.reached('{"jsonrpc":"2.0","id":0,"result":{"right":true}}');
    const received = client.seen.map(({ message }) => paramsOf(message)["base64"]).filter(Boolean) as string[];
    expect(received.map((text) => Buffer.from(text, "base64").toString()).join()).not.toContain("late");
  });

  test("the next prompt works: the agent is started again, its session loaded, the history not shown again", async () => {
    const folder = await mkdtemp(join(tmpdir(), "acp-steering-proxy-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const client = await LineClient.start({ capabilities: { loadSession: true }, sessions: join(folder, "sessions") });
    const sessionId = await client.open();
    const first = await pidOf(client);
    await client.answer(client.prompt(sessionId, { deed: "die", code: 1 }));
    const owner = await client.answer(client.prompt(sessionId, { deed: "end" }));
    expect(owner.message.result).toMatchObject({ stopReason: "end_turn" });
    expect(await pidOf(client)).not.toBe(first);
    expect(client.seen.map(({ message }) => textIn(message)).join()).not.toContain("an old message");
    expect(client.log).toContain("the agent was started again");
  });

  test("where it can open no session again, the prompt says so, and a new session works", async () => {
    const client = await LineClient.start();
    const sessionId = await client.open();
    await client.answer(client.prompt(sessionId, { deed: "die", code: 1 }));
    const { error } = (await client.answer(client.prompt(sessionId, { deed: "end" }))).message;
    expect(error).toMatchObject({ code: -32002, data: { reason: "sessionLost", sessionId } });
    expect(error?.message).toContain("Open a new session");
    const next = (await client.request("session/new", { cwd: "/", mcpServers: [] })).result as { sessionId: string };
    const answer = await client.answer(client.prompt(next.sessionId, { deed: "end" }));
    expect(answer.message.result).toMatchObject({ stopReason: "end_turn" });
  });

  test("where the agent does not know the session any more, the prompt says what it said", async () => {
    const client = await LineClient.start({ capabilities: { loadSession: true } });
    const sessionId = await client.open();
    await client.answer(client.prompt(sessionId, { deed: "die", code: 1 }));
    const { error } = (await client.answer(client.prompt(sessionId, { deed: "end" }))).message;
    expect(error?.message).toContain(`there is no session ${sessionId}`);
  });

  test("one that ends again and again is given up, and the proxy ends with it", async () => {
    const client = await LineClient.start({ capabilities: { sessionCapabilities: { resume: {} } } });
    const sessionId = await client.open();
    // The answers to what opens the session again count for nothing: each of these prompts kills a process.
    const messages: (string | undefined)[] = [];
    for (let count = 0; count < 3; count += 1)
      messages.push((await client.answer(client.prompt(sessionId, { deed: "die", code: 1 }))).message.error?.message);
    expect(messages[0]).toContain("The next request starts it again");
    expect(messages.at(-1)).toContain("It is not started again");
    expect(await client.proxy.ended).toBe(PROXY_EXIT.agentEnded);
  });

  test("with restart never: queued prompts are answered too, then the proxy ends with a code of its own", async () => {
    const client = await LineClient.start({}, { restart: "never" });
    const sessionId = await client.open();
    const ids = [1, 2, 3].map(() => client.prompt(sessionId, { deed: "hang" }));
    process.kill(await pidOf(client), "SIGKILL");
    for (const id of ids)
      expect((await client.answer(id)).message.error).toMatchObject({ data: { reason: "agentExited" } });
    expect(await client.proxy.ended).toBe(PROXY_EXIT.agentEnded);
  });
});

describe("the beginning", () => {
  test("a command that is not there is an error at once", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    await expect(createProxy({ command: "no-such-agent", input, output })).rejects.toThrow(
      'Cannot find the executable "no-such-agent"',
    );
  });

  test("an agent that ends before it answers initialize: an error with its last words, exit code 3", async () => {
    const client = await LineClient.start({ exitCode: 4 });
    const { error } = await client.request("initialize");
    expect(error).toMatchObject({ code: -32603, data: { reason: "agentExited", exitCode: 4 } });
    expect(error?.message).toContain("there is no model here");
    expect(await client.proxy.ended).toBe(PROXY_EXIT.agentEnded);
  });

  test("a command that does not answer initialize: an error that says what to try, exit code 2", async () => {
    const client = await LineClient.start({ silent: true }, { startTimeoutMs: 50 });
    const { error } = await client.request("initialize");
    expect(error).toMatchObject({ code: -32603, data: { reason: "agentSilent" } });
    expect(error?.message).toContain("Give the command that speaks ACP");
    expect(await client.proxy.ended).toBe(PROXY_EXIT.notStarted);
  });

  test("an agent without the steering that was asked for: an error, exit code 2", async () => {
    const client = await LineClient.start({}, { strategy: "native" });
    const { error } = await client.request("initialize");
    expect(error).toMatchObject({ code: -32603, data: { reason: "strategyUnavailable" } });
    expect(await client.proxy.ended).toBe(PROXY_EXIT.notStarted);
  });
});

test("G8 containment: an agent that closes its output and goes on is ended, and what it owes is answered", async () => {
  const client = await LineClient.start();
  const sessionId = await client.open();
  const { error } = (await client.answer(client.prompt(sessionId, { deed: "closeOutput" }))).message;
  expect(error).toMatchObject({ code: -32603, data: { reason: "agentExited" } });
  expect(error?.message).toContain("closed its output and was ended");
});

describe("G4 one answer: what was asked of an agent that is refused", () => {
  test.each([
    ["it is silent", { silent: true }, { startTimeoutMs: 50 }],
    ["it lacks the steering that was asked for", {}, { strategy: "native" }],
    ["it ends at once", { exitCode: 4 }, {}],
  ] as const)("%s: each request is answered once", async (_, settings, options) => {
    const client = await LineClient.start(settings, options);
    const answers = [client.request("initialize"), client.request("session/new", { cwd: "/", mcpServers: [] })];
    await client.proxy.ended;
    for (const { id, error } of await Promise.all(answers)) {
      expect(error).toMatchObject({ code: -32603 });
      expect(client.seen.filter(({ message }) => message.id === id)).toHaveLength(1);
    }
  });
});

describe("the end", () => {
  test("the client ends its output: the agent may end, exit code 0", async () => {
    const client = await LineClient.start();
    await client.open();
    client.input.end();
    expect(await client.proxy.ended).toBe(PROXY_EXIT.clientEnded);
  });

  test("the client is gone before it said a word: exit code 0", async () => {
    const client = await LineClient.start();
    client.input.end();
    expect(await client.proxy.ended).toBe(PROXY_EXIT.clientEnded);
  });

  test("a last line without its line feed is a line", async () => {
    const client = await LineClient.start();
    await client.open();
    const line = '{"jsonrpc":"2.0","method":"_vendor/last"}';
    client.input.end(line);
    await client.reached(line);
    expect(await client.proxy.ended).toBe(PROXY_EXIT.clientEnded);
  });

  test("a line of the client that is too long ends the connection, exit code 1", async () => {
    const client = await LineClient.start({}, { maxLineBytes: 1_000 });
    await client.open();
    client.notify("_vendor/long", { text: "x".repeat(1_000) });
    expect(await client.proxy.ended).toBe(PROXY_EXIT.unreadable);
    expect(client.log.join()).toContain("a line of more than 1000 bytes");
  });

  test("a line of the agent that is too long ends the agent, and what it owes says so", async () => {
    const client = await LineClient.start({}, { maxLineBytes: 1_000, restart: "never" });
    const sessionId = await client.open();
    const owner = client.prompt(sessionId, { deed: "flood", lines: 1, length: 1_000 });
    expect((await client.answer(owner)).message.error?.message).toContain("wrote a line of more than 1000 bytes");
    expect(await client.proxy.ended).toBe(PROXY_EXIT.agentEnded);
  });
});
