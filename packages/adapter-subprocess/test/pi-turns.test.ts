import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Script } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { PIS } from "./pis.js";
import { openStage as openPiStage, type Stage, type StageOptions, userTexts } from "./stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", data: PIXEL, mimeType: "image/png" } as const;

/** Pi tries again after it; its provider's client, which tries again by itself after a status of 500 and more, does not. */
const OVERLOADED = { error: { status: 400, message: "overloaded" } } as const;

describe.each(PIS)("turns of the real Pi: $name", (pi) => {
  const openStage = (script: Script, options: StageOptions = {}): Promise<Stage> =>
    openPiStage(script, { ...options, pi });

  test("G4: text and thoughts arrive in order, each message under its own id, before the one answer", async () => {
    const { client, sessionId } = await openStage([
      { reasoning: ["Let me ", "think."], text: ["Hello, ", "world."], usage: { inputTokens: 70, outputTokens: 7 } },
    ]);
    const turn = client.prompt(sessionId, "Say hello");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      usage: { inputTokens: 70, outputTokens: 7, totalTokens: 77 },
    });
    expect(client.answersTo(turn.id)).toHaveLength(1);
    const updates = client
      .updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update");
    expect(updates).toMatchObject([
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Let me " } },
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "think." } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Hello, " } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "world." } },
      { sessionUpdate: "usage_update", used: 77, size: 128_000 },
    ]);
    expect(new Set(updates.slice(0, 4).map(({ messageId }) => messageId)).size).toBe(1);
    expect(client.log.at(-1)?.message?.id).toBe(turn.id);
  });

  test("tool calls carry kind, title, locations, status, results, and diffs of what changes files", async () => {
    const { client, cwd, sessionId } = await openStage([
      { toolCalls: [{ name: "write", arguments: { path: "new.txt", content: "one\ntwo\n" } }] },
      { toolCalls: [{ name: "edit", arguments: { path: "new.txt", edits: [{ oldText: "two", newText: "three" }] } }] },
      { toolCalls: [{ name: "write", arguments: { path: "old.txt", content: "after\n" } }] },
      { toolCalls: [{ name: "read", arguments: { path: "new.txt", offset: 2 } }] },
      { toolCalls: [{ name: "bash", arguments: { command: "echo from bash; exit 3" } }] },
      { toolCalls: [{ name: "edit", arguments: { path: "new.txt", edits: [{ oldText: "absent", newText: "x" }] } }] },
      { text: "Done." },
    ]);
    await writeFile(join(cwd, "old.txt"), "before\n");
    await client.prompt(sessionId, "Use the tools").answer;
    const path = join(cwd, "new.txt");
    const old = join(cwd, "old.txt");
    expect(client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "tool_call")).toMatchObject([
      { kind: "edit", title: "Write new.txt", status: "pending", locations: [{ path }] },
      { kind: "edit", title: "Edit new.txt", locations: [{ path }], rawInput: { path: "new.txt" } },
      { kind: "edit", title: "Write old.txt" },
      { kind: "read", title: "Read new.txt", locations: [{ path, line: 2 }] },
      { kind: "execute", title: "echo from bash; exit 3", locations: [] },
      { kind: "edit", title: "Edit new.txt" },
    ]);
    const ended = client.updates(sessionId).filter(({ status }) => status === "completed" || status === "failed");
    expect(ended).toMatchObject([
      { status: "completed", content: [{ type: "diff", path, oldText: null, newText: "one\ntwo\n" }] },
      {
        status: "completed",
        content: [{ type: "diff", path, oldText: "two", newText: "three" }],
        locations: [{ line: 2 }],
      },
      { status: "completed", content: [{ type: "diff", path: old, newText: "after\n" }] },
      { status: "completed", content: [{ type: "content", content: { type: "text", text: "three\n" } }] },
      { status: "failed", content: [{ content: { text: expect.stringContaining("from bash") } }] },
      { status: "failed", content: [{ type: "content" }] },
    ]);
    expect(await readFile(path, "utf8")).toBe("one\nthree\n");
  });

  test("G6: a cancel ends a tool that runs", async () => {
    const { client, sessionId } = await openStage([
      { toolCalls: [{ name: "bash", arguments: { command: "sleep 600" } }] },
    ]);
    const turn = client.prompt(sessionId, "Sleep");
    await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
  });

  test("images reach the model, in a prompt and in a steer", async () => {
    const { client, model, sessionId } = await openStage([
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "first" },
      { text: "Seen." },
    ]);
    const turn = client.prompt(sessionId, [{ type: "text", text: "Look" }, image]);
    await model.held("first");
    await client.steer(sessionId, [image]);
    model.release("first");
    await turn.answer;
    const images = model.requests.map(({ messages }) => messages.map((message) => message.images).filter(Boolean));
    expect(images).toEqual([[1], [1, 1]]);
  });

  test("links and embedded files reach the model as text", async () => {
    const { client, model, sessionId } = await openStage([{ text: "Read." }]);
    const prompt = [
      { type: "text", text: "Compare" },
      { type: "resource_link", name: "a.ts", uri: "file:///a.ts" },
      { type: "resource", resource: { uri: "file:///b.ts", text: "export {};" } },
    ];
    await client.prompt(sessionId, prompt).answer;
    expect(userTexts(model)[0]?.[0]).toBe(
      'Compare\n[@a.ts](file:///a.ts)\n<context ref="file:///b.ts">\nexport {};\n</context>',
    );
  });

  test("U+2028 and U+2029 pass both ways: a record ends at LF alone", async () => {
    const text = "line\u2028separator\u2029end";
    const { client, model, sessionId } = await openStage([{ text }]);
    await client.prompt(sessionId, text).answer;
    expect(userTexts(model)).toEqual([[text]]);
    expect(client.agentText(sessionId)).toBe(text);
  });

  test("a flood of deltas keeps its order and comes before the answer", async () => {
    const chunks = Array.from({ length: 2_000 }, (_, index) => `${index} `);
    const { client, sessionId } = await openStage([{ text: chunks }]);
    await client.prompt(sessionId, "Count").answer;
    expect(client.agentText(sessionId)).toBe(chunks.join(""));
  });

  test("G4: the turn ends when Pi has settled: a retried error is no end", async () => {
    const { client, model, sessionId } = await openStage([OVERLOADED, { text: "Recovered." }]);
    expect(await client.prompt(sessionId, "Try").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Recovered.");
    expect(model.requests).toHaveLength(2);
    expect(client.updates(sessionId).filter(({ toolCallId }) => toolCallId !== undefined)).toMatchObject([
      { sessionUpdate: "tool_call", title: expect.stringMatching(/^Try the model again \(1 of 1\): .*overloaded/) },
      { sessionUpdate: "tool_call_update", status: "completed" },
    ]);
  });

  test("G4: a turn in which Pi shortens the conversation ends after that, and the user sees it", async () => {
    const settings = { compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 10 } };
    const usage = { inputTokens: 127_000, outputTokens: 10 };
    const script: Script = ({ tools, messages }) => {
      if (tools.length === 0) return { text: "Summary." };
      return messages.at(-1)?.text === "Go on" ? { text: "Long read.", usage } : { text: "Hello." };
    };
    const { client, sessionId } = await openStage(script, { settings });
    await client.prompt(sessionId, "word ".repeat(20_000)).answer;
    expect(await client.prompt(sessionId, "Go on").answer).toMatchObject({ stopReason: "end_turn" });
    expect(await client.prompt(sessionId, "And on").answer).toMatchObject({ stopReason: "end_turn" });
    const updates = client.updates(sessionId);
    const shown = updates.filter(({ toolCallId }) => String(toolCallId).startsWith("pi-compaction-"));
    expect(shown).toMatchObject([
      { sessionUpdate: "tool_call", title: expect.stringContaining("Shorten the conversation"), status: "in_progress" },
      {
        sessionUpdate: "tool_call_update",
        status: "completed",
        content: [{ content: { text: expect.stringContaining("Summary.") } }],
      },
    ]);
  });

  test("a reply cut off by its length ends with max_tokens", async () => {
    const { client, sessionId } = await openStage([{ text: "And then", finishReason: "length" }]);
    expect(await client.prompt(sessionId, "Tell").answer).toMatchObject({ stopReason: "max_tokens" });
  });

  test("a prompt that an extension deals with ends without a model request", async () => {
    const extension = `export default (pi) => {
      pi.registerCommand("hello", { description: "says hello", handler: async () => {} });
    };`;
    const { client, model, sessionId } = await openStage([], { extension });
    expect(await client.prompt(sessionId, "/hello").answer).toMatchObject({ stopReason: "end_turn" });
    expect(model.requests).toHaveLength(0);
  });

  test("a model that fails is an error that names Pi and the model's message; the next prompt works", async () => {
    const { client, sessionId } = await openStage([
      { error: { status: 401, message: "key revoked" } },
      { text: "Hello." },
    ]);
    await expect(client.prompt(sessionId, "Try").answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/Pi's model failed.*key revoked/),
      data: { reason: "modelFailed" },
    });
    expect(await client.prompt(sessionId, "Again").answer).toMatchObject({ stopReason: "end_turn" });
  });
});
