import { describe, expect, test } from "vitest";
import { obedient, openAgent, receiptsOf, script, spawnAgent } from "./steer-jsonl-stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const DONE = { type: "done" };
const READS_STEERS = { name: "Obedient", steer: "nextStep" };

const steeringOf = (initialized: Record<string, unknown>): unknown =>
  (initialized["_meta"] as Record<string, unknown>)["steering"];

describe("steers", () => {
  test("an agent that does not say that it reads steers gets them in a continuation, and that is advertised", async () => {
    const { client, sessionId, initialized, traffic } = await openAgent(obedient());
    expect(steeringOf(initialized)).toMatchObject({ supported: true, emulated: true });
    let allow = (): void => {};
    client.permission = () =>
      new Promise((resolve) => {
        allow = () => resolve({ outcome: { outcome: "selected", optionId: "allow" } });
      });
    const turn = client.prompt(sessionId, script({ type: "ask", id: "q1" }, { wait: "answer" }, DONE));
    await client.waitFor(({ message }) => message?.method === "session/request_permission");
    const steer = script({ type: "text", text: "heard" }, DONE);
    expect(await client.steer(sessionId, steer)).toMatchObject({ outcome: "injected" });
    allow();
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("heard");
    expect((await traffic()).toAgent.map(({ type }) => type)).toEqual(["open", "prompt", "answer", "prompt"]);
  });

  test("G1 G2: what is not called delivered when the run is done comes once more, as a prompt; the rest does not", async () => {
    const { client, sessionId, initialized, traffic } = await openAgent(obedient(READS_STEERS));
    expect(steeringOf(initialized)).toMatchObject({ emulated: false, content: ["text", "resource_link", "resource"] });
    const steps = [{ wait: "steer" }, { wait: "steer" }, { type: "delivered", id: "$1" }, DONE];
    const turn = client.prompt(sessionId, script(...steps));
    await client.steer(sessionId, "the first");
    const second = script({ type: "text", text: "second heard" }, DONE);
    await client.steer(sessionId, second);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("second heard");
    expect(receiptsOf(client)).toEqual(["turnStarted", "delivered", "delivered", "turnEnded"]);
    const { toAgent } = await traffic();
    expect(toAgent.flatMap(({ type, text }) => (type === "prompt" || type === "steer" ? [[type, text]] : []))).toEqual([
      ["prompt", script(...steps)],
      ["steer", "the first"],
      ["steer", second],
      ["prompt", second],
    ]);
  });

  test("G2: a steer that the agent hands back before it is done comes in the continuation", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient(READS_STEERS));
    const turn = client.prompt(sessionId, script({ wait: "steer" }, { type: "undelivered", id: "$1" }, DONE));
    const steer = script({ type: "text", text: "heard" }, DONE);
    await client.steer(sessionId, steer);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("heard");
    expect((await traffic()).toAgent.filter(({ text }) => text === steer).map(({ type }) => type)).toEqual([
      "steer",
      "prompt",
    ]);
  });

  test("G1 G6: a steer that was not delivered is handed back when the turn is cancelled", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient(READS_STEERS));
    const turn = client.prompt(
      sessionId,
      script({ wait: "steer" }, { type: "text", text: "ok" }, { wait: "interrupt" }, DONE),
    );
    await client.steer(sessionId, "too late to use");
    await client.waitForUpdate("agent_message_chunk");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(receiptsOf(client)).toEqual(["turnStarted", "undelivered/cancelled", "turnEnded"]);
    await traffic();
  });

  test("G1 G8: a steer is handed back when the agent is gone; the next prompt starts it again", async () => {
    const { client, sessionId } = await openAgent(obedient(READS_STEERS), { isTapped: false });
    const turn = client.prompt(sessionId, script({ wait: "steer" }, { exit: 3 }));
    await client.steer(sessionId, "lost with it");
    await expect(turn.answer).rejects.toMatchObject({
      message: expect.stringContaining("without the conversation so far"),
      data: { reason: "agentExited", steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
    const next = client.prompt(sessionId, script({ type: "text", text: "back" }, DONE));
    expect(await next.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("back");
  });

  test("images reach an agent that says it takes them, in a prompt and in a steer", async () => {
    const { client, sessionId, initialized, traffic } = await openAgent(obedient({ ...READS_STEERS, images: true }));
    expect(initialized).toMatchObject({ agentCapabilities: { promptCapabilities: { image: true } } });
    const image = { type: "image", data: PIXEL, mimeType: "image/png" };
    const steps = script({ wait: "steer" }, { type: "delivered", id: "$1" }, DONE);
    const turn = client.prompt(sessionId, [{ type: "text", text: steps }, image]);
    await client.steer(sessionId, [{ type: "text", text: "like this" }, image]);
    await turn.answer;
    const images = [{ data: PIXEL, mimeType: "image/png" }];
    expect((await traffic()).toAgent).toMatchObject([
      { type: "open" },
      { type: "prompt", images, text: steps },
      { type: "steer", images, text: "like this" },
    ]);
  });
});

describe("what the agent shows", () => {
  test("text, thoughts, tools, plans and usage become updates; what is unknown is ignored", async () => {
    const { client, sessionId, cwd, traffic } = await openAgent(obedient());
    const answer = await client.prompt(
      sessionId,
      script(
        { type: "thought", text: "Hm." },
        { type: "text", text: "Let" },
        { type: "text", text: " me" },
        {
          type: "plan",
          entries: [
            { text: "Look", status: "in_progress" },
            { text: "Think", priority: "high" },
          ],
        },
        { type: "tool", id: "t1", title: "Edit a.txt", kind: "edit", files: ["a.txt", { path: "b.txt", line: 3 }] },
        {
          type: "tool",
          id: "t1",
          status: "completed",
          text: "ok",
          diffs: [{ path: "a.txt", before: "1", after: "2" }],
        },
        { type: "tool", id: "t2", input: { any: 1 } },
        { type: "usage", used: 10, size: 100 },
        { type: "done", stopReason: "max_tokens", usage: { inputTokens: 3, outputTokens: 4 } },
      ),
    ).answer;
    expect(answer).toMatchObject({
      stopReason: "max_tokens",
      usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
    });
    const updates = client
      .updates(sessionId)
      .filter(({ sessionUpdate }) => sessionUpdate !== "available_commands_update");
    const words = updates.slice(1, 3).map(({ messageId }) => messageId);
    expect(new Set(words).size).toBe(1);
    expect(updates.map(({ messageId: _, ...update }) => update)).toEqual([
      { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Let" } },
      { sessionUpdate: "agent_message_chunk", content: { type: "text", text: " me" } },
      {
        sessionUpdate: "plan",
        entries: [
          { content: "Look", priority: "medium", status: "in_progress" },
          { content: "Think", priority: "high", status: "pending" },
        ],
      },
      {
        ...{ sessionUpdate: "tool_call", toolCallId: "t1", title: "Edit a.txt", kind: "edit", status: "in_progress" },
        locations: [{ path: `${cwd}/a.txt` }, { path: `${cwd}/b.txt`, line: 3 }],
      },
      {
        ...{ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" },
        content: [
          { type: "diff", path: `${cwd}/a.txt`, oldText: "1", newText: "2" },
          { type: "content", content: { type: "text", text: "ok" } },
        ],
      },
      {
        ...{ sessionUpdate: "tool_call", toolCallId: "t2", title: "t2", kind: "other", status: "in_progress" },
        rawInput: { any: 1 },
      },
      { sessionUpdate: "usage_update", used: 10, size: 100 },
      { sessionUpdate: "tool_call_update", toolCallId: "t2", status: "completed" },
    ]);
    await traffic();
  });

  test("a type and a member that are unknown cost nothing", async () => {
    const { client, sessionId } = await openAgent(obedient({ colour: "red" }));
    const steps = script({ type: "sing", text: "la" }, { type: "text", text: "here", loud: true }, DONE);
    expect(await client.prompt(sessionId, steps).answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("here");
  });

  test("U+2028 and U+2029, at which some readers end a line, are not in the lines that the agent reads", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient());
    await client.prompt(sessionId, script({ type: "text", text: "one\u2028two\u2029three" }, DONE)).answer;
    expect(client.agentText(sessionId)).toBe("one\u2028two\u2029three");
    expect((await traffic()).textToAgent).not.toMatch(/[\u2028\u2029]/);
  });

  test("an error ends the run with the agent's words", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient(READS_STEERS));
    const turn = client.prompt(sessionId, script({ type: "error", message: "no model" }));
    await expect(turn.answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Obedient failed: no model/),
      data: { reason: "agentFailed" },
    });
    await traffic();
  });
});

