import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CODE } from "@acp-steering/core/protocol";
import {
  type ModelRequest,
  type ModelServer,
  occurrencesOf,
  type Reply,
  shellCall,
} from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { NEVER_ASKS, openClaude } from "./claude-stage.js";

interface Setting {
  readonly id: string;
  readonly currentValue: string;
  readonly options: readonly { readonly value: string }[];
}

const NO_TOOL = { name: "none", arguments: {} };
const MCP_SERVER = fileURLToPath(new URL("../test/fixtures/mcp-server.mjs", import.meta.url));
const PICK = {
  question: "Which one?",
  header: "Pick",
  multiSelect: false,
  options: [
    { label: "A", description: "the first" },
    { label: "B", description: "the second" },
  ],
};

const asksOnce =
  (questions: readonly object[]) =>
  (request: ModelRequest): Reply =>
    request.messages.at(-1)?.role === "tool"
      ? { text: "Done." }
      : { toolCalls: [{ name: "AskUserQuestion", arguments: { questions } }] };

const lastResult = (model: ModelServer): string | undefined =>
  model.requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.text;

const told = (request: ModelRequest | undefined, ...texts: string[]): number[] =>
  texts.map((text) => (request ? occurrencesOf(request, text).length : 0));

describe("sessions of the real Claude Code", () => {
  test("a session is listed, loaded with its history, resumed, forked and deleted", async () => {
    const { client, configuration, cwd, model, sessionId, connect } = await openClaude(
      (request) =>
        request.index === 0
          ? { reasoning: "Hm.", text: "I look.", toolCalls: [shellCall(request, "echo seen") ?? NO_TOOL] }
          : { text: "Done." },
      { mode: NEVER_ASKS },
    );
    await client.prompt(sessionId, "Look around").answer;
    await client.request("session/close", { sessionId });

    const later = await connect();
    const { sessions } = await later.request<{ sessions: unknown[] }>("session/list", { cwd });
    expect(sessions).toMatchObject([{ sessionId, cwd, title: "Look around" }]);
    await later.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(later.updates(sessionId)).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "Look around" } },
      { sessionUpdate: "agent_thought_chunk", content: { text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", content: { text: "I look." } },
      { sessionUpdate: "tool_call", title: "echo seen", kind: "execute" },
      { sessionUpdate: "tool_call_update", status: "in_progress" },
      { sessionUpdate: "tool_call_update", status: "completed", content: [{ content: { text: "seen" } }] },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done." } },
    ]);
    const fork = await later.request<{ sessionId: string }>("session/fork", { sessionId, cwd, mcpServers: [] });
    expect(fork.sessionId).not.toBe(sessionId);
    await later.prompt(fork.sessionId, "In the copy").answer;
    expect(told(model.requests.at(-1), "Look around", "In the copy")).toEqual([1, 1]);
    await later.prompt(sessionId, "In the old one").answer;
    expect(told(model.requests.at(-1), "Look around", "In the copy", "In the old one")).toEqual([1, 0, 1]);

    await later.request("session/delete", { sessionId: fork.sessionId });
    expect(filesUnder(configuration).some((name) => name.includes(fork.sessionId))).toBe(false);
  });

  test("a session that Claude Code does not know is refused as not found", async () => {
    const { client, cwd } = await openClaude([]);
    const sessionId = "01a00000-0000-4000-8000-000000000000";
    await expect(client.request("session/load", { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
      code: CODE.notFound,
      message: expect.stringContaining("List the sessions"),
    });
  });

  test("models, efforts and modes are offered, count for the next request, and outlive the child", async () => {
    const { client, model, opened, sessionId } = await openClaude((request) =>
      occurrencesOf(request, "Die").length > 0 && occurrencesOf(request, "Live").length === 0
        ? { toolCalls: [shellCall(request, "kill -9 $PPID") ?? NO_TOOL] }
        : { text: "Done." },
    );
    const settings = opened["configOptions"] as Setting[];
    expect(settings.map(({ id }) => id)).toEqual(["model", "effort"]);
    expect(opened["modes"]).toMatchObject({ currentModeId: "default" });
    await client.request("session/set_config_option", { sessionId, configId: "model", value: "haiku" });
    await client.request("session/set_config_option", { sessionId, configId: "effort", value: "low" });
    await client.request("session/set_mode", { sessionId, modeId: "acceptEdits" });
    await client.prompt(sessionId, "One").answer;
    const { model: chosen } = model.requests.at(-1) as ModelRequest;
    expect(chosen).toMatch(/haiku/);

    client.permission = (params) => ({
      outcome: { outcome: "selected", optionId: (params["options"] as { optionId: string }[])[0]?.optionId },
    });
    await expect(client.prompt(sessionId, "Die").answer).rejects.toMatchObject({ data: { reason: "agentExited" } });
    await client.prompt(sessionId, "Live").answer;
    expect(model.requests.at(-1)?.model).toBe(chosen);
  });

  test("what the user is asked has an answer for once, for always and against it", async () => {
    const { client, model, sessionId } = await openClaude((request) =>
      request.messages.at(-1)?.role === "tool"
        ? { text: "Done." }
        : { toolCalls: [shellCall(request, "touch made") ?? NO_TOOL] },
    );
    const asked: Record<string, unknown>[][] = [];
    const answers = ["reject_once", "allow_once", "allow_always"];
    client.permission = (params) => {
      const options = params["options"] as Record<string, unknown>[];
      const wanted = answers[asked.length];
      asked.push(options);
      return { outcome: { outcome: "selected", optionId: options.find(({ kind }) => kind === wanted)?.["optionId"] } };
    };
    for (const text of ["One", "Two", "Three", "Four"]) await client.prompt(sessionId, text).answer;
    expect(asked).toHaveLength(3);
    expect(asked[0]?.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(["allow_once", "allow_always", "reject_once"]),
    );
    expect(model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      text: expect.stringContaining("rejected"),
    });
  });

  test("the model's question is a choice where the client shows no forms", async () => {
    const { client, model, sessionId } = await openClaude(asksOnce([PICK]));
    client.permission = (params) => ({
      outcome: {
        outcome: "selected",
        optionId: (params["options"] as { optionId: string; name: string }[]).find(({ name }) => name === "B")
          ?.optionId,
      },
    });
    await client.prompt(sessionId, "Ask").answer;
    expect(lastResult(model)).toContain('"Which one?"="B"');
  });

  test("the model's questions are a form where the client shows one", async () => {
    const several = { ...PICK, question: "Which ones?", multiSelect: true };
    const { client, model, sessionId } = await openClaude(asksOnce([PICK, several]), {
      capabilities: { elicitation: { form: {} } },
    });
    client.handle("elicitation/create", (params) => {
      const { properties } = params["requestedSchema"] as { properties: Record<string, unknown> };
      expect(properties).toMatchObject({ question1: { enum: ["A", "B"] }, question2: { items: { enum: ["A", "B"] } } });
      return { action: "accept", content: { question1: "B", question2: ["A", "B"] } };
    });
    await client.prompt(sessionId, "Ask").answer;
    expect(lastResult(model)).toContain('"Which one?"="B"');
    expect(lastResult(model)).toContain('"Which ones?"="A, B"');
  });

  test("MCP servers of the client's are there, without their secrets in any argument", async () => {
    const server = {
      name: "greeter",
      command: process.execPath,
      args: [MCP_SERVER],
      env: [{ name: "GREETED", value: "you" }],
    };
    const { client, cwd, model } = await openClaude(
      (request) =>
        request.messages.at(-1)?.role === "tool"
          ? { text: "Done." }
          : { toolCalls: [{ name: "mcp__greeter__greet", arguments: {} }] },
      { mode: NEVER_ASKS },
    );
    const { sessionId } = await client.request<{ sessionId: string }>("session/new", { cwd, mcpServers: [server] });
    await client.prompt(sessionId, "Greet me").answer;
    expect(lastResult(model)).toBe("Hello, you");
    expect(client.updates(sessionId)).toContainEqual(expect.objectContaining({ title: "greeter: greet" }));
  });

  test("files that are written and edited are shown as diffs, with their place", async () => {
    const steps = ["Write", "Edit"];
    const { client, cwd, sessionId } = await openClaude(
      (request) => {
        const path = join(cwd, "notes.txt");
        const step = steps.shift();
        if (step === "Write")
          return { toolCalls: [{ name: step, arguments: { file_path: path, content: "one\ntwo\n" } }] };
        const edit = { file_path: path, old_string: "two", new_string: "three" };
        return step === undefined
          ? { text: `Done, ${request.index}.` }
          : { toolCalls: [{ name: step, arguments: edit }] };
      },
      { mode: NEVER_ASKS },
    );
    await client.prompt(sessionId, "Write").answer;
    const path = join(cwd, "notes.txt");
    expect(readFileSync(path, "utf8")).toBe("one\nthree\n");
    const shown = client.updates(sessionId).filter(({ status }) => status === "in_progress");
    expect(shown).toMatchObject([
      { kind: "edit", locations: [{ path }], content: [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }] },
      { kind: "edit", locations: [{ path }], content: [{ type: "diff", path, oldText: "two", newText: "three" }] },
    ]);
  });

  test("commands are announced, and one that runs without the model is answered", async () => {
    const { client, model, sessionId } = await openClaude([]);
    const { availableCommands } = await client.waitForUpdate("available_commands_update");
    const names = (availableCommands as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["compact", "steer", "queue"]));
    expect(names.filter((name) => name.startsWith("__"))).toEqual([]);
    expect(await client.prompt(sessionId, "/cost").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toMatch(/cost/i);
    expect(model.requests).toEqual([]);
  });

  test("without an account, a prompt is refused with what to do", async () => {
    const { client, sessionId } = await openClaude([], { environment: { ANTHROPIC_API_KEY: "" } });
    await expect(client.prompt(sessionId, "Hello").answer).rejects.toMatchObject({
      code: CODE.authRequired,
      message: expect.stringContaining("claude auth login"),
    });
    await expect(client.request("authenticate", { methodId: "claude-login" })).rejects.toMatchObject({
      code: CODE.authRequired,
    });
  });
});

function filesUnder(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder, { recursive: true, encoding: "utf8" }) : [];
}
