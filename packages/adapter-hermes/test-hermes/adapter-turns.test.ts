import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openStage, startAdapter } from "./adapter-stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const run = (command: string) => ({ toolCalls: [{ name: "terminal", arguments: { command } }] });

describe("the real Hermes behind the adapter", () => {
  test("shows tool calls with kind, title, locations, diffs and results, and the plan", async () => {
    const { client, cwd, sessionId } = await openStage([
      { toolCalls: [{ name: "write_file", arguments: { path: "new.txt", content: "one\ntwo\n" } }] },
      { toolCalls: [{ name: "patch", arguments: { path: "new.txt", old_string: "two", new_string: "three" } }] },
      { toolCalls: [{ name: "read_file", arguments: { path: "new.txt" } }] },
      run("echo from shell; exit 3"),
      { toolCalls: [{ name: "search_files", arguments: { pattern: "three", path: "new.txt" } }] },
      { toolCalls: [{ name: "read_file", arguments: { path: "absent.txt" } }] },
      { toolCalls: [{ name: "todo", arguments: { todos: [{ id: "1", content: "Plan", status: "in_progress" }] } }] },
      { text: "Done.", usage: { inputTokens: 70, outputTokens: 7 } },
    ]);
    await client.request("session/set_config_option", { sessionId, configId: "mode", value: "accept_edits" });
    expect(await client.prompt(sessionId, "Use the tools").answer).toMatchObject({
      stopReason: "end_turn",
      usage: { totalTokens: 77 },
    });
    const path = join(cwd, "new.txt");
    const updates = client.updates(sessionId);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate === "tool_call")).toMatchObject([
      { kind: "edit", title: "Write new.txt", locations: [{ path }] },
      { kind: "edit", title: "Edit new.txt", content: [{ type: "diff", path }] },
      { kind: "read", title: "Read new.txt", locations: [{ path }] },
      { kind: "execute", title: "echo from shell; exit 3" },
      { kind: "search", title: 'Search "three" in new.txt' },
      { kind: "read", title: "Read absent.txt" },
      { kind: "other", title: "Update the plan" },
    ]);
    const text = (pattern: RegExp) => [{ content: { text: expect.stringMatching(pattern) } }];
    expect(updates.filter(({ status }) => status === "completed" || status === "failed")).toMatchObject([
      { status: "completed", content: [{ type: "diff", path, newText: "one\ntwo\n" }] },
      { status: "completed", content: [{ type: "diff", path, newText: "one\nthree\n" }] },
      { status: "completed", content: text(/^```\none\nthree\n+```$/) },
      { content: text(/from shell[\s\S]*Exit code 3/) },
      { status: "completed", content: text(/three/) },
      { status: "failed" },
      { status: "completed" },
    ]);
    expect(updates).toContainEqual({
      sessionUpdate: "plan",
      entries: [{ content: "Plan", priority: "medium", status: "in_progress" }],
    });
    expect(await readFile(path, "utf8")).toBe("one\nthree\n");
  });

  test("asks before an edit and before a dangerous command; denied, neither happens", async () => {
    const { client, cwd, sessionId } = await openStage([
      { toolCalls: [{ name: "write_file", arguments: { path: "a.txt", content: "new\n" } }] },
      run("rm -rf a.txt"),
      { text: "Understood." },
    ]);
    await writeFile(join(cwd, "a.txt"), "old\n");
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "deny" } });
    expect(await client.prompt(sessionId, "Change it").answer).toMatchObject({ stopReason: "end_turn" });
    const asked = client.log.filter(({ message }) => message?.method === "session/request_permission");
    expect(asked.map(({ message }) => message?.params)).toMatchObject([
      { toolCall: { kind: "edit", content: [{ type: "diff", oldText: "old\n", newText: "new\n" }] } },
      { toolCall: { kind: "execute", title: "rm -rf a.txt" } },
    ]);
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("old\n");
  });

  test("sees images and linked files", async () => {
    const { client, cwd, model, sessionId } = await openStage([{ text: "Seen." }]);
    await writeFile(join(cwd, "a.txt"), "linked text");
    const prompt = [
      { type: "text", text: "Look" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
      { type: "resource_link", name: "a.txt", uri: `file://${cwd}/a.txt` },
    ];
    await client.prompt(sessionId, prompt).answer;
    const message = model.requests[0]?.messages.at(-1);
    expect(message).toMatchObject({ images: 1, text: expect.stringContaining("linked text") });
  });

  test("G6: a cancel ends a command that runs, and the next prompt works", async () => {
    const { client, sessionId } = await openStage([run("sleep 600"), { text: "Next." }]);
    const turn = client.prompt(sessionId, "Sleep");
    await client.waitForUpdate("tool_call");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("G8: killed with -9 in a turn, it fails that prompt; the next one starts it again, with the history", async () => {
    const { client, model, sessionId } = await openStage([
      { text: "One." },
      { text: "x", hold: "model" },
      { text: "Three." },
    ]);
    await client.prompt(sessionId, "First task").answer;
    const turn = client.prompt(sessionId, "Second task");
    await model.held("model");
    process.kill(Number(/process (\d+)/.exec(client.stderr)?.[1]), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({ code: -32603, data: { reason: "agentExited" } });
    expect(await client.prompt(sessionId, "Third task").answer).toMatchObject({ stopReason: "end_turn" });
    expect(model.requests.at(-1)?.messages.map(({ text }) => text)).toEqual(
      expect.arrayContaining([expect.stringContaining("First task"), expect.stringContaining("Third task")]),
    );
  });

  test("a restart of the adapter loses no session", async () => {
    const { client, cwd, home, model, sessionId } = await openStage([{ text: "Done." }, { text: "Again." }]);
    await client.prompt(sessionId, "First task").answer;
    await client.close();
    const other = await startAdapter(home);
    await other.initialize();
    const { sessions } = await other.request<{ sessions: unknown[] }>("session/list", {});
    expect(sessions).toMatchObject([{ sessionId, cwd }]);
    await other.request("session/load", { sessionId, cwd, mcpServers: [] });
    const shown = other.updates(sessionId).filter(({ content }) => content !== undefined);
    expect(shown).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "First task" } },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done." } },
    ]);
    await other.prompt(sessionId, "Second task").answer;
    expect(model.requests.at(-1)?.messages.map(({ text }) => text)).toContain("First task");
  });

  test("stderr carries no prompt text", async () => {
    const { client, sessionId } = await openStage([{ text: "Done." }, { error: { status: 400, message: "broken" } }]);
    await client.prompt(sessionId, "a-very-private-word").answer;
    await client.prompt(sessionId, "a-very-private-word").answer.catch(() => {});
    expect(client.stderr).not.toContain("private");
    expect(client.stderr).toMatch(/^hermes-steering-acp: started Hermes 0\.19\.0/);
  });
});
