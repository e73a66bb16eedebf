import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

describe("G4 one answer: whenBusy queue", () => {
  it("each prompt waits, runs as its own turn, is answered at its own end, first in first out", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    rig.client.request(3, "session/prompt", {
      sessionId: "s",
      prompt: [textBlock("three")],
      _meta: { mine: 1 },
      extra: 2,
    });
    await quiet();
    expect(rig.runs).toHaveLength(1);
    rig.endRun({ result: { stopReason: "end_turn", turn: 1 } });
    await quiet();
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn", turn: 1 });
    expect(rig.runs).toHaveLength(1);
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
    rig.endRun({ result: { stopReason: "refusal", turn: 2 } });
    await rig.pass();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await quiet();
    expect(rig.client.result(2)).toEqual({ stopReason: "refusal", turn: 2 });
    expect(rig.client.error(3)).toEqual({ code: -32603, message: "broken" });
    expect(rig.runs[2]).toMatchObject({
      id: 3,
      params: { sessionId: "s", prompt: [textBlock("three")], _meta: { mine: 1 }, extra: 2 },
    });
    expect(new Set(rig.client.receipts.map(({ turnId }) => turnId)).size).toBe(3);
  });

  it("an error of the agent does not hold up the queue", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await rig.pass();
    rig.endRun();
    await quiet();
    expect(rig.client.error(1)?.code).toBe(-32603);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  });

  it("a prompt that arrives between two turns queues up behind", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await quiet();
    rig.prompt(3, "three");
    await rig.finish();
    expect(rig.runTexts.slice(0, 2)).toEqual([["go"], ["two"]]);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["two"], ["three"]]);
  });

  it("steers of a turn are continued before the queue goes on", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    rig.steer(3, "left");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"], ["two"]]);
    expect(rig.client.meta(1)["runs"]).toHaveLength(2);
    expect(rig.client.result(2)).toEqual({ stopReason: "end_turn" });
  });

  it("sessions do not wait for each other", async () => {
    const rig = await Rig.running();
    await rig.session("other");
    rig.prompt(2, "two", "other");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });
});

describe("G4 one answer: whenBusy steer", () => {
  it("a plain prompt is a steer and is answered with the turn's result, at its end", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ whenBusy: "steer", driver });
    rig.prompt(2, "two");
    rig.prompt(3, "three");
    await quiet();
    expect(driver.texts).toEqual(["two"]);
    driver.verdict(0, "delivered");
    await quiet();
    driver.verdict(1, "tooLate");
    rig.endRun();
    await rig.pass();
    expect([1, 2, 3].flatMap((id) => rig.client.answers(id))).toEqual([]);
    rig.endRun({ result: { stopReason: "max_tokens" } });
    await quiet();
    for (const id of [1, 2, 3]) expect(rig.client.stops(id)).toEqual(["max_tokens"]);
    expect(rig.client.meta(3)).toEqual(rig.client.meta(1));
    expect(rig.runTexts).toEqual([["go"], ["three"]]);
  });

  it("all of them share an error, and a cancel", async () => {
    const rig = await Rig.running({ whenBusy: "steer" });
    rig.prompt(2, "two");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await quiet();
    expect([rig.client.error(1)?.code, rig.client.error(2)?.code]).toEqual([-32603, -32603]);
    rig.prompt(3, "go");
    rig.prompt(4, "two");
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    expect([rig.client.stops(3), rig.client.stops(4)]).toEqual([["cancelled"], ["cancelled"]]);
  });

  it("too much pending is an error of that prompt", async () => {
    const rig = await Rig.running({ whenBusy: "steer", maxPending: { steers: 1, bytes: 1_000 } });
    rig.prompt(2, "two");
    rig.prompt(3, "three");
    await quiet();
    expect(rig.client.error(3)).toMatchObject({ code: -32600, data: { reason: "tooManyPending" } });
    await rig.finish();
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  });

  it("joins a turn that a steer started: there is no other owner", async () => {
    const rig = await Rig.start({ whenBusy: "steer", idleBehavior: "startNewTurn" });
    rig.steer(1, "go");
    rig.prompt(2, "two");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  });

  it("while the turn is being cancelled a prompt waits for its own turn", async () => {
    const rig = await Rig.running({ whenBusy: "steer" });
    rig.cancel();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });
});

describe("G4 one answer: whenBusy reject", () => {
  it("refuses a prompt while a turn is open, between its runs too, and takes the next", async () => {
    const rig = await Rig.running({ whenBusy: "reject" });
    rig.prompt(2, "two");
    rig.steer(3, "left");
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32600, data: { reason: "busy" } });
    rig.endRun();
    await quiet();
    rig.prompt(4, "four");
    await quiet();
    expect(rig.client.error(4)).toMatchObject({ code: -32600, data: { reason: "busy" } });
    await rig.finish();
    rig.prompt(5, "five");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["left"], ["five"]]);
  });
});
