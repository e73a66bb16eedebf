import { describe, expect, test } from "vitest";
import { createStage, heldCommand, prompt, run, steer, told } from "./stand-in/stage.js";

test("G1 no lost steer: one that arrives while a tool runs is before the model with its result, and is reported then", async () => {
  const stage = await createStage();
  const { bridge, model, home } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { text: "Seen." });

  const turn = prompt(stage, "t1", "Begin");
  const release = await running;
  expect(await steer(stage, "t1", "m1", "not that file")).toBe("accepted");
  await release();

  expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: ["m1"], undelivered: [] });
  expect(told(model, 1)).toContain("not that file");
  const order = bridge.lines
    .filter(({ type }) => ["delivered", "tool_end", "text"].includes(type))
    .map(({ type }) => type);
  expect(order).toEqual(["tool_end", "delivered", "text"]);
});

test("G1 no lost steer: one between the batch of tools and the next request is in that request or handed back", async () => {
  const stage = await createStage();
  const { model, home } = stage;
  model.enqueue(run("true"), { text: "Seen." });
  const batch = home.gate("tools");

  const turn = prompt(stage, "t1");
  const release = await batch;
  expect(await steer(stage, "t1", "m1", "between the batch and the request")).toBe("accepted");
  await release();

  expect(await turn).toMatchObject({ delivered: ["m1"], undelivered: [] });
  expect(told(model, 1)).toContain("between the batch and the request");
});

test("G1 no lost steer: one that only the drain before a request takes is reported before that request's answer", async () => {
  const stage = await createStage({ script: [run("true"), { text: "Seen." }] });
  const behindTools = stage.home.gate("recovery");
  const turn = prompt(stage, "t1");
  const release = await behindTools;
  await steer(stage, "t1", "m1", "behind the tools");
  await release();
  expect(await turn).toMatchObject({ delivered: ["m1"], undelivered: [] });
  expect(told(stage.model, 1)).toContain("behind the tools");
  const order = stage.bridge.lines.filter(({ type }) => type === "delivered" || type === "text");
  expect(order.map(({ type }) => type)).toEqual(["delivered", "text"]);
});

test("G1 no lost steer: one that arrives behind the drain before the last request comes back undelivered", async () => {
  const stage = await createStage();
  const { model, home } = stage;
  model.enqueue(run("true"), { text: "The end." });
  const batch = home.gate("recovery");
  const turn = prompt(stage, "t1");
  const release = await batch;
  const lastRequest = home.gate("request");
  await release();
  const goOn = await lastRequest;
  expect(await steer(stage, "t1", "m1", "too late for the model")).toBe("accepted");
  await goOn();

  expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: [], undelivered: ["m1"] });
  expect(model.seen("too late for the model")).toEqual([]);
});

