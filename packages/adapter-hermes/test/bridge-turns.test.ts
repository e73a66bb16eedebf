import { expect, test } from "vitest";
import { createStage, heldCommand, prompt, run, SECRET, type Stage } from "./stand-in/stage.js";

const calls = ({ bridge }: Stage) =>
  bridge.lines
    .filter(({ type }) => type === "tool_start" || type === "tool_end")
    .map((line) => `${line.type} ${line["call"]}${line["unfinished"] ? " unfinished" : ""}`);

test("a turn streams thought and text in order and ends after the last of them", async () => {
  const stage = await createStage({ script: [{ reasoning: ["I ", "think."], text: ["It ", "is ", "so."] }] });
  const end = await prompt(stage, "t1");
  expect(end).toEqual({ stopReason: "end_turn", usage: null, delivered: [], undelivered: [] });
  const { lines } = stage.bridge;
  expect(lines.filter(({ turn }) => turn === "t1").map(({ type, text }) => [type, text])).toEqual([
    ["reasoning", "I "],
    ["reasoning", "think."],
    ["text", "It "],
    ["text", "is "],
    ["text", "so."],
  ]);
  expect(lines.at(-1)?.type).toBe("reply");
});

test("usage is that of the turn alone", async () => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const stage = await createStage({
    script: [
      { text: "One.", usage },
      { text: "Two.", usage: { inputTokens: 150, outputTokens: 5 } },
    ],
  });
  await prompt(stage, "t1");
  expect((await prompt(stage, "t2")).usage).toEqual({ inputTokens: 150, outputTokens: 5, totalTokens: 155 });
});

test("the history of one turn is before the model in the next", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  await prompt(stage, "t1", "first question");
  await prompt(stage, "t2", "second question");
  expect(stage.model.requests[1]?.messages.map(({ text }) => text)).toEqual([
    "first question",
    "One.",
    "second question",
  ]);
});

test("images go to the model as they came, and the history keeps the words", async () => {
  const stage = await createStage({ script: [{ text: "A cat." }] });
  const { bridge, session, model } = stage;
  const url = "data:image/png;base64,iVBORw0KGgo=";
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url } },
  ];
  await bridge.request("prompt", { session, turn: "t1", content, text: "What is it?" });
  expect(model.requests[0]?.messages[0]).toMatchObject({ text: "What is it?", images: 1 });
});

test("tool calls carry Hermes' ids, arguments, absolute paths and results", async () => {
  const stage = await createStage();
  stage.model.enqueue(
    { toolCalls: [{ id: "call_7", name: "read_file", arguments: { path: "missing.txt" } }] },
    { text: "No." },
  );
  await prompt(stage, "t1");
  const path = `${stage.cwd}/missing.txt`;
  expect(await stage.bridge.next("tool_start")).toMatchObject({
    call: "call_7",
    name: "read_file",
    args: { path: "missing.txt" },
    paths: [path],
  });
  expect(await stage.bridge.next("tool_end")).toMatchObject({
    call: "call_7",
    failed: true,
    result: expect.stringContaining("missing.txt"),
  });
});

test("a long result is cut, and its length is told", async () => {
  const stage = await createStage();
  stage.model.enqueue(run("yes | head -c 300000"), { text: "Long." });
  await prompt(stage, "t1");
  const end = await stage.bridge.next("tool_end");
  expect((end["result"] as string).length).toBe(262_144);
  expect(end["length"]).toBeGreaterThan(300_000);
});

test("parallel calls of one tool with repeated ids get an end each", async () => {
  const stage = await createStage();
  const call = { id: "call_0", name: "terminal", arguments: { command: "true" } };
  stage.model.enqueue({ toolCalls: [call] }, { toolCalls: [call] }, { text: "Twice." });
  await prompt(stage, "t1");
  const [first, firstEnd, second, secondEnd] = calls(stage);
  expect([first, firstEnd]).toEqual(["tool_start call_0", "tool_end call_0"]);
  expect(second).toMatch(/^tool_start call_0#\d+$/);
  expect(secondEnd).toBe(second?.replace("start", "end"));
});

test.each(["anonymous", "progress-only"])(
  "calls without ids ('%s') are matched first in, first out by their name",
  async (fault) => {
    const stage = await createStage();
    stage.home.fault(fault);
    const echo = (word: string) => ({ name: "terminal", arguments: { command: `echo ${word}` } });
    stage.model.enqueue(
      { toolCalls: [echo("one"), echo("two"), { name: "todo", arguments: { todos: "[]" } }] },
      { text: "Done." },
    );
    await prompt(stage, "t1");
    const starts = stage.bridge.all("tool_start");
    const ends = stage.bridge.all("tool_end");
    expect(ends.map(({ call }) => call)).toEqual(starts.map(({ call }) => call));
    expect(new Set(starts.map(({ call }) => call)).size).toBe(3);
    expect(ends.map(({ result }) => /one|two|todos/.exec(result as string)?.[0])).toEqual(["one", "two", "todos"]);
  },
);

test("G4 one answer: a call whose end never comes is closed at the end of the turn", async () => {
  const stage = await createStage();
  stage.home.fault("silent-end");
  stage.model.enqueue(run("true"), { text: "Done." });
  await prompt(stage, "t1");
  expect(calls(stage)).toEqual(["tool_start call_0_0", "tool_end call_0_0 unfinished"]);
  expect(stage.bridge.lines.at(-1)?.type).toBe("reply");
});

test.each([
  ["unstreamed", "One."],
  ["transformed", "One.\n\nRewritten: One."],
  ["none", "One."],
])("the final text is there once when the answer is '%s'", async (fault, shown) => {
  const stage = await createStage({ script: [{ text: "One." }] });
  stage.home.fault(fault);
  expect(await prompt(stage, "t1")).toMatchObject({ stopReason: "end_turn" });
  expect(stage.bridge.text("t1")).toBe(shown);
});

test("final text that was not streamed stands apart from what was said before the tools", async () => {
  const stage = await createStage();
  const { command, running } = heldCommand(stage.home);
  stage.model.enqueue({ text: "Looking.", ...run(command) }, { text: "One." });
  const turn = prompt(stage, "t1");
  const release = await running;
  stage.home.fault("unstreamed");
  await release();
  await turn;
  expect(stage.bridge.text("t1")).toBe("Looking.\n\nOne.");
});

test.each([
  ["truncated", "max_tokens"],
  ["exhausted", "max_turn_requests"],
])("a turn that is %s ends with %s", async (fault, stopReason) => {
  const stage = await createStage({ script: [{ text: "One." }] });
  stage.home.fault(fault);
  expect(await prompt(stage, "t1")).toMatchObject({ stopReason });
});

test("a failed turn is an error that says what happened and does not name the key", async () => {
  const stage = await createStage({ script: [{ text: "One." }] });
  stage.home.fault("failed");
  const error = await prompt(stage, "t1").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "agentFailed", message: expect.stringContaining("HTTP 500 for key [redacted]") });
  expect(JSON.stringify(stage.bridge.lines) + stage.bridge.noise).not.toContain(SECRET);
});

