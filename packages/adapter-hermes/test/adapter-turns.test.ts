import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openAdapter, said } from "./adapter-stage.js";
import { heldCommand, run } from "./stand-in/stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;

describe("turns of Hermes", () => {
  test("G4 one answer: thoughts and text arrive in order, under one id, before it, with the turn's usage", async () => {
    const stage = await openAdapter({
      script: [
        { reasoning: ["Let me ", "think."], text: ["Hello, ", "world."], usage: { inputTokens: 70, outputTokens: 7 } },
      ],
    });
    const { client, sessionId } = stage;
    const turn = client.prompt(sessionId, "Say hello");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      usage: { inputTokens: 70, outputTokens: 7, totalTokens: 77 },
    });
    expect(client.answersTo(turn.id)).toHaveLength(1);
    const chunks = said(stage).filter(({ content }) => content !== undefined);
    expect(chunks).toMatchObject([
      { sessionUpdate: "agent_thought_chunk", content: { text: "Let me " } },
      { sessionUpdate: "agent_thought_chunk", content: { text: "think." } },
      { sessionUpdate: "agent_message_chunk", content: { text: "Hello, " } },
      { sessionUpdate: "agent_message_chunk", content: { text: "world." } },
    ]);
    expect(new Set(chunks.map(({ messageId }) => messageId)).size).toBe(1);
    expect(client.log.at(-1)?.message?.id).toBe(turn.id);
  });

  test("tool calls carry kind, title, locations, status, results and diffs; what follows is a new message", async () => {
    const stage = await openAdapter({
      script: [
        { text: "First.", toolCalls: [{ name: "write_file", arguments: { path: "new.txt", content: "one\n" } }] },
        { toolCalls: [{ name: "terminal", arguments: { command: "echo from shell; exit 3" } }] },
        { toolCalls: [{ name: "read_file", arguments: { path: "absent.txt" } }] },
        { toolCalls: [{ name: "todo", arguments: { todos: [{ id: "1", content: "Plan", status: "in_progress" }] } }] },
        { text: "Done." },
      ],
    });
    const { client, sessionId, cwd } = stage;
    await client.request("session/set_config_option", { sessionId, configId: "mode", value: "dont_ask" });
    await client.prompt(sessionId, "Use the tools").answer;
    const path = join(cwd, "new.txt");
    const updates = said(stage);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call")).toMatchObject([
      { kind: "edit", title: "Write new.txt", status: "in_progress", locations: [{ path }] },
      { kind: "execute", title: "echo from shell; exit 3" },
      { kind: "read", title: "Read absent.txt", locations: [{ path: join(cwd, "absent.txt") }] },
      { kind: "other", title: "Update the plan" },
    ]);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update")).toMatchObject([
      { status: "completed", content: [{ type: "diff", path, newText: "one\n" }] },
      { content: [{ content: { text: expect.stringMatching(/from shell[\s\S]*Exit code 3/) } }] },
      { status: "failed" },
      { status: "completed" },
    ]);
    expect(updates).toContainEqual({
      sessionUpdate: "plan",
      entries: [{ content: "Plan", priority: "medium", status: "in_progress" }],
    });
    const messages = updates.filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    expect(new Set(messages.map(({ messageId }) => messageId)).size).toBe(2);
    expect(await readFile(path, "utf8")).toBe("one\n");
  });

  test("a tool call that never ends is closed at the turn's end", async () => {
    const stage = await openAdapter({ script: [run("true"), { text: "Done." }] });
    stage.home.fault("silent-end");
    await stage.client.prompt(stage.sessionId, "Run").answer;
    expect(said(stage)).toContainEqual(
      expect.objectContaining({ sessionUpdate: "tool_call_update", status: "failed" }),
    );
  });

  test.each([
    ["truncated", "max_tokens"],
    ["exhausted", "max_turn_requests"],
  ])("a turn that is %s ends with %s", async (fault, stopReason) => {
    const { client, home, sessionId } = await openAdapter({ script: [{ text: "One." }] });
    home.fault(fault);
    expect(await client.prompt(sessionId, "Go").answer).toMatchObject({ stopReason });
  });

  test("G8: a failed turn is an error that names Hermes; the next prompt works", async () => {
    const { client, home, sessionId } = await openAdapter({ script: [{ text: "One." }, { text: "Two." }] });
    home.fault("raise");
    await expect(client.prompt(sessionId, "Go").answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Hermes failed: .*send the prompt again/),
    });
    expect(await client.prompt(sessionId, "Again").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("20,000 deltas arrive in order, none lost, before the answer", async () => {
    const chunks = Array.from({ length: 20_000 }, (_, index) => `${index} `);
    const { client, sessionId } = await openAdapter({ script: [{ text: chunks }] });
    await client.prompt(sessionId, "Count").answer;
    expect(client.agentText(sessionId)).toBe(chunks.join(""));
  });
});