test("G1 no lost steer: a turn without tools hands back every steer, in order, several lines and equal texts included", async () => {
  const stage = await createStage({ script: [{ text: "Only text.", hold: "model" }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  for (const [id, text] of [
    ["m1", "one\ntwo"],
    ["m2", "same"],
    ["m3", "same"],
    ["m4", "two"],
  ] as const) {
    expect(await steer(stage, "t1", id, text)).toBe("accepted");
  }
  stage.model.release("model");
  expect(await turn).toMatchObject({ delivered: [], undelivered: ["m1", "m2", "m3", "m4"] });
});

const ENDS = ["drained", "cleared", "stored"].flatMap((point) => [
  { point, install: "0.19", env: {} },
  { point, install: "a newer install", env: { STAND_IN_NEWER: "1" } },
]);

test.each(ENDS)(
  "G1 no lost steer: one at the point $point of the end is handed back, and does not leak into the next turn ($install)",
  async ({ point, env }) => {
    const stage = await createStage({ env, script: [{ text: "One." }, run("true"), { text: "Two." }] });
    const { model, home } = stage;
    const end = home.gate(point);
    const turn = prompt(stage, "t1");
    const release = await end;
    expect(await steer(stage, "t1", "m1", "at the very end")).toBe("accepted");
    await release();

    expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: [], undelivered: ["m1"] });
    expect(await prompt(stage, "t2")).toMatchObject({ delivered: [], undelivered: [] });
    expect(told(model, 2)).not.toContain("at the very end");
  },
);

test("G1 no lost steer: one that comes when Hermes has returned and the turn is being stored is too late", async () => {
  const stage = await createStage({
    env: { STAND_IN_NEWER: "1" },
    script: [{ text: "One." }, run("true"), { text: "Two." }],
  });
  const saving = stage.home.gate("saving");
  const turn = prompt(stage, "t1");
  const release = await saving;
  expect(await steer(stage, "t1", "m1", "behind the end")).toBe("tooLate");
  await release();
  expect(await turn).toMatchObject({ delivered: [], undelivered: [] });
  await prompt(stage, "t2");
  expect(told(stage.model, 2)).not.toContain("behind the end");
});

test("G1 no lost steer: one that Hermes wipes out in a recovery is handed back", async () => {
  const stage = await createStage();
  const { model, home } = stage;
  home.fault("wipe");
  model.enqueue(run("true"), { text: "Recovered." });
  const recovery = home.gate("recovery");
  const turn = prompt(stage, "t1");
  const release = await recovery;
  expect(await steer(stage, "t1", "m1", "survives")).toBe("accepted");
  await release();

  expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: [], undelivered: ["m1"] });
  expect(model.seen("survives")).toEqual([]);
});

test("G2 no duplicate: what was delivered is not handed back when the turn fails afterwards", async () => {
  const stage = await createStage();
  const { model, home } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { error: { status: 500, message: "broken" } });
  const turn = prompt(stage, "t1").catch((error: unknown) => error);
  const release = await running;
  await steer(stage, "t1", "m1", "not that file");
  await release();
  expect(await turn).toMatchObject({ code: "agentFailed", data: { delivered: ["m1"], undelivered: [] } });
});

test("G3 order: steers of one tool reach the model in the order of their arrival, and each once", async () => {
  const stage = await createStage();
  const { model, home } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), run("true"), { text: "Seen." });
  const turn = prompt(stage, "t1");
  const release = await running;
  for (const id of ["first", "second", "third"]) await steer(stage, "t1", id);
  await release();

  expect(await turn).toMatchObject({ delivered: ["first", "second", "third"], undelivered: [] });
  expect(told(model, 2).match(/first|second|third/g)).toEqual(["first", "second", "third"]);
});

test("G5 idle consumes nothing: a steer without a turn is too late, and the next turn knows nothing of it", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  expect(await steer(stage, "t0", "m0", "before any turn")).toBe("tooLate");
  await prompt(stage, "t1");
  expect(await steer(stage, "t1", "m1", "after the turn")).toBe("tooLate");
  await prompt(stage, "t2");
  expect(stage.model.seen("before any turn").concat(stage.model.seen("after the turn"))).toEqual([]);
});

test("G7 isolation: a steer for another turn of the session is too late", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  const turn = prompt(stage, "t2");
  await stage.model.held("model");
  expect(await steer(stage, "t1", "m1", "for the turn before")).toBe("tooLate");
  stage.model.release("model");
  expect(await turn).toMatchObject({ delivered: [], undelivered: [] });
});

test("G7 isolation: what Hermes leaves in its slot after a turn does not reach the next one", async () => {
  const stage = await createStage();
  stage.home.fault("leftover");
  stage.model.enqueue({ text: "One." }, run("true"), { text: "Two." });
  await prompt(stage, "t1");
  await prompt(stage, "t2");
  expect(told(stage.model, 2)).not.toContain("left over");
});

test("an empty steer is not taken", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  expect(await steer(stage, "t1", "m1", "  \n")).toBe("unsupported");
  stage.model.release("model");
  await turn;
});