describe("questions to the user", () => {
  const ask = { type: "ask", id: "q1", title: "rm -r build", kind: "execute" };
  const chosen = async (options: Record<string, unknown>[] | undefined, optionId: string): Promise<unknown> => {
    const { client, sessionId, traffic } = await openAgent(obedient());
    client.permission = () => ({ outcome: { outcome: "selected", optionId } });
    await client.prompt(sessionId, script({ ...ask, ...(options && { options }) }, { wait: "answer" }, DONE)).answer;
    const { toAgent } = await traffic();
    return toAgent.find(({ type }) => type === "answer");
  };

  test("without options the user may allow or reject", async () => {
    expect(await chosen(undefined, "reject")).toEqual({ type: "answer", id: "q1", option: "reject" });
  });

  test("the agent's own options", async () => {
    const options = [{ id: "fast", label: "Quickly", kind: "allow_always" }, { id: "slow" }];
    expect(await chosen(options, "slow")).toEqual({ type: "answer", id: "q1", option: "slow" });
  });

  test("a question shows the tool call that it is about", async () => {
    const { client, sessionId } = await openAgent(obedient());
    await client.prompt(sessionId, script({ ...ask, tool: "t1" }, { wait: "answer" }, DONE)).answer;
    expect(await client.waitForUpdate("tool_call")).toMatchObject({
      toolCallId: "t1",
      status: "pending",
      kind: "execute",
    });
    const { message } = await client.waitFor(({ message }) => message?.method === "session/request_permission");
    expect(message?.params).toMatchObject({
      toolCall: { toolCallId: "t1", title: "rm -r build", kind: "execute" },
      options: [{ optionId: "allow" }, { optionId: "reject" }],
    });
  });

  test("a question that is open when the run is done is taken back, and not answered any more", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient());
    client.permission = () => new Promise(() => {});
    expect(await client.prompt(sessionId, script(ask, DONE)).answer).toMatchObject({ stopReason: "end_turn" });
    const { message } = await client.waitFor(({ message }) => message?.method === "session/request_permission");
    const withdrawal = await client.waitFor(({ message }) => message?.method === "$/cancel_request");
    expect(withdrawal.message?.params).toMatchObject({ requestId: message?.id });
    await client.prompt(sessionId, script(DONE)).answer;
    expect((await traffic()).toAgent.map(({ type }) => type)).toEqual(["open", "prompt", "prompt"]);
  });

  test("G6: a question that is open when the turn is cancelled is answered with no option", async () => {
    const { client, sessionId, traffic } = await openAgent(obedient());
    client.permission = () => new Promise(() => {});
    const turn = client.prompt(sessionId, script(ask, { wait: "answer" }, DONE));
    await client.waitFor(({ message }) => message?.method === "session/request_permission");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    const { toAgent } = await traffic();
    expect(toAgent.filter(({ type }) => type === "answer")).toEqual([{ type: "answer", id: "q1", option: null }]);
  });
});

