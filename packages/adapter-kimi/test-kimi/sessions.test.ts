import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sharedKimi, userTexts } from "./stage.js";

const { openStage } = sharedKimi();
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const MCP_SERVER = fileURLToPath(new URL("fixtures/mcp-server.mjs", import.meta.url));

interface Option {
  readonly id: string;
  readonly currentValue: string;
  readonly options: { value: string }[];
}

const SETTINGS = (id: string, value: string, sessionId: string) => ({ sessionId, configId: id, value });

describe("sessions of the real Kimi", () => {
  test("a session has its models, thinking and modes as options and modes, and they can be set", async () => {
    const { client, model, cwd, sessionId } = await openStage([{ text: "Hello." }]);
    const opened = await client.request<{ configOptions: Option[]; modes: Record<string, unknown> }>("session/new", {
      cwd,
      mcpServers: [],
    });
    expect(opened.configOptions).toMatchObject([
      { id: "model", currentValue: "scripted", options: [{ value: "scripted" }, { value: "other" }] },
      { id: "thinking", currentValue: "on" },
      { id: "mode", currentValue: "default" },
    ]);
    expect(opened.modes).toMatchObject({ currentModeId: "default" });
    const changed = await client.request<{ configOptions: Option[] }>(
      "session/set_config_option",
      SETTINGS("model", "other", sessionId),
    );
    expect(changed.configOptions.map(({ id }) => id)).toEqual(["model", "mode"]);
    await client.request("session/set_mode", { sessionId, modeId: "yolo" });
    const told = await client.waitForUpdate("config_option_update", (update) =>
      JSON.stringify(update).includes('"yolo"'),
    );
    expect(told).toMatchObject({ configOptions: [{ currentValue: "other" }, { id: "mode", currentValue: "yolo" }] });
    await expect(client.request("session/set_mode", { sessionId, modeId: "god" })).rejects.toMatchObject({
      code: -32602,
    });
    await client.prompt(sessionId, "Hello").answer;
    expect(model.requests[0]).toMatchObject({ model: "other-model" });
  });

  test("G4: thoughts, text, usage and the title arrive in order, before the one answer", async () => {
    const { client, sessionId } = await openStage([
      { reasoning: ["Let me ", "think."], text: ["Hello, ", "world."], usage: { inputTokens: 70, outputTokens: 7 } },
    ]);
    const turn = client.prompt(sessionId, "Say hello");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      usage: { inputTokens: 70, outputTokens: 7, totalTokens: 77 },
    });
    // Kimi sends what its model says within 16 ms as one piece.
    const kinds = client.updates(sessionId).map(({ sessionUpdate }) => sessionUpdate);
    expect([...new Set(kinds)]).toEqual([
      "available_commands_update",
      "session_info_update",
      "agent_thought_chunk",
      "agent_message_chunk",
      "usage_update",
    ]);
    expect(client.agentText(sessionId)).toBe("Hello, world.");
    expect(client.updates(sessionId)).toContainEqual({ sessionUpdate: "session_info_update", title: "Say hello" });
    expect(client.updates(sessionId).at(-1)).toMatchObject({ size: 200_000 });
    expect(client.log.at(-1)?.message?.id).toBe(turn.id);
  });

  test("tool calls carry kind, title, place, diff and result; a plan is a plan", async () => {
    const todos = [
      { title: "Read", status: "done" },
      { title: "Write", status: "in_progress" },
    ];
    const { client, cwd, sessionId } = await openStage([
      { toolCalls: [{ name: "Write", arguments: { path: "new.txt", content: "one\ntwo\n" } }] },
      { toolCalls: [{ name: "Edit", arguments: { path: "new.txt", old_string: "two", new_string: "three" } }] },
      { toolCalls: [{ name: "Read", arguments: { path: "new.txt" } }] },
      { toolCalls: [{ name: "Bash", arguments: { command: "echo from bash; exit 3" } }] },
      { toolCalls: [{ name: "TodoList", arguments: { todos } }] },
      { text: "Done." },
    ]);
    await client.prompt(sessionId, "Use the tools").answer;
    const path = join(cwd, "new.txt");
    const calls = client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
    expect(calls).toMatchObject([
      { kind: "edit", status: "pending" },
      { kind: "edit" },
      { kind: "read" },
      { kind: "execute" },
    ]);
    expect(client.updates(sessionId).filter(({ status }) => status === "in_progress")).toMatchObject([
      { title: "Writing new.txt", locations: [{ path }], rawInput: { path: "new.txt" } },
      { title: "Editing new.txt", locations: [{ path }] },
      { title: "Reading new.txt", locations: [{ path }] },
      { title: expect.stringContaining("echo from bash") },
    ]);
    const ended = client.updates(sessionId).filter(({ status }) => status === "completed" || status === "failed");
    expect(ended).toMatchObject([
      { status: "completed", content: [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }] },
      { status: "completed", content: [{ type: "diff", path, oldText: "two", newText: "three" }] },
      { status: "completed", content: [{ content: { text: expect.stringContaining("three") } }] },
      { status: "failed", content: [{ content: { text: expect.stringContaining("from bash") } }] },
    ]);
    expect(client.updates(sessionId)).toContainEqual({
      sessionUpdate: "plan",
      entries: [
        { content: "Read", priority: "medium", status: "completed" },
        { content: "Write", priority: "medium", status: "in_progress" },
      ],
    });
  });

  test("images and embedded files reach the model, in a prompt and in a steer", async () => {
    const { client, model, sessionId } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "Seen." },
    ]);
    const image = { type: "image", data: PIXEL, mimeType: "image/png" };
    const file = { type: "resource", resource: { uri: "file:///b.ts", text: "export {};" } };
    const link = { type: "resource_link", name: "a.ts", uri: "file:///src/a.ts#L10-20" };
    const turn = client.prompt(sessionId, [{ type: "text", text: "Look" }, image, file, link]);
    await model.held("held");
    await client.steer(sessionId, [image]);
    model.release("held");
    await turn.answer;
    expect(userTexts(model)[0]?.[0]).toMatch(
      /Look.*<file uri="file:\/\/\/b.ts">\nexport {};\n<\/file>.*\/src\/a.ts:10-20/s,
    );
    const images = model.requests
      .at(-1)
      ?.messages.map((message) => message.images)
      .filter((count) => count > 0);
    expect(images).toEqual([1, 1]);
  });

  test("MCP servers that the client gives are the session's, and only its", async () => {
    const mine = {
      name: "mine",
      command: process.execPath,
      args: [MCP_SERVER],
      env: [{ name: "GREETING", value: "hi" }],
    };
    const { client, model, cwd, sessionId } = await openStage(
      [{ toolCalls: [{ name: "mcp__mine__greet", arguments: {} }] }],
      {
        session: { mcpServers: [mine] },
      },
    );
    const allowed = client.prompt(sessionId, "Greet");
    expect(await allowed.answer).toMatchObject({ stopReason: "end_turn" });
    expect(JSON.stringify(client.updates(sessionId))).toContain("hi from the server");
    const other = await client.newSession(cwd);
    await client.prompt(other, "Greet").answer;
    const offered = model.requests.map(({ tools }) => tools.some(({ name }) => name === "mcp__mine__greet"));
    expect(offered).toEqual([true, true, false]);
  });

  test("further folders are the session's", async () => {
    const { client, cwd, sessionId } = await openStage([{ text: "Hello." }], {
      session: { additionalDirectories: ["/usr"] },
    });
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
    expect(cwd).not.toBe("/usr");
  });

  test("slash commands and skills are announced and carried out; an unknown one is a prompt", async () => {
    const { client, model, home, cwd } = await openStage([{ text: "As the skill says." }, { text: "What?" }]);
    await mkdir(join(home, "skills", "mine"), { recursive: true });
    const skill = "---\nname: mine\ndescription: my skill\n---\nDo it my way: $ARGUMENTS\n";
    await writeFile(join(home, "skills", "mine", "SKILL.md"), skill);
    const sessionId = await client.newSession(cwd);
    const announced = (await client.waitForUpdate("available_commands_update", ({ availableCommands }) =>
      JSON.stringify(availableCommands).includes("skill:mine"),
    )) as { availableCommands: { name: string }[] };
    const names = announced.availableCommands.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["steer", "queue", "compact", "status", "help", "update-config"]));
    expect(await client.prompt(sessionId, "/skill:mine fast").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)[0]?.[0]).toContain("Do it my way: fast");
    expect(client.agentText(sessionId)).toBe("As the skill says.");
    await client.prompt(sessionId, "/status").answer;
    expect(client.agentText(sessionId)).toContain(`Folder: ${cwd}`);
    for (const command of ["/usage", "/mcp", "/tasks", "/help"]) await client.prompt(sessionId, command).answer;
    expect(model.requests).toHaveLength(1);
    await client.prompt(sessionId, "/nonsense now").answer;
    expect(userTexts(model).at(-1)?.at(-1)).toBe("/nonsense now");
  });

  test("a reply cut off by its length ends with max_tokens; a refused key asks for a sign-in or says why", async () => {
    const { client, sessionId } = await openStage([
      { text: "And then", finishReason: "length" },
      { error: { status: 401, message: "key revoked" } },
      { text: "Hello." },
    ]);
    expect(await client.prompt(sessionId, "Tell").answer).toMatchObject({ stopReason: "max_tokens" });
    await expect(client.prompt(sessionId, "Try").answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/Kimi's model failed.*key revoked/),
      data: { reason: "modelFailed", kimiCode: "provider.auth_error" },
    });
    expect(await client.prompt(sessionId, "Again").answer).toMatchObject({ stopReason: "end_turn" });
  });
});