test("a delivered steer is in the stored history, and is shown once, as the user's word, when the session is loaded", async () => {
  const stage = await createStage();
  const { bridge, model, home, session, cwd } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { text: "Seen." });
  const turn = prompt(stage, "t1", "Begin");
  const release = await running;
  await steer(stage, "t1", "m1", "not that file");
  await release();
  await turn;
  await bridge.request("close", { session });

  await bridge.request("load", { session, cwd, replay: true });
  const { entries } = (await bridge.next("history")) as unknown as {
    entries: { type: string; text?: string; result?: string }[];
  };
  expect(entries.map(({ type, text }) => [type, text ?? ""])).toEqual([
    ["user", "Begin"],
    ["tool_start", ""],
    ["tool_end", ""],
    ["user", "not that file"],
    ["text", "Seen."],
  ]);
  expect(entries[2]?.result).not.toContain("not that file");

  model.enqueue({ text: "Still known." });
  await prompt(stage, "t2");
  expect(told(model, 2)).toContain("not that file");
});

test("a steer leaves what runs alone: the command ends by itself", async () => {
  const stage = await createStage();
  const { bridge, model, home } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { text: "Seen." });
  const turn = prompt(stage, "t1");
  const release = await running;
  expect(await steer(stage, "t1", "m1", "not that file", true)).toBe("accepted");
  await release();
  await turn;
  expect(bridge.all("tool_end")[0]?.["result"]).toContain("over");
});

describe("an install with redirect", () => {
  const env = { STAND_IN_REDIRECT: "1" };

  test("boundary now: the model's request is made again with the correction, and the steer is delivered", async () => {
    const stage = await createStage({ env, script: [{ text: "Never.", hold: "model" }, { text: "Corrected." }] });
    const turn = prompt(stage, "t1", "the task");
    await stage.model.held("model");
    expect(await steer(stage, "t1", "m1", "not that file", true)).toBe("accepted");
    expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: ["m1"], undelivered: [] });
    expect(told(stage.model, 1)).toBe("the task\nnot that file");
    expect(stage.bridge.text("t1")).toBe("Corrected.");
  });

  test("while a tool runs it joins the tool's result", async () => {
    const stage = await createStage({ env });
    const { command, running } = heldCommand(stage.home);
    stage.model.enqueue(run(command), { text: "Seen." });
    const turn = prompt(stage, "t1");
    const release = await running;
    expect(await steer(stage, "t1", "m1", "not that file", true)).toBe("accepted");
    await release();
    expect(await turn).toMatchObject({ delivered: ["m1"], undelivered: [] });
  });

  test("where there is nothing to redirect it is a steer like any other", async () => {
    const stage = await createStage({ env, script: [{ text: "One." }] });
    const begin = stage.home.gate("start");
    const turn = prompt(stage, "t1");
    const release = await begin;
    expect(await steer(stage, "t1", "m1", "at the beginning", true)).toBe("accepted");
    await release();
    expect(await turn).toMatchObject({ delivered: [], undelivered: ["m1"] });
  });

  test("G1 no lost steer: what Hermes gives up to restart is handed back", async () => {
    const stage = await createStage({ env, script: [{ text: "Never.", hold: "model" }] });
    stage.home.fault("redirect-limit");
    const turn = prompt(stage, "t1");
    await stage.model.held("model");
    await steer(stage, "t1", "m1", "once too often", true);
    expect(await turn).toMatchObject({ delivered: [], undelivered: ["m1"] });
  });

  test("without being asked for it Hermes is not redirected", async () => {
    const stage = await createStage({ env, script: [{ text: "One.", hold: "model" }] });
    const turn = prompt(stage, "t1");
    await stage.model.held("model");
    await steer(stage, "t1", "m1", "can wait");
    stage.model.release("model");
    expect(await turn).toMatchObject({ undelivered: ["m1"] });
    expect(stage.bridge.text("t1")).toBe("One.");
  });
});
