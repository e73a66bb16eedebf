import { CODE } from "@acp-steering/core/protocol";
import { shellCall } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { NEVER_ASKS, openCodex, userTexts } from "./codex-stage.js";

interface Setting {
  readonly id: string;
  readonly currentValue: string;
  readonly options: readonly { readonly value: string }[];
}

const PATCH = `apply_patch <<'END'
*** Begin Patch
*** Update File: notes.txt
@@
 one
-two
+three
*** End Patch
END`;

describe("sessions of the real Codex", () => {
  test("a session is listed, loaded with its history, resumed and forked", async () => {
    const { client, cwd, model, sessionId, connect } = await openCodex((request) => {
      const look = shellCall(request, "echo seen");
      if (model.requests.length === 1 && look) return { reasoning: "Hm.", text: "I look.", toolCalls: [look] };
      return { text: "Done." };
    }, NEVER_ASKS);
    await client.prompt(sessionId, "Look around").answer;
    await client.request("session/close", { sessionId });

    const later = await connect();
    const { sessions } = await later.request<{ sessions: unknown[] }>("session/list", { cwd });
    expect(sessions).toMatchObject([{ sessionId, cwd, title: "Look around" }]);
    await later.request("session/load", { sessionId, cwd, mcpServers: [] });
    expect(later.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate !== "usage_update")).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "Look around" } },
      { sessionUpdate: "agent_thought_chunk", content: { text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", content: { text: "I look." } },
      { sessionUpdate: "tool_call", title: "echo seen", kind: "execute", status: "completed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done." } },
    ]);
    const fork = await later.request<{ sessionId: string }>("session/fork", { sessionId, cwd, mcpServers: [] });
    expect(fork.sessionId).not.toBe(sessionId);
    await later.prompt(fork.sessionId, "In the copy").answer;
    expect(userTexts(model).at(-1)).toEqual(["Look around", "In the copy"]);
    await later.prompt(sessionId, "In the old one").answer;
    expect(userTexts(model).at(-1)).toEqual(["Look around", "In the old one"]);
  });

  test("a session that Codex does not know is refused as not found", async () => {
    const { client, cwd } = await openCodex([]);
    const sessionId = "01a00000-0000-7000-8000-000000000000";
    await expect(client.request("session/load", { sessionId, cwd, mcpServers: [] })).rejects.toMatchObject({
      code: CODE.notFound,
      message: expect.stringContaining("List the sessions"),
    });
  });

  test("models, efforts and modes are offered, and count for the next request", async () => {
    const { client, model, opened, sessionId } = await openCodex((request) => {
      const touch = shellCall(request, "touch made", { asking: true });
      return model.requests.length % 2 === 1 && touch ? { toolCalls: [touch] } : { text: "Done." };
    });
    const settings = opened["configOptions"] as Setting[];
    expect(settings.map(({ id, currentValue }) => [id, currentValue])).toEqual([["model", "scripted"]]);
    expect(opened["modes"]).toMatchObject({ currentModeId: "read-only" });
    await client.prompt(sessionId, "Touch it").answer;
    const questions = (): number =>
      client.log.filter(({ message }) => message?.method === "session/request_permission").length;
    expect(questions()).toBe(1);

    const listed = settings[0]?.options.map(({ value }) => value).find((value) => value !== "scripted");
    const set = (configId: string, value: unknown): Promise<{ configOptions: Setting[] }> =>
      client.request("session/set_config_option", { sessionId, configId, value });
    const { configOptions } = await set("model", listed);
    const effort = configOptions.find(({ id }) => id === "effort")?.options.at(-2)?.value;
    await set("effort", effort);
    await client.request("session/set_mode", { sessionId, modeId: "full-access" });
    await client.prompt(sessionId, "Touch it again").answer;
    expect(questions()).toBe(1);
    expect(model.requests.at(-1)?.model).toBe(listed);
  });

  test("what the user is asked has an answer for once, for the session and against it", async () => {
    const { client, model, sessionId } = await openCodex((request) => {
      const touch = shellCall(request, "touch made", { asking: true });
      return model.requests.length % 2 === 1 && touch ? { toolCalls: [touch] } : { text: "Done." };
    });
    const asked: unknown[] = [];
    let answer = "decline";
    client.permission = (params) => {
      asked.push(params);
      return { outcome: { outcome: "selected", optionId: answer } };
    };
    await client.prompt(sessionId, "First").answer;
    expect(asked).toMatchObject([
      {
        toolCall: {
          title: "touch made",
          kind: "execute",
          content: [{ content: { text: "Shall this command be run?" } }],
        },
        options: [
          { optionId: "accept", kind: "allow_once" },
          { optionId: "acceptForSession", kind: "allow_always" },
          { kind: "allow_always", name: expect.stringContaining("touch made") },
          { optionId: "decline", kind: "reject_once" },
        ],
      },
    ]);
    const statuses = (): unknown[] => client.updates(sessionId).map(({ status }) => status);
    expect(statuses()).toContain("failed");
    answer = "acceptForSession";
    await client.prompt(sessionId, "Second").answer;
    expect(statuses()).toContain("completed");
    await client.prompt(sessionId, "Third").answer;
    expect(asked).toHaveLength(2);
  });

  test("a review and a compaction run as prompts, and a steer of theirs is not lost", async () => {
    const { client, model, sessionId } = await openCodex(() => ({ text: "Said." }));
    const { availableCommands } = await client.waitForUpdate("available_commands_update");
    const names = (availableCommands as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["compact", "review"]));
    await client.prompt(sessionId, "Begin").answer;
    for (const command of ["/review the plan", "/compact"]) {
      const turn = client.prompt(sessionId, command);
      const { outcome } = await client.steer(sessionId, `beside ${command}`);
      expect([outcome, (await turn.answer).stopReason]).toEqual(["injected", "end_turn"]);
      expect(userTexts(model).at(-1)).toContain(`beside ${command}`);
    }
    expect(client.updates(sessionId)).toContainEqual(expect.objectContaining({ title: "Compact the conversation" }));
    expect(userTexts(model).flat().join()).toContain("the plan");
  });

  test("a changed file is shown as its diff, and an image reaches the model", async () => {
    const { client, model, sessionId } = await openCodex((request) => {
      const [write, patch] = [shellCall(request, "printf 'one\\ntwo\\n' > notes.txt"), shellCall(request, PATCH)];
      if (model.requests.length === 1 && write) return { toolCalls: [write] };
      if (model.requests.length === 2 && patch) return { toolCalls: [patch] };
      return { text: "Done.", usage: { inputTokens: 100, outputTokens: 10 } };
    }, NEVER_ASKS);
    const image = { type: "image", mimeType: "image/png", data: PIXEL };
    const turn = await client.prompt(sessionId, [{ type: "text", text: "Change it" }, image]).answer;
    expect(turn).toMatchObject({
      stopReason: "end_turn",
      usage: { totalTokens: 110, inputTokens: 100, outputTokens: 10 },
    });
    expect(await client.waitForUpdate("tool_call", ({ kind }) => kind === "edit")).toMatchObject({
      title: "Edit notes.txt",
      content: [{ type: "diff", oldText: "one\ntwo", newText: "one\nthree" }],
      locations: [{ path: expect.stringMatching(/notes\.txt$/), line: 1 }],
    });
    expect(model.requests[0]?.messages.at(-1)).toMatchObject({ images: 1 });
  });
});

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
