import { describe, expect, test } from "vitest";
import { type AdapterStage, connectAdapter, openAdapter } from "./adapter-stage.js";
import { run, temporaryFolder, told } from "./stand-in/stage.js";

interface ConfigOption {
  readonly id: string;
  readonly currentValue: string;
  readonly options: readonly { readonly value: string }[];
}

function option(configOptions: readonly ConfigOption[], id: string): ConfigOption {
  const found = configOptions.find((candidate) => candidate.id === id);
  if (!found) throw new Error(`There is no option ${id}.`);
  return found;
}

/** A second adapter over the same home, as after a restart of the editor. */
async function restarted({ home }: AdapterStage) {
  const { client } = connectAdapter(home.path);
  await client.initialize();
  return client;
}

describe("sessions", () => {
  test("a restart of the adapter loses none: load shows the history, and the model has it", async () => {
    const stage = await openAdapter({
      script: [{ text: "Working.", ...run("echo hi") }, { text: "Done." }, { text: "Again." }],
    });
    const { cwd, model, sessionId } = stage;
    await stage.client.prompt(sessionId, "First task").answer;
    const client = await restarted(stage);
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(client.updates(sessionId)).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "First task" } },
      { sessionUpdate: "agent_message_chunk", content: { text: "Working." } },
      { sessionUpdate: "tool_call", title: "echo hi" },
      { sessionUpdate: "tool_call_update", status: "completed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done." } },
    ]);
    await client.prompt(sessionId, "Second task").answer;
    expect(told(model, 2)).toMatch(/First task[\s\S]*Second task/);
  });

  test("resume goes on without showing the history", async () => {
    const stage = await openAdapter({ script: [{ text: "Done." }, { text: "Again." }] });
    const { cwd, model, sessionId } = stage;
    await stage.client.prompt(sessionId, "First task").answer;
    const client = await restarted(stage);
    await client.request("session/resume", { sessionId, cwd, mcpServers: [] });
    expect(client.updates(sessionId).filter(({ content }) => content)).toEqual([]);
    await client.prompt(sessionId, "Second task").answer;
    expect(told(model, 1)).toMatch(/First task[\s\S]*Second task/);
  });

  test("a fork has the history, an id and a folder of its own, and leaves the first one alone", async () => {
    const { client, cwd, model, sessionId } = await openAdapter({
      script: [{ text: "Done." }, { text: "Forked." }, { text: "Original." }],
    });
    await client.prompt(sessionId, "First task").answer;
    const folder = await temporaryFolder();
    const fork = await client.request<{ sessionId: string }>("session/fork", {
      sessionId,
      cwd: folder,
      mcpServers: [],
    });
    expect(fork.sessionId).not.toBe(sessionId);
    await client.prompt(fork.sessionId, "Fork task").answer;
    await client.prompt(sessionId, "Own task").answer;
    expect(told(model, 1)).toMatch(/First task[\s\S]*Fork task/);
    expect(told(model, 2)).not.toContain("Fork task");
    const { sessions } = await client.request<{ sessions: { sessionId: string; cwd: string }[] }>("session/list", {});
    expect(sessions.find((session) => session.sessionId === fork.sessionId)?.cwd).toBe(folder);
    expect(sessions.find((session) => session.sessionId === sessionId)?.cwd).toBe(cwd);
  });

  test("an unknown session is -32002", async () => {
    const { client, cwd } = await openAdapter();
    for (const method of ["session/load", "session/resume", "session/fork"]) {
      await expect(client.request(method, { sessionId: "nobody", cwd, mcpServers: [] })).rejects.toMatchObject({
        code: -32002,
      });
    }
  });

  test("a session that is open may be loaded again, and its turn goes on", async () => {
    const { client, cwd, model, sessionId } = await openAdapter({ script: [{ text: "Done.", hold: "model" }] });
    const turn = client.prompt(sessionId, "Task");
    await model.held("model");
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    model.release("model");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("close ends its turn, and the session can be loaded again", async () => {
    const { client, cwd, model, sessionId } = await openAdapter({
      script: [{ text: "x", hold: "model" }, { text: "Back." }],
    });
    const turn = client.prompt(sessionId, "Task");
    await model.held("model");
    await client.request("session/close", { sessionId });
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await expect(client.prompt(sessionId, "Gone?").answer).rejects.toMatchObject({ code: -32002 });
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(await client.prompt(sessionId, "Back").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("G7 isolation: turns of eight sessions run at once, each with its own text", async () => {
    const { client, cwd, model } = await openAdapter({
      script: (request) => {
        const word = /word-\d/.exec(request.messages.at(-1)?.text ?? "")?.[0] ?? "?";
        return { text: [word, "!"], hold: word };
      },
    });
    const words = Array.from({ length: 8 }, (_, index) => `word-${index}`);
    const sessions = await Promise.all(words.map(() => client.newSession(cwd)));
    const turns = sessions.map((sessionId, index) => client.prompt(sessionId, `Say ${words[index]}`));
    await Promise.all(words.map((word) => model.held(word)));
    for (const word of words) model.release(word);
    await Promise.all(turns.map(({ answer }) => answer));
    expect(sessions.map((sessionId) => client.agentText(sessionId))).toEqual(words.map((word) => `${word}!`));
  });
});

describe("settings", () => {
  test("model and mode are config options; a choice that is not there is -32602", async () => {
    const { client, cwd } = await openAdapter();
    const opened = await client.request<{ sessionId: string; configOptions: ConfigOption[] }>("session/new", {
      cwd,
      mcpServers: [],
    });
    const { sessionId, configOptions } = opened;
    const model = option(configOptions, "model");
    expect(option(configOptions, "mode")).toMatchObject({
      category: "mode",
      currentValue: "default",
      options: [{ value: "default" }, { value: "accept_edits" }, { value: "dont_ask" }],
    });
    const other = model.options.find(({ value }) => value !== model.currentValue)?.value;
    const set = (configId: string, value: unknown) =>
      client.request<{ configOptions: ConfigOption[] }>("session/set_config_option", { sessionId, configId, value });
    expect(option((await set("model", other)).configOptions, "model").currentValue).toBe(other);
    expect(option((await set("mode", "accept_edits")).configOptions, "mode").currentValue).toBe("accept_edits");
    await expect(set("model", "no-such-model")).rejects.toMatchObject({ code: -32602, data: { path: "value" } });
    await expect(set("colour", "red")).rejects.toMatchObject({ code: -32602, data: { path: "configId" } });
  });

  test("Hermes' slash commands are announced, ours first, and answered without the model", async () => {
    const { client, model, sessionId } = await openAdapter();
    const { availableCommands } = await client.waitForUpdate("available_commands_update");
    const names = (availableCommands as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(["steer", "queue", "help", "model", "tools", "context", "reset", "compress", "version"]);
    expect(await client.prompt(sessionId, "/version").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toContain("0.19.0");
    expect(model.requests).toHaveLength(0);
  });

  test("/model changes the option, and the client learns of it", async () => {
    const { client, sessionId } = await openAdapter();
    await client.prompt(sessionId, "/model other").answer;
    const { configOptions } = await client.waitForUpdate("config_option_update");
    expect(option(configOptions as ConfigOption[], "model").currentValue).toMatch(/other$/);
  });

  test("an unknown /word goes to the model", async () => {
    const { client, model, sessionId } = await openAdapter({ script: [{ text: "Hm." }] });
    await client.prompt(sessionId, "/unknown word").answer;
    expect(told(model, 0)).toBe("/unknown word");
  });
});
