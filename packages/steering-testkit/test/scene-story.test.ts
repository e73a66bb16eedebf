import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, ModelTool, Reply } from "../src/model-server/index.js";
import { Describer } from "../src/scene/describe-message.js";
import { HOLD, LATE_STEER, PROMPT, STEER, storyReply } from "../src/scene/story.js";
import { shellToolbox, type Toolbox } from "../src/scene/toolbox.js";

const toolbox: Toolbox = {
  list: () => ({ name: "list", arguments: {} }),
  read: (file) => ({ name: "read", arguments: { file } }),
  rewrite: (file) => ({ name: "rewrite", arguments: { file } }),
  run: (command) => ({ name: "run", arguments: { command } }),
};

const user = (text: string): ModelMessage => ({ role: "user", text, images: 0 });
const requestWith = (messages: readonly ModelMessage[], tools: readonly ModelTool[] = []): ModelRequest =>
  ({ index: 0, messages, tools }) as unknown as ModelRequest;

/** What an agent would send back: the reply with its tool calls, and a result for each. */
function historyOf({ text = "", toolCalls = [] }: Reply): ModelMessage[] {
  const calls = toolCalls.map(({ name }, index) => ({ id: `${index}`, name, arguments: "" }));
  const assistant: ModelMessage = { role: "assistant", text: String(text), images: 0, toolCalls: calls };
  return [assistant, ...calls.map(({ id }) => ({ role: "tool", text: "", images: 0, toolCallId: id }))];
}

/** Plays a run to the model's last word; the steer is put in after the answer with that number. */
function play(history: ModelMessage[], steerAfter?: number): string[] {
  const calls: string[] = [];
  for (let answer = 1; ; answer += 1) {
    const reply = storyReply(requestWith(history), () => toolbox);
    history.push(...historyOf(reply));
    for (const { name, arguments: given } of reply.toolCalls ?? []) {
      calls.push([name, (given as { file?: string }).file].filter(Boolean).join(" "));
    }
    if (steerAfter === answer) history.push(user(`[from the user] ${STEER}`));
    else if (reply.toolCalls === undefined) return calls;
  }
}

describe("the scripted model", () => {
  test("works on the wrong file until it is told otherwise", () => {
    const calls = play([user(PROMPT)]);
    expect(calls).toEqual(["list", "read src/greeting.mjs", "read check.mjs", "rewrite src/greeting.mjs", "run"]);
  });

  test("leaves it alone when the steer comes in time", () => {
    const calls = play([user(PROMPT)], 3);
    expect(calls).toEqual(["list", "read src/greeting.mjs", "read check.mjs", "rewrite src/farewell.mjs", "run"]);
  });

  test.each([4, 5, 6])("sets it right when the steer comes after answer %i", (answer) => {
    const calls = play([user(PROMPT)], answer);
    expect(calls.slice(answer === 6 ? 5 : answer)).toEqual([
      "rewrite src/farewell.mjs",
      "rewrite src/greeting.mjs",
      "run",
    ]);
  });

  test("announces the wrong file in an answer that is held open, and never holds again once it was steered", () => {
    const history = [user(PROMPT)];
    const held: boolean[] = [];
    for (let answer = 0; answer < 3; answer += 1) {
      const reply = storyReply(requestWith(history), () => toolbox);
      held.push(reply.hold === HOLD);
      history.push(...historyOf(reply));
    }
    expect(held).toEqual([false, false, true]);
    history.push(user(STEER));
    expect(storyReply(requestWith(history), () => toolbox).hold).toBeUndefined();
  });

  test("only talks where there is no tool, and gives the turn after the steer one last word", () => {
    const bare = [user(PROMPT)];
    expect(storyReply(requestWith(bare))).toMatchObject({ hold: HOLD });
    expect(storyReply(requestWith([...bare, user(STEER)]))).toEqual({ text: "Understood: not that file." });
    const late = storyReply(requestWith([...bare, user(STEER), user(LATE_STEER)]), () => toolbox);
    expect(late).not.toHaveProperty("toolCalls");
  });

  test("finds the shell of an agent under its usual names, and only with a command to give", () => {
    const offering = (name: string, property: string): ModelRequest =>
      requestWith([], [{ name, description: "", parameters: { properties: { [property]: {} } } }]);
    expect(shellToolbox(offering("Bash", "command"))?.run("ls")).toEqual({
      name: "Bash",
      arguments: { command: "ls" },
    });
    expect(shellToolbox(offering("bash", "script"))).toBeUndefined();
    expect(shellToolbox(offering("paint", "command"))).toBeUndefined();
    expect(shellToolbox(requestWith([]))).toBeUndefined();
  });
});

describe("messages in words", () => {
  const update = (fields: Record<string, unknown>): { method: string; params: unknown } => ({
    method: "session/update",
    params: { sessionId: "s", update: fields },
  });

  test("an update of a tool call shows its title again, and paths within the project are short", () => {
    const describer = new Describer("/projects/demo");
    describer.describe(
      update({ sessionUpdate: "tool_call", toolCallId: "1", title: "Edit /projects/demo/a.mjs", status: "pending" }),
    );
    expect(
      describer.describe(update({ sessionUpdate: "tool_call_update", toolCallId: "1", status: "completed" })),
    ).toEqual({
      name: "tool_call_update",
      text: "completed Edit a.mjs",
    });
  });

  test("the steer, its answer and its receipts stand out; the receipts of turns do not", () => {
    const describer = new Describer("/p");
    const about = (message: object, method?: string): unknown => describer.describe(message, method).about;
    expect(about({ method: "_session/steering", params: { prompt: [] } })).toBe("steer");
    expect(about({ result: { outcome: "injected" } }, "_session/steering")).toBe("steer");
    expect(about({ method: "_session/steering/update", params: { messageId: "m", state: "delivered" } })).toBe("steer");
    expect(about({ method: "_session/steering/update", params: { state: "turnStarted" } })).toBeUndefined();
    expect(about({ method: "session/prompt", params: { prompt: [] } })).toBeUndefined();
  });

  test.each([
    [{ error: { code: -32602, message: "no prompt" } }, "session/prompt", "error -32602: no prompt"],
    [{ result: { stopReason: "end_turn" } }, "session/prompt", "end_turn"],
    [
      { result: { outcome: "promptRequired", reason: "noRunningTurn" } },
      "_session/steering",
      "promptRequired, noRunningTurn",
    ],
    [{ result: { protocolVersion: 1 } }, "initialize", "an unnamed agent; _meta.steering is not there"],
    [{ result: null }, "session/close", ""],
  ])("the answer %j to %s is shown", (message, method, text) => {
    expect(new Describer("/p").describe(message, method)).toMatchObject({ name: `answer: ${method}`, text });
  });

  test.each([
    [
      { sessionUpdate: "tool_call", content: [{ type: "diff", path: "a.mjs" }], status: "pending" },
      "pending diff of a.mjs",
    ],
    [{ sessionUpdate: "available_commands_update", availableCommands: [{ name: "steer" }] }, "/steer"],
    [{ sessionUpdate: "agent_message_chunk", content: { type: "image" } }, "(image)"],
    [{ sessionUpdate: "unheard_of", field: 1 }, '{"field":1}'],
    [{}, ""],
  ])("the update %j is shown", (fields, text) => {
    expect(new Describer("/p").describe(update(fields)).text).toBe(text);
  });
});