describe("the hello", () => {
  test.each([
    [{ version: 2 }, /hello has version 2.*version 1 of steer-jsonl/],
    [{ steer: "often" }, /hello has steer "often".*now, afterTool, nextStep/],
  ])("%j is an error that says what is wrong", async (hello, message) => {
    const { client, cwd } = await spawnAgent(obedient(hello));
    await expect(client.newSession(cwd)).rejects.toMatchObject({ message: expect.stringMatching(message) });
  });
});

describe("conversations of before", () => {
  const history = ["resume", "fork", "replay", "list"];

  test("are listed, loaded with what was said, resumed and forked", async () => {
    const { client, cwd, initialized, traffic } = await spawnAgent(obedient({ history }));
    expect(initialized).toMatchObject({ agentCapabilities: { loadSession: true } });
    const here = await client.request<{ sessions: unknown[] }>("session/list", { cwd });
    expect(here.sessions).toEqual([{ sessionId: "first", cwd, title: "The first", updatedAt: "2026-01-02T03:04:05Z" }]);
    await client.request("session/load", { sessionId: "first", cwd, mcpServers: [] });
    expect(client.updates("first").map(({ sessionUpdate }) => sessionUpdate)).toEqual(
      expect.arrayContaining(["user_message_chunk", "agent_thought_chunk", "tool_call", "agent_message_chunk"]),
    );
    await client.request("session/resume", { sessionId: "second", cwd, mcpServers: [] });
    const forked = await client.request("session/fork", { sessionId: "second", cwd, mcpServers: [] });
    expect(forked).toMatchObject({ sessionId: "second-copy" });
    const opens = (await traffic()).toAgent.filter(({ type }) => type === "open");
    expect(opens.map(({ conversation, fork }) => [conversation, fork])).toEqual(
      expect.arrayContaining([
        ["first", undefined],
        ["second", undefined],
        ["second", true],
      ]),
    );
  });

  test("one that the agent does not know is an error with its words", async () => {
    const { client, cwd } = await spawnAgent(obedient({ history }));
    await expect(client.request("session/resume", { sessionId: "nobody", cwd, mcpServers: [] })).rejects.toMatchObject({
      message: expect.stringContaining("There is no conversation nobody"),
    });
  });

  test("G8: an agent that has gone goes on with its conversation", async () => {
    const { client, sessionId } = await openAgent(obedient({ history: ["resume"] }), { isTapped: false });
    await expect(client.prompt(sessionId, script({ exit: 1 })).answer).rejects.toThrow("with the conversation so far");
    const next = client.prompt(sessionId, script({ type: "text", text: "this is $conversation" }, DONE));
    expect(await next.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("this is first");
  });
});
