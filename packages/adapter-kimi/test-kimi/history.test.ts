import { describe, expect, test } from "vitest";
import { connectTo, openStage, realKimi, sharedKimi, temporaryFolder, userTexts } from "./stage.js";

const { openStage: openShared } = sharedKimi();

interface Listed {
  readonly sessions: { sessionId: string; cwd: string; title: string | null }[];
}

describe("the history of the real Kimi", () => {
  test("load shows the conversation as it was, without what Kimi tells its model in the user's name", async () => {
    const { client, cwd, model, sessionId } = await openShared([
      { reasoning: "Hm.", text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { toolCalls: [{ id: "same", name: "Bash", arguments: { command: "echo one" } }] },
      { text: "Done." },
      { toolCalls: [{ id: "same", name: "Bash", arguments: { command: "echo two" } }] },
      { text: "Again." },
      { text: "Still here." },
    ]);
    const turn = client.prompt(sessionId, "Do it");
    await model.held("held");
    await client.steer(sessionId, "quickly");
    model.release("held");
    await turn.answer;
    await client.prompt(sessionId, "Once more").answer;
    const live = client.updates(sessionId);
    const liveCalls = live
      .filter(({ sessionUpdate }) => sessionUpdate === "tool_call")
      .map(({ toolCallId }) => toolCallId);
    expect(new Set(liveCalls).size).toBe(2);
    await client.request("session/close", { sessionId });
    const from = client.log.length;
    await client.request("session/load", { sessionId, cwd, mcpServers: [] });
    const replayed = client.log
      .slice(from)
      .map(({ message }) => (message?.params as { update?: Record<string, unknown> } | undefined)?.update)
      .filter((update) => update !== undefined && update["sessionUpdate"] !== "available_commands_update");
    const shown = replayed.map((update) => {
      const content = update?.["content"] as { text?: string } | undefined;
      return [update?.["sessionUpdate"], update?.["toolCallId"] ?? content?.text];
    });
    const [first, second] = liveCalls;
    expect(shown).toEqual([
      ["user_message_chunk", "Do it"],
      ["agent_thought_chunk", "Hm."],
      ["agent_message_chunk", "Working on it."],
      ["user_message_chunk", "quickly"],
      ["tool_call", first],
      ["tool_call_update", first],
      ["agent_message_chunk", "Done."],
      ["user_message_chunk", "Once more"],
      ["tool_call", second],
      ["tool_call_update", second],
      ["agent_message_chunk", "Again."],
    ]);
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["Do it", "quickly", "Once more", "Still there?"]);
  });

  test("resume goes on without a replay; a fork has the messages and is another session; list, close, delete", async () => {
    const { client, cwd, model, sessionId } = await openShared([
      { text: "One." },
      { text: "Two." },
      { text: "Three." },
    ]);
    await client.prompt(sessionId, "First").answer;
    await client.request("session/close", { sessionId });
    await expect(client.prompt(sessionId, "Closed?").answer).rejects.toMatchObject({ code: -32002 });
    const from = client.log.length;
    await client.request("session/resume", { sessionId, cwd, mcpServers: [] });
    expect(client.log.slice(from).some(({ raw }) => raw.includes("First"))).toBe(false);
    await client.prompt(sessionId, "Second").answer;
    expect(userTexts(model).at(-1)).toEqual(["First", "Second"]);
    const fork = await client.request<{ sessionId: string }>("session/fork", { sessionId, cwd, mcpServers: [] });
    expect(fork.sessionId).not.toBe(sessionId);
    await client.prompt(fork.sessionId, "Third").answer;
    expect(userTexts(model).at(-1)).toEqual(["First", "Second", "Third"]);
    const list = () => client.request<Listed>("session/list", { cwd });
    // Kimi's list learns of a turn a moment after it has ended.
    await expect
      .poll(async () => (await list()).sessions.map((session) => session.sessionId).sort(), { timeout: 20_000 })
      .toEqual([sessionId, fork.sessionId].sort());
    const listed = await list();
    expect(listed.sessions).toContainEqual(expect.objectContaining({ sessionId, cwd, title: "First" }));
    await client.request("session/delete", { sessionId });
    await expect(client.prompt(sessionId, "Deleted?").answer).rejects.toMatchObject({ code: -32002 });
    await expect
      .poll(async () => (await list()).sessions.map((session) => session.sessionId), { timeout: 20_000 })
      .toEqual([fork.sessionId]);
  });

  test("a session that does not exist, and a folder that does not", async () => {
    const { client, cwd } = await openShared([]);
    const sessionId = "session_00000000-0000-0000-0000-000000000000";
    for (const method of ["load", "resume", "fork"]) {
      await expect(client.request(`session/${method}`, { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
        code: -32002,
        message: expect.stringContaining("Kimi has no session"),
      });
    }
    await expect(client.newSession("/no/such/folder")).rejects.toMatchObject({
      message: expect.stringContaining('The folder "/no/such/folder" does not exist'),
    });
  });

  test("two adapters on one home: the second is refused the first's session, which runs on; its own works", async () => {
    const { client, cwd, home, model, sessionId } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "Hello." },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    // In this process both would hold the lock: what tells them apart is what Kimi's other server says.
    const vendor = await realKimi(home);
    const second = connectTo(vendor);
    await second.initialize();
    await expect(second.request("session/load", { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
      message: expect.stringMatching(/in use by another Kimi/),
      data: { reason: "sessionInUse" },
    });
    const own = await second.newSession(await temporaryFolder());
    expect(await second.prompt(own, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
    model.release("held");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Working on it.");
    await vendor.dispose?.();
  });
});
