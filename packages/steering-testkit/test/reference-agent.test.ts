import { afterEach, describe, expect, test } from "vitest";
import { type ModelServer, type Script, startModelServer } from "../src/model-server/index.js";
import { type Road, referenceAgent } from "../src/reference/reference-agent.js";
import { WireClient } from "../src/wire-client.js";

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

interface Scene {
  readonly model: ModelServer;
  readonly client: WireClient;
  readonly sessionId: string;
}

async function open(road: Road, script: Script): Promise<Scene> {
  const model = await startModelServer({ script });
  const client = WireClient.connect(referenceAgent({ road, modelUrl: model.url }));
  opened.push(client, model);
  await client.initialize({ _meta: { steering: { receipts: true } } });
  return { model, client, sessionId: await client.newSession(process.cwd()) };
}

const lastTexts = (model: ModelServer): (readonly [string, string])[] =>
  (model.requests.at(-1)?.messages ?? []).map(({ role, text }) => [role, text] as const);

const shell = (command: string): { name: string; arguments: unknown } => ({ name: "shell", arguments: { command } });

describe.each(["inbox", "driver"] as const)("the reference agent, %s", (road) => {
  test("G1 no lost steer: one that comes while a tool waits is in the next question to the model", async () => {
    const script = [
      { text: "Let me see.", toolCalls: [shell("echo out; echo err >&2")], hold: "talk", holdAt: "afterText" as const },
    ];
    const { model, client, sessionId } = await open(road, [...script, { text: "Done" }]);
    const turn = client.prompt(sessionId, "Look");
    await model.held("talk");
    expect(await client.steer(sessionId, "not there")).toMatchObject({ outcome: "injected" });
    model.release("talk");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      _meta: { steering: { runs: [{ stopReason: "end_turn" }] } },
    });
    expect(lastTexts(model)).toEqual([
      ["user", "Look"],
      ["assistant", "Let me see."],
      ["tool", expect.stringMatching(/^(out\nerr|err\nout)\n$/)],
      ["user", "not there"],
    ]);
    expect(client.agentText(sessionId)).toBe("Let me see.Done");
  });

  test("G1 no lost steer: one that comes with the last answer continues the turn", async () => {
    const { model, client, sessionId } = await open(road, [{ text: "Done", hold: "end", holdAt: "afterText" }]);
    const turn = client.prompt(sessionId, "Look");
    await model.held("end");
    await client.steer(sessionId, "and there");
    model.release("end");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(lastTexts(model).at(-1)).toEqual(["user", "and there"]);
  });

  test("an image in a prompt reaches the model", async () => {
    const { model, client, sessionId } = await open(road, [{ text: "Nice" }]);
    await client.prompt(sessionId, [{ type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" }]).answer;
    expect(model.requests[0]?.messages[0]?.images).toBe(1);
  });

  test("a rejected permission is told to the model, and the turn goes on", async () => {
    const { model, client, sessionId } = await open(road, [
      { toolCalls: [shell("touch never")] },
      { text: "Then not." },
    ]);
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "reject" } });
    expect(await client.prompt(sessionId, "Do it").answer).toEqual({ stopReason: "end_turn" });
    expect(lastTexts(model).at(-1)).toEqual(["tool", "The user did not allow this command."]);
  });

  test("a cancelled permission ends the run, and the conversation stays whole", async () => {
    const calls = [shell("echo one"), shell("echo two")];
    const { model, client, sessionId } = await open(road, [{ toolCalls: calls }, { text: "Again" }]);
    client.permission = () => ({ outcome: { outcome: "cancelled" } });
    expect(await client.prompt(sessionId, "Do it").answer).toEqual({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Go on").answer).toEqual({ stopReason: "end_turn" });
    expect(lastTexts(model).map(([role]) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  });

  test("G6 cancel: the question to the model is broken off at once", async () => {
    const { model, client, sessionId } = await open(road, [
      { text: "Let me think", hold: "talk", holdAt: "afterText" },
    ]);
    const turn = client.prompt(sessionId, "Think");
    await model.held("talk");
    client.cancel(sessionId);
    expect(await turn.answer).toEqual({ stopReason: "cancelled" });
    expect(await model.settled(0)).toMatchObject({ aborted: true });
  });

  test("G6 cancel: a command ends with all it has started", async () => {
    const { client, sessionId } = await open(road, [{ toolCalls: [shell("sleep 1000 & echo started; wait")] }]);
    const turn = client.prompt(sessionId, "Wait");
    await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
    client.cancel(sessionId);
    expect(await turn.answer).toEqual({ stopReason: "cancelled" });
  });

  test.each([
    [{ error: { status: 500, message: "out of order" } }, /answered 500.*out of order/],
    [{ text: ["one", "two"], cut: true }, /broke off its answer/],
    [{ text: ["one", "two"], malformed: true }, /broke off its answer/],
    [{ text: "one", streamError: { status: 500, message: "overloaded" } }, /broke off its answer: overloaded/],
    [{ cut: "start" as const }, /cannot be reached/],
  ])("G8 containment: a model that fails, %j, fails the turn and not the next", async (reply, message) => {
    const { client, sessionId } = await open(road, [reply, { text: "Back" }]);
    await expect(client.prompt(sessionId, "Hi").answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(message),
    });
    expect(await client.prompt(sessionId, "Hi again").answer).toEqual({ stopReason: "end_turn" });
  });

  test.each([
    ["length", "max_tokens"],
    ["content_filter", "refusal"],
  ])("a model that stops for %s ends the turn as %s", async (finishReason, stopReason) => {
    const { client, sessionId } = await open(road, [{ text: "Well", finishReason }]);
    expect(await client.prompt(sessionId, "Hi").answer).toEqual({ stopReason });
  });

  test("a tool that is not there and arguments that are none are told to the model", async () => {
    const toolCalls = [
      { name: "fly", arguments: { command: "true" } },
      { name: "shell", arguments: "{" },
    ];
    const { model, client, sessionId } = await open(road, [{ toolCalls }, { text: "Well" }]);
    await client.prompt(sessionId, "Fly").answer;
    expect(
      lastTexts(model)
        .slice(-2)
        .map(([, text]) => text),
    ).toEqual(Array(2).fill(expect.stringContaining("no such tool")));
  });

  test("a command that fails is told with its exit code", async () => {
    const { model, client, sessionId } = await open(road, [{ toolCalls: [shell("exit 3")] }, { text: "Well" }]);
    await client.prompt(sessionId, "Fail").answer;
    expect(lastTexts(model).at(-1)).toEqual(["tool", expect.stringContaining("exit code 3")]);
  });

  test("a command in a folder that is not there is the model's to think about", async () => {
    const { model, client } = await open(road, [{ toolCalls: [shell("true")] }, { text: "Well" }]);
    const sessionId = await client.newSession("/no/such/folder");
    expect(await client.prompt(sessionId, "Look").answer).toEqual({ stopReason: "end_turn" });
    expect(lastTexts(model).at(-1)).toEqual(["tool", expect.stringContaining("/no/such/folder")]);
  });

  test("a cancel with a permission open leaves a conversation in which every call has its result", async () => {
    const { model, client, sessionId } = await open(road, [
      { toolCalls: [shell("true"), shell("true")] },
      { text: "Well" },
    ]);
    client.permission = () => new Promise(() => {});
    const turn = client.prompt(sessionId, "Do it");
    await client.waitFor(({ message }) => message?.method === "session/request_permission");
    client.cancel(sessionId);
    expect(await turn.answer).toEqual({ stopReason: "cancelled" });
    await client.prompt(sessionId, "Go on").answer;
    expect(lastTexts(model).map(([role]) => role)).toEqual(["user", "assistant", "tool", "tool", "user"]);
  });

  test("a closed session takes no prompt until it is loaded, and shows then what was said", async () => {
    const { client, sessionId } = await open(road, [{ text: "Hello" }]);
    await client.prompt(sessionId, "Hi").answer;
    await client.request("session/close", { sessionId });
    await expect(client.prompt(sessionId, "Still there?").answer).rejects.toMatchObject({ code: -32002 });
    const before = client.log.length;
    await client.request("session/load", { sessionId, cwd: process.cwd(), mcpServers: [] });
    const replayed = client.log
      .slice(before)
      .flatMap(({ message }) => (message?.method === "session/update" ? [message.params] : []));
    expect(replayed).toMatchObject([
      { update: { sessionUpdate: "user_message_chunk", content: { text: "Hi" } } },
      { update: { sessionUpdate: "agent_message_chunk", content: { text: "Hello" } } },
    ]);
    expect(await client.prompt(sessionId, "Still there?").answer).toEqual({ stopReason: "end_turn" });
    expect(await client.request("session/list", {})).toEqual({ sessions: [{ sessionId, cwd: process.cwd() }] });
  });
});
