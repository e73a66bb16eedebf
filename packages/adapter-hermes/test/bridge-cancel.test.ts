import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Line } from "./stand-in/bridge-process.js";
import { createStage, heldCommand, prompt, run, startBridge, steer, told } from "./stand-in/stage.js";

const interrupt = (stage: Parameters<typeof prompt>[0], turn: string) =>
  stage.bridge.request("interrupt", { session: stage.session, turn });

test("G6 cancel: while the model is awaited, the turn ends cancelled and Hermes' own words about it are not shown", async () => {
  const stage = await createStage({ script: [{ text: "Never.", hold: "model" }, { text: "Two." }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  expect(await interrupt(stage, "t1")).toEqual({ interrupted: true });
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(stage.bridge.text("t1")).toBe("");
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: in the middle of a tool, with no final text at all, the turn ends cancelled and the next one runs", async () => {
  const stage = await createStage();
  const { command, running } = heldCommand(stage.home);
  stage.model.enqueue(run(command), { text: "Two." });
  stage.home.fault("none");
  const turn = prompt(stage, "t1");
  await running;
  await interrupt(stage, "t1");
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  expect(stage.bridge.text("t2")).toBe("Two.");
});

test("G6 cancel: while idle it touches nothing, and the next prompt runs", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  expect(await interrupt(stage, "t0")).toEqual({ interrupted: false });
  expect(await prompt(stage, "t1")).toMatchObject({ stopReason: "end_turn" });
  expect(await interrupt(stage, "t1")).toEqual({ interrupted: false });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  expect(stage.bridge.text()).toBe("One.Two.");
});

test("G6 cancel: a flag that Hermes kept from the last turn does not end the next one", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  stage.home.fault("stale-interrupt");
  await prompt(stage, "t1");
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  expect(stage.bridge.text("t2")).toBe("Two.");
});

test("G6 cancel: a flag that something sets in Hermes while it is idle does not end the next turn", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  stage.home.fault("late-interrupt");
  const later = ["later", "later-done"].map((point) => stage.home.gate(point));
  await prompt(stage, "t1");
  for (const point of later) await (await point)();
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G7 isolation: a flag that Hermes kept for the thread of one turn does not end the command of another session", async () => {
  const stage = await createStage();
  stage.model.enqueue({ text: "One." }, run("echo whole"), { text: "Two." });
  stage.home.fault("stale-interrupt");
  await prompt(stage, "t1");
  const { session } = await stage.bridge.request("open", { cwd: stage.cwd });
  await prompt({ ...stage, session }, "t2");
  expect(stage.bridge.all("tool_end")[0]?.["result"]).not.toContain("interrupted");
});

test("G6 cancel: a steer that is written right behind the interrupt is refused, every time", async () => {
  const rounds = Array.from({ length: 12 }, (_, round) => round);
  const stage = await createStage({ script: rounds.map((round) => ({ text: "Never.", hold: `round ${round}` })) });
  for (const round of rounds) {
    const turn = prompt(stage, `t${round}`);
    await stage.model.held(`round ${round}`);
    const cancelled = interrupt(stage, `t${round}`);
    expect(await steer(stage, `t${round}`, `m${round}`)).toBe("tooLate");
    await cancelled;
    expect(await turn).toMatchObject({ stopReason: "cancelled", undelivered: [] });
  }
});

test("G6 cancel: while Hermes takes its time to stop, a steer is refused at once", async () => {
  const stage = await createStage({ script: [{ text: "Never.", hold: "model" }] });
  const stopping = stage.home.gate("interrupt");
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  const cancelled = interrupt(stage, "t1");
  const release = await stopping;
  expect(await steer(stage, "t1", "m1")).toBe("tooLate");
  await release();
  expect(await cancelled).toEqual({ interrupted: true });
  expect(await turn).toMatchObject({ stopReason: "cancelled", undelivered: [] });
});

test("G6 cancel: an interrupt between the last answer and the end of the turn does not end the next one", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  const end = stage.home.gate("stored");
  const turn = prompt(stage, "t1");
  const release = await end;
  await interrupt(stage, "t1");
  await release();
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: an interrupt before Hermes has begun ends the turn without a request to the model", async () => {
  const stage = await createStage({ script: [{ text: "Two." }] });
  const begin = stage.home.gate("start");
  const turn = prompt(stage, "t1");
  const release = await begin;
  await interrupt(stage, "t1");
  await release();
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(stage.model.requests).toEqual([]);
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: an interrupt in the same breath as the prompt ends that turn and no other", async () => {
  const stage = await createStage({ script: [{ text: "Two." }] });
  const turn = prompt(stage, "t1");
  const cancelled = interrupt(stage, "t1");
  const steered = steer(stage, "t1", "m1", "while it stops");
  expect(await cancelled).toEqual({ interrupted: true });
  expect(await steered).toBe("tooLate");
  expect(await turn).toMatchObject({ stopReason: "cancelled", delivered: [], undelivered: [] });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  expect(stage.model.seen("while it stops")).toEqual([]);
});

