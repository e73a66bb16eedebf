import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireClient } from "@acp-steering/testkit";
import type { Script } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { PIS } from "./pis.js";
import {
  openStage as openPiStage,
  type Stage,
  type StageOptions,
  spawnPi,
  temporaryFolder,
  userTexts,
} from "./stage.js";

interface Sessions {
  readonly sessions: { readonly sessionId: string; readonly cwd: string; readonly title?: string }[];
  readonly nextCursor?: string;
}

const list = (client: WireClient, params: Record<string, unknown> = {}): Promise<Sessions> =>
  client.request("session/list", params);

const WORK: Script = [
  {
    reasoning: "Let me look.",
    text: "Looking.",
    toolCalls: [{ name: "bash", arguments: { command: "echo found" } }],
    hold: "first",
  },
  { toolCalls: [{ name: "read", arguments: { path: "absent.txt" } }] },
  { text: "Finished." },
  { text: "Going on." },
];

describe.each(PIS)("sessions of the real Pi: $name", (pi) => {
  const openStage = (script: Script, options: StageOptions = {}): Promise<Stage> =>
    openPiStage(script, { ...options, pi });

  /** A session with a prompt, a thought, tool calls and a steer, whose adapter has ended. */
  async function openPast(): Promise<Stage> {
    const stage = await openStage(WORK);
    const { client, model, sessionId } = stage;
    const turn = client.prompt(sessionId, "Find it");
    await model.held("first");
    await client.steer(sessionId, "and be quick");
    model.release("first");
    await turn.answer;
    await client.close();
    return stage;
  }

  test("what Pi can reopen is advertised", async () => {
    const { configuration } = await openStage([]);
    const client = await spawnPi(configuration, { pi });
    const initialized = client.log.find(({ message }) => message?.id === 1 && message.result !== undefined);
    expect(initialized?.message?.result).toMatchObject({
      agentCapabilities: {
        loadSession: true,
        sessionCapabilities: { close: {}, resume: {}, fork: {}, list: {}, delete: {} },
      },
    });
  });

  test("the list has Pi's sessions with folder and title, for one folder or for all, the last used first", async () => {
    const { client, cwd, sessionId } = await openStage([{ text: "One." }, { text: "Two." }]);
    expect(await list(client, { cwd })).toEqual({ sessions: [] });
    await client.prompt(sessionId, "The first\nprompt").answer;
    const elsewhere = await temporaryFolder();
    const other = await client.newSession(elsewhere);
    await client.prompt(other, "word ".repeat(100)).answer;
    expect(await list(client, { cwd })).toMatchObject({ sessions: [{ sessionId, cwd, title: "The first prompt" }] });
    expect((await list(client)).sessions).toMatchObject([
      { sessionId: other, cwd: elsewhere, title: expect.stringMatching(/^(word ){19}word…?/) },
      { sessionId, cwd },
    ]);
  });

  test("the list goes page by page", async () => {
    const { client, configuration, cwd, sessionId } = await openStage([{ text: "One." }]);
    await client.prompt(sessionId, "Hello").answer;
    const folder = join(configuration, "sessions", (await readdir(join(configuration, "sessions")))[0] ?? "");
    for (let count = 1; count <= 60; count += 1) {
      const header = { type: "session", version: 3, id: `copy-${count}`, timestamp: new Date(0).toISOString(), cwd };
      await writeFile(join(folder, `copy_${count}.jsonl`), `${JSON.stringify(header)}\n`);
    }
    await writeFile(join(folder, "no-session.jsonl"), "rubbish\n");
    const first = await list(client, { cwd });
    const rest = await list(client, { cwd, cursor: first.nextCursor });
    expect([first.sessions.length, rest.sessions.length, rest.nextCursor]).toEqual([50, 11, undefined]);
    const ids = [...first.sessions, ...rest.sessions].map((session) => session.sessionId);
    expect(new Set(ids).size).toBe(61);
  });

  test("a loaded session shows what was said: user, thoughts, messages, tool calls with results", async () => {
    const { configuration, cwd, sessionId, model } = await openPast();
    const client = await spawnPi(configuration, { pi });
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    const shown = client
      .updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update");
    expect(shown).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Find it" } },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Let me look." } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Looking." } },
      { sessionUpdate: "tool_call", kind: "execute", title: "echo found" },
      { sessionUpdate: "tool_call_update", status: "completed", content: [{ content: { text: "found\n" } }] },
      { sessionUpdate: "user_message_chunk", content: { text: "and be quick" } },
      { sessionUpdate: "tool_call", kind: "read", title: "Read absent.txt" },
      { sessionUpdate: "tool_call_update", status: "failed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "Finished." } },
    ]);
    expect(await client.prompt(sessionId, "Go on").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["Find it", "and be quick", "Go on"]);
    expect(client.agentText(sessionId)).toMatch(/Going on\.$/);
  });

  test("a resumed session goes on without showing it again, and can be steered", async () => {
    const { configuration, cwd, sessionId, model } = await openPast();
    const client = await spawnPi(configuration, { pi });
    await client.request("session/resume", { sessionId, cwd });
    expect(await client.steer(sessionId, "idle")).toMatchObject({ outcome: "promptRequired" });
    await client.prompt(sessionId, "Go on").answer;
    expect(client.agentText(sessionId)).toBe("Going on.");
    expect(userTexts(model).at(-1)).toEqual(["Find it", "and be quick", "Go on"]);
  });

  test("a fork has the conversation and an id of its own; the session that it came from stays as it is", async () => {
    const { configuration, cwd, sessionId, model } = await openPast();
    const client = await spawnPi(configuration, { pi });
    const forked = await client.request<{ sessionId: string }>("session/fork", { sessionId, cwd, mcpServers: [] });
    expect(forked.sessionId).not.toBe(sessionId);
    await client.prompt(forked.sessionId, "Elsewhere").answer;
    expect(userTexts(model).at(-1)).toEqual(["Find it", "and be quick", "Elsewhere"]);
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(client.agentText(sessionId)).not.toContain("Going on.");
  });

  test("a deleted session is gone, for the list and for Pi", async () => {
    const { configuration, cwd, sessionId } = await openPast();
    const client = await spawnPi(configuration, { pi });
    await client.request("session/delete", { sessionId });
    expect(await list(client, { cwd })).toEqual({ sessions: [] });
    await expect(client.request("session/load", { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
      code: -32002,
      message: expect.stringContaining(`no session ${sessionId}`),
    });
  });

  test("G7: a session that is open is not opened a second time, in the middle of a turn either", async () => {
    const { client, cwd, sessionId, model } = await openStage([{ text: "Held.", hold: "held" }, { text: "After." }]);
    const turn = client.prompt(sessionId, "Work");
    await model.held("held");
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(client.updates(sessionId)).toContainEqual(
      expect.objectContaining({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "Work" } }),
    );
    model.release("held");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    await client.prompt(sessionId, "Again").answer;
    expect(userTexts(model).at(-1)).toEqual(["Work", "Again"]);
  });

  test("G6 G7: a session whose steers were taken back keeps its id and file, also for who loads it later", async () => {
    const bash = { name: "bash", arguments: { command: "sleep 60" } };
    const script = [{ text: "Waiting", toolCalls: [bash] }, { text: "Next." }, { text: "Later." }];
    const { client, configuration, cwd, sessionId, model } = await openStage(script);
    const turn = client.prompt(sessionId, "Long work");
    await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
    await client.steer(sessionId, "never used");
    client.cancel(sessionId);
    await turn.answer;
    await client.prompt(sessionId, "Next").answer;
    expect((await list(client, { cwd })).sessions).toMatchObject([{ sessionId }]);
    await client.close();
    const later = await spawnPi(configuration, { pi });
    await later.request("session/load", { sessionId, cwd, mcpServers: [] });
    const said = later.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "user_message_chunk");
    expect(said).toMatchObject([{ content: { text: "Long work" } }, { content: { text: "Next" } }]);
    await later.prompt(sessionId, "Later").answer;
    expect(userTexts(model).at(-1)).toEqual(["Long work", "Next", "Later"]);
  });

  test("a conversation that was shortened is loaded whole", async () => {
    const settings = { compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 10 } };
    const usage = { inputTokens: 127_000, outputTokens: 10 };
    const script: Script = ({ tools }) => (tools.length === 0 ? { text: "Summary." } : { text: "Long read.", usage });
    const { client, configuration, cwd, sessionId } = await openStage(script, { settings });
    for (const prompt of [`The beginning. ${"word ".repeat(20_000)}`, "Go on", "And on"]) {
      await client.prompt(sessionId, prompt).answer;
    }
    await client.close();
    const later = await spawnPi(configuration, { pi });
    await later.request("session/load", { sessionId, cwd, mcpServers: [] });
    const updates = later.updates(sessionId);
    expect(updates[0]).toMatchObject({
      sessionUpdate: "user_message_chunk",
      content: { text: expect.stringContaining("The beginning.") },
    });
    const shortened = updates.filter(({ toolCallId }) => String(toolCallId).startsWith("pi-compaction-"));
    expect(shortened.length).toBeGreaterThan(0);
    expect(shortened[0]).toMatchObject({ status: "completed", title: "Shorten the conversation" });
  });

  test("what an extension put in is not shown as the user's words, and a skill as it was typed", async () => {
    const extension = `export default (pi) => {
      pi.on("before_agent_start", async () => ({
        message: { customType: "note", content: "Mind the weather.", display: true },
      }));
    };`;
    const skills = { tidy: "---\nname: tidy\ndescription: Tidies up\n---\n\nPut everything back.\n" };
    const { client, configuration, cwd, sessionId, model } = await openStage([{ text: "Tidied." }], {
      extension,
      skills,
    });
    await client.prompt(sessionId, "/skill:tidy the desk").answer;
    expect(userTexts(model)[0]?.[0]).toContain("Put everything back.");
    const note = {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: "Mind the weather." },
      _meta: { piExtension: "message" },
    };
    expect(client.updates(sessionId)).toContainEqual(expect.objectContaining(note));
    expect((await list(client, { cwd })).sessions).toMatchObject([{ title: "/skill:tidy the desk" }]);
    await client.close();
    const later = await spawnPi(configuration, { pi });
    await later.request("session/load", { sessionId, cwd, mcpServers: [] });
    const shown = later.updates(sessionId).filter(({ sessionUpdate }) => String(sessionUpdate).endsWith("_chunk"));
    expect(shown).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "/skill:tidy the desk" } },
      note,
      { sessionUpdate: "agent_message_chunk", content: { text: "Tidied." } },
    ]);
  });

  test("without session files there is nothing to list, and what is open can still be loaded", async () => {
    const { client, configuration, cwd, sessionId } = await openStage([{ text: "Hello." }], {
      piArguments: ["--no-session"],
    });
    await client.prompt(sessionId, "Hi").answer;
    expect(existsSync(join(configuration, "sessions"))).toBe(false);
    expect(await list(client, { cwd })).toEqual({ sessions: [] });
    const from = client.updates(sessionId).length;
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    const shown = client.updates(sessionId).slice(from);
    expect(shown.filter(({ sessionUpdate }) => String(sessionUpdate).endsWith("_chunk"))).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "Hi" } },
      { sessionUpdate: "agent_message_chunk", content: { text: "Hello." } },
    ]);
  });
});