test("a model that refuses the key asks for authentication", async () => {
  const stage = await createStage({ script: [{ error: { status: 401, message: "invalid api key" } }] });
  const error = await prompt(stage, "t1").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "authRequired", message: expect.stringContaining("hermes model") });
});

test.each([
  ["raise", "RuntimeError: the agent broke"],
  ["exit", "SystemExit: 3"],
])("G8 containment: an agent that breaks ('%s') fails its turn, and the next one runs", async (fault, said) => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  stage.home.fault(fault);
  await expect(prompt(stage, "t1")).rejects.toMatchObject({
    code: "agentFailed",
    message: expect.stringContaining(said),
  });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G8 containment: a turn without Hermes' finalizer ends, hands back its steers and keeps the history", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }, { text: "Two." }] });
  stage.home.fault("early");
  const turn = prompt(stage, "t1", "the question");
  await stage.model.held("model");
  await stage.bridge.request("steer", { session: stage.session, turn: "t1", steer: "m1", text: "left in the slot" });
  stage.model.release("model");
  expect(await turn).toMatchObject({ stopReason: "end_turn", undelivered: ["m1"] });
  await prompt(stage, "t2");
  expect(stage.model.requests[1]?.messages[0]?.text).toBe("the question");
});

test("G7 isolation: what a thread of a finished turn still streams is not written", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  stage.home.fault("late-delta");
  const later = ["later", "later-done"].map((point) => stage.home.gate(point));
  await prompt(stage, "t1");
  for (const point of later) await (await point)();
  await prompt(stage, "t2");
  const replied = stage.bridge.lines.findIndex(({ type, id }) => type === "reply" && id === 2);
  expect(stage.bridge.lines.slice(replied + 1).every(({ turn: id }) => id !== "t1")).toBe(true);
});

test("a second prompt while a turn runs is refused and changes nothing", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  await expect(prompt(stage, "t2")).rejects.toMatchObject({ code: "busy" });
  stage.model.release("model");
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
});

test("eight sessions run their turns at the same time, each with its own events", async () => {
  const stage = await createStage({
    script: ({ messages }, index) => ({ text: `Answer to ${messages.at(-1)?.text}`, hold: `request ${index}` }),
  });
  const { bridge, model, cwd } = stage;
  const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
  const sessions = await Promise.all(names.map(async () => (await bridge.request("open", { cwd })).session as string));
  const turns = sessions.map((session, index) => prompt({ ...stage, session }, `question ${names[index]}`));
  for (const index of names.keys()) await model.held(`request ${index}`);
  for (const index of names.keys()) model.release(`request ${index}`);
  for (const end of await Promise.all(turns)) expect(end).toMatchObject({ stopReason: "end_turn" });
  for (const [index, session] of sessions.entries()) {
    const own = bridge.all("text").filter((line) => line["session"] === session);
    expect(own.map(({ text }) => text).join("")).toBe(`Answer to question ${names[index]}`);
    expect(own.every(({ turn }) => turn === `question ${names[index]}`)).toBe(true);
  }
});

test("the fill of the model's window is told where Hermes knows its size", async () => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const stage = await createStage({ script: [{ text: "One.", usage }], contextLength: 8_000 });
  await prompt(stage, "t1");
  expect(await stage.bridge.next("context", { turn: "t1" })).toMatchObject({ used: 100, size: 8_000 });
});

test("what Hermes says of its retries is passed on, without the key", async () => {
  const stage = await createStage();
  stage.home.fault("wipe");
  stage.model.enqueue(run("true"), { text: "Done." });
  await prompt(stage, "t1");
  expect(await stage.bridge.next("status")).toMatchObject({ turn: "t1", text: "Trying again with [redacted]" });
});

test("G4 one answer: numbers that Hermes does not know hold up no answer", async () => {
  const stage = await createStage({ script: [{ text: "One." }] });
  stage.home.fault("no-size");
  const { session } = await stage.bridge.request("open", { cwd: stage.cwd });
  expect(await prompt({ ...stage, session }, "t1")).toMatchObject({ stopReason: "end_turn" });
});
