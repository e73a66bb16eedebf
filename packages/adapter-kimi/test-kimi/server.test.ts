import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireClient } from "@acp-steering/testkit";
import { describe, expect, test } from "vitest";
import { configureKimi, spawnAdapter, startModel, temporaryFolder, userTexts } from "./stage.js";

/** The processes of Kimi's server that work in this home, by Linux' process table: what it was started with and it. */
function serversOf(home: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => read(pid, "environ").includes(`KIMI_CODE_HOME=${home}\0`));
}

function read(pid: number, what: string): string {
  try {
    // A zombie has ended; who reaps it is not ours to see to.
    const [state] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1) ?? [];
    return state === "Z" ? "" : readFileSync(`/proc/${pid}/${what}`, "utf8");
  } catch {
    return "";
  }
}

function executableOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return "";
  }
}

/** The server itself, and not the shell that started it. */
function serverOf(home: string): number {
  const [server, ...others] = serversOf(home).filter((pid) => executableOf(pid).endsWith("/node"));
  if (server === undefined || others.length > 0) throw new Error(`expected one server, found ${[server, ...others]}`);
  return server;
}

async function gone(home: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (serversOf(home).length > 0) {
    if (Date.now() > deadline) throw new Error(`left behind: ${serversOf(home).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function openSession(client: WireClient): Promise<{ sessionId: string; cwd: string }> {
  await client.initialize();
  const cwd = await temporaryFolder();
  return { cwd, sessionId: await client.newSession(cwd) };
}

const HELD = { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" } as const;

describe("Kimi's server behind the adapter", () => {
  test("initialize is answered without it; it starts with the first session, one for all", async () => {
    const { home } = await startModel([]);
    const client = await spawnAdapter(home);
    expect(await client.initialize()).toMatchObject({
      agentInfo: { name: "kimi-code", title: "Kimi" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, fork: {}, additionalDirectories: {} },
        auth: { logout: {} },
      },
      authMethods: [
        { id: "login", type: "terminal", _meta: { "terminal-auth": { args: expect.arrayContaining(["--login"]) } } },
      ],
      _meta: { steering: { supported: true, delivery: "confirmed", emulated: false } },
    });
    expect(serversOf(home)).toEqual([]);
    await client.newSession(await temporaryFolder());
    const server = serverOf(home);
    await client.newSession(await temporaryFolder());
    expect(serverOf(home)).toBe(server);
  });

  test("G8: kill -9 of it costs the turn; the next prompt works in the same session, with the conversation", async () => {
    const { home, model } = await startModel([{ text: "Remembered." }, HELD, { text: "Back again." }]);
    const client = await spawnAdapter(home);
    const { sessionId } = await openSession(client);
    await client.prompt(sessionId, "Remember this").answer;
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "lost with Kimi");
    process.kill(serverOf(home), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/was ended by SIGKILL.*The next prompt starts it again, with the conversation/),
      data: { reason: "agentExited", steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toContain("Back again.");
    // Kimi may not have written down yet what it was working at; where it has, it puts both prompts into one message.
    const heard = userTexts(model).at(-1)?.join("\n") ?? "";
    expect(heard).toMatch(/^Remember this\n(Long work\s+)?Still there\?$/);
  });

  test("G8: kill -9 of it between turns costs nothing; every session goes on", async () => {
    const { home, model } = await startModel([{ text: "One." }, { text: "Two." }, { text: "Three." }]);
    const client = await spawnAdapter(home);
    const { sessionId, cwd } = await openSession(client);
    const other = await client.newSession(cwd);
    await client.prompt(sessionId, "First").answer;
    process.kill(serverOf(home), "SIGKILL");
    await gone(home);
    expect(await client.prompt(sessionId, "Second").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["First", "Second"]);
    expect(await client.prompt(other, "Third").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("G6 G8: one that does not react to a cancel is started again; the cancel is answered", async () => {
    const { home, model } = await startModel([HELD, { text: "Here." }]);
    const client = await spawnAdapter(home);
    const { sessionId } = await openSession(client);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    process.kill(serverOf(home), "SIGSTOP");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test.each([
    ["the end of input", undefined, { code: 0, signal: null }],
    ["SIGTERM", "SIGTERM", { code: 143, signal: null }],
    ["SIGINT", "SIGINT", { code: 130, signal: null }],
    ["SIGKILL", "SIGKILL", { code: null, signal: "SIGKILL" }],
  ] as const)("nothing is left behind after %s, in the middle of a turn", async (_what, signal, exit) => {
    const { home, model } = await startModel([HELD]);
    const client = await spawnAdapter(home);
    const { sessionId } = await openSession(client);
    void client.prompt(sessionId, "Long work");
    await model.held("held");
    expect(serversOf(home).length).toBeGreaterThan(0);
    if (signal) client.kill(signal);
    expect(await (signal ? client.exited : client.close())).toEqual(exit);
    await gone(home);
  });

  test("a malformed steer is refused before it reaches Kimi", async () => {
    const { home, model } = await startModel([{ text: "Hello." }]);
    const client = await spawnAdapter(home);
    const { sessionId } = await openSession(client);
    for (const prompt of [[null], [{ type: "text" }], []]) {
      const params = { sessionId, prompt };
      await expect(client.request("_session/steering", params)).rejects.toMatchObject({ code: -32602 });
    }
    expect(model.requests).toEqual([]);
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("the token is in no argument, log line or message", async () => {
    const { home, model } = await startModel([{ text: "Hello." }, HELD]);
    const client = await spawnAdapter(home);
    const { sessionId } = await openSession(client);
    await client.prompt(sessionId, "Hello").answer;
    const token = readFileSync(join(home, "server.token"), "utf8").trim();
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    const commandLines = serversOf(home).map((pid) => read(pid, "cmdline"));
    process.kill(serverOf(home), "SIGKILL");
    await turn.answer.catch(() => {});
    const said = [
      ...client.log.map(({ raw }) => raw),
      client.stderr,
      ...commandLines,
      read(client.pid ?? 0, "cmdline"),
    ];
    expect(token.length).toBeGreaterThan(20);
    expect(said.join("\n")).not.toContain(token);
    expect(said.join("\n")).not.toMatch(/"stack"/);
  });

  test("where nobody is signed in, a session asks for it, and works after the sign-in", async () => {
    const { home, model } = await startModel([{ text: "Hello." }]);
    await writeFile(join(home, "config.toml"), "telemetry = false\n");
    const client = await spawnAdapter(home);
    await client.initialize();
    const cwd = await temporaryFolder();
    const refusal = { code: -32000, message: expect.stringContaining("kimi login"), data: { reason: "authRequired" } };
    await expect(client.newSession(cwd)).rejects.toMatchObject(refusal);
    await expect(client.request("authenticate", { methodId: "login" })).rejects.toMatchObject(refusal);
    await configureKimi(home, model.url);
    await client.request("authenticate", { methodId: "login" });
    const sessionId = await client.newSession(cwd);
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("two adapters on one home: a session is one adapter's until it lets go", async () => {
    const { home } = await startModel([]);
    const first = await spawnAdapter(home);
    const second = await spawnAdapter(home);
    const { sessionId, cwd } = await openSession(first);
    await second.initialize();
    const load = { sessionId, cwd, mcpServers: [] };
    await expect(second.request("session/load", load)).rejects.toMatchObject({ data: { reason: "sessionInUse" } });
    await first.request("session/close", { sessionId });
    await second.request("session/load", load);
    await expect(first.request("session/load", load)).rejects.toMatchObject({ data: { reason: "sessionInUse" } });
    second.kill("SIGKILL");
    await second.exited;
    await first.request("session/load", load);
  });
});