describe("content", () => {
  test("images, links and embedded files reach the model", async () => {
    const { client, cwd, model, sessionId } = await openAdapter({ script: [{ text: "Seen." }, { text: "Read." }] });
    await client.prompt(sessionId, [{ type: "text", text: "Look" }, image]).answer;
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ text: "Look", images: 1 });
    await writeFile(join(cwd, "a.txt"), "linked");
    const prompt = [
      { type: "text", text: "Read" },
      { type: "resource_link", name: "a.txt", uri: `file://${cwd}/a.txt` },
      { type: "resource", resource: { uri: "b.txt", text: "embedded" } },
    ];
    await client.prompt(sessionId, prompt).answer;
    expect(model.requests[1]?.messages.at(-1)?.text).toMatch(/Read\n.*a\.txt.*\nlinked\n.*b\.txt.*\nembedded/);
  });

  test("audio is refused before anything runs", async () => {
    const { client, model, sessionId } = await openAdapter();
    const audio = { type: "audio", data: "", mimeType: "audio/wav" };
    await expect(client.prompt(sessionId, [audio]).answer).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("audio"),
    });
    expect(model.requests).toHaveLength(0);
  });
});

describe("permissions", () => {
  const dangerous = run("rm -rf build");

  test("a dangerous command is asked about, and denied it does not run", async () => {
    const { client, model, sessionId } = await openAdapter({ script: [dangerous, { text: "Understood." }] });
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "deny" } });
    await client.prompt(sessionId, "Clean up").answer;
    const asked = client.log.filter(({ message }) => message?.method === "session/request_permission");
    expect(asked.map(({ message }) => message?.params)).toMatchObject([
      { sessionId, toolCall: { title: "rm -rf build", kind: "execute" }, options: expect.any(Array) },
    ]);
    expect(model.requests[1]?.messages.at(-1)?.text).toMatch(/denied|BLOCKED/i);
  });

  test("allowed for the session it is asked about once", async () => {
    const { client, sessionId } = await openAdapter({ script: [dangerous, dangerous, { text: "Done." }] });
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "allow_session" } });
    await client.prompt(sessionId, "Clean up").answer;
    const asked = client.log.filter(({ message }) => message?.method === "session/request_permission");
    expect(asked).toHaveLength(1);
  });

  test("G6: a cancel answers an open question, and the next prompt works", async () => {
    const { client, sessionId } = await openAdapter({ script: [dangerous, { text: "Next." }] });
    client.permission = () => new Promise(() => {});
    const turn = client.prompt(sessionId, "Clean up");
    await client.waitFor(({ message }) => message?.method === "session/request_permission");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("an edit shows its diff and waits for the answer", async () => {
    const write = { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "new\n" } }] };
    const { client, cwd, sessionId } = await openAdapter({ script: [write, { text: "Done." }] });
    await writeFile(join(cwd, "a.txt"), "old\n");
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "deny" } });
    await client.prompt(sessionId, "Write").answer;
    const asked = client.log.find(({ message }) => message?.method === "session/request_permission");
    expect(asked?.message?.params).toMatchObject({
      toolCall: {
        kind: "edit",
        content: [{ type: "diff", path: join(cwd, "a.txt"), oldText: "old\n", newText: "new\n" }],
      },
    });
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("old\n");
  });
});

describe("cancel", () => {
  test("G6: ends a command that runs; nothing of the turn comes after the answer", async () => {
    const stage = await openAdapter();
    const { client, sessionId, home, model } = stage;
    const { command, running } = heldCommand(home);
    model.enqueue(run(command), { text: "Next." });
    const turn = client.prompt(sessionId, "Run");
    const letGo = await running;
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await letGo();
    const end = client.log.length;
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.log.slice(end).filter(({ raw }) => raw.includes("over"))).toEqual([]);
  });

  test("G6: one while idle changes nothing for the next prompt", async () => {
    const { client, sessionId } = await openAdapter({ script: [{ text: "Fine." }] });
    client.cancel(sessionId);
    expect(await client.prompt(sessionId, "Go").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Fine.");
  });
});