test("G6 cancel: an interrupt of another turn leaves the running one alone", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  const turn = prompt(stage, "t2");
  await stage.model.held("model");
  expect(await interrupt(stage, "t1")).toEqual({ interrupted: false });
  stage.model.release("model");
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: a second interrupt of the same turn changes nothing", async () => {
  const stage = await createStage({ script: [{ text: "Never.", hold: "model" }, { text: "Two." }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  await Promise.all([interrupt(stage, "t1"), interrupt(stage, "t1")]);
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: a steer that was accepted before the cancel comes back, one after it is too late", async () => {
  const stage = await createStage({ script: [{ text: "Never.", hold: "model" }, { text: "Two." }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  expect(await steer(stage, "t1", "m1", "before the cancel")).toBe("accepted");
  const cancelled = interrupt(stage, "t1");
  expect(await steer(stage, "t1", "m2", "after the cancel")).toBe("tooLate");
  await cancelled;
  expect(await turn).toMatchObject({ stopReason: "cancelled", delivered: [], undelivered: ["m1"] });
  await prompt(stage, "t2");
  expect(told(stage.model, 1)).not.toMatch(/before the cancel|after the cancel/);
});

test("G6 cancel: an open question is answered with a denial and closed", async () => {
  const stage = await createStage();
  stage.model.enqueue(run("rm -rf nothing"), { text: "Two." });
  const turn = prompt(stage, "t1");
  const { ask } = await stage.bridge.next("ask");
  await interrupt(stage, "t1");
  await stage.bridge.next("ask_closed", { ask });
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test("G6 cancel: a question that comes up behind the cancel is not asked, and denied", async () => {
  const stage = await createStage({ script: [run("rm -rf x; echo ran > ran.txt")] });
  const before = stage.home.gate("approve");
  const turn = prompt(stage, "t1");
  const release = await before;
  await interrupt(stage, "t1");
  await release();
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(stage.bridge.all("ask")).toEqual([]);
  expect(existsSync(join(stage.cwd, "ran.txt"))).toBe(false);
});

test("G4 one answer: closing a session ends its turn first, whatever it is doing", async () => {
  const stage = await createStage();
  const { command, running } = heldCommand(stage.home);
  stage.model.enqueue(run(command));
  const turn = prompt(stage, "t1");
  await running;
  const closed = stage.bridge.request("close", { session: stage.session });
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(stage.bridge.all("tool_end")[0]?.["result"]).toContain("interrupted");
  expect(await closed).toEqual({});
  await expect(prompt(stage, "t2")).rejects.toMatchObject({ code: "unknownSession" });
});

test("G4 one answer: closing a session whose turn hears nothing ends that turn all the same, and hands back its steers", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  stage.home.fault("deaf");
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  await steer(stage, "t1", "m1", "never read");
  const closed = stage.bridge.request("close", { session: stage.session });
  expect(await turn).toMatchObject({ stopReason: "cancelled", delivered: [], undelivered: ["m1"] });
  expect(await closed).toEqual({});
  stage.model.release("model");
});

test("G8 containment: after kill -9 in the middle of a turn the history is there, and the next prompt runs", async () => {
  const stage = await createStage();
  const { bridge, model, home, cwd, session } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue({ text: "One." }, run("echo kept"), run(command), { text: "Again." });
  await prompt(stage, "t1", "the first question");
  const turn = prompt(stage, "t2", "the second question").catch((error: Error) => error);
  const release = await running;
  bridge.kill();
  expect(await turn).toBeInstanceOf(Error);
  await release();

  const next = { ...stage, bridge: startBridge(home.path) };
  await next.bridge.greet();
  await next.bridge.request("load", { session, cwd, replay: true });
  const { entries } = (await next.bridge.next("history")) as unknown as { entries: Line[] };
  const shown = JSON.stringify(entries);
  expect(shown).toContain("the first question");
  expect(shown).toContain("the second question");
  expect(shown).toContain("kept");
  expect(entries.filter(({ type }) => type === "tool_start").length).toBe(
    entries.filter(({ type }) => type === "tool_end").length,
  );
  expect(await prompt(next, "t3", "go on")).toMatchObject({ stopReason: "end_turn" });
  expect(next.bridge.text("t3")).toBe("Again.");
});

test("G8 containment: when Node is gone, the bridge and the command it runs end, busy or not", async () => {
  const stage = await createStage();
  const pidFile = `${stage.cwd}/pid`;
  const { command, running } = heldCommand(stage.home);
  stage.model.enqueue(run(`echo $$ > '${pidFile}'; ${command}`));
  prompt(stage, "t1").catch(() => {});
  await running;
  const pid = Number(readFileSync(pidFile, "utf8"));
  stage.bridge.letGo();
  expect(await stage.bridge.exited()).toBe(0);
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("G4 one answer: a turn that does not hear the cancel stays the session's only one until it ends", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }, { text: "Two." }] });
  stage.home.fault("deaf");
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  await interrupt(stage, "t1");
  await expect(prompt(stage, "t2")).rejects.toMatchObject({
    code: "busy",
    message: expect.stringContaining("still running"),
  });
  stage.model.release("model");
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t3")).toMatchObject({ stopReason: "end_turn" });
});
