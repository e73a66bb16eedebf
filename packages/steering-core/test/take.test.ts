import { describe, expect, it } from "vitest";
import type { SteeringOptions } from "../src/index.js";
import { driverSaying } from "./support/driver.js";
import { quiet, Rig, textBlock, textsOf } from "./support/rig.js";

const taken = (rig: Rig, sessionId = "s"): string[] =>
  rig.steerable.take(sessionId).flatMap(({ prompt }) => textsOf({ prompt }));

describe("G3 order: take() gives what is pending, in order, once", () => {
  it("with its message ids and its content as it came", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "one");
    rig.steer(3, "two");
    await quiet();
    expect(rig.steerable.take("s")).toEqual([
      { messageId: rig.client.meta(2)["messageId"], prompt: [textBlock("one")] },
      { messageId: rig.client.meta(3)["messageId"], prompt: [textBlock("two")] },
    ]);
    expect(taken(rig)).toEqual([]);
    rig.steer(4, "three");
    await quiet();
    expect(taken(rig)).toEqual(["three"]);
  });

  it("what arrives between the last take() and the agent's answer is continued", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "one");
    await quiet();
    expect(taken(rig)).toEqual(["one"]);
    rig.steer(3, "two");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
    expect(rig.client.meta(1)["undelivered"]).toEqual([]);
  });

  it("in a continuation it works as in the first run", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "one");
    await quiet();
    rig.endRun();
    await rig.pass();
    expect(taken(rig)).toEqual([]);
    rig.steer(3, "two");
    await quiet();
    expect(taken(rig)).toEqual(["two"]);
  });
});

describe("G7 isolation: take() gives nothing", () => {
  const EMPTY: [string, (rig: Rig) => void | Promise<void>][] = [
    ["between two runs", (rig) => rig.endRun()],
    ["while cancelling", (rig) => rig.cancel()],
    [
      "once the turn has ended",
      async (rig) => {
        rig.cancel();
        await quiet();
        rig.endRun();
      },
    ],
    [
      "behind the fence",
      async (rig) => {
        rig.cancel();
        await rig.pass(10_000);
      },
    ],
    [
      "during a permission",
      (rig) => rig.agent.request("p", "session/request_permission", { sessionId: "s", options: [] }),
    ],
    [
      "once the session is closed",
      async (rig) => {
        rig.client.request(9, "session/close", { sessionId: "s" });
        await quiet();
        rig.agent.send({ id: 9, result: {} });
      },
    ],
  ];
  it.each(EMPTY)("%s", async (_, happen) => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "one");
    await quiet();
    await happen(rig);
    await quiet();
    expect(taken(rig)).toEqual([]);
  });

  it("while idle, between two turns, and in a session that nobody knows", async () => {
    const rig = await Rig.start({ inbox: true });
    expect([taken(rig), taken(rig, "nowhere")]).toEqual([[], []]);
    rig.prompt(1, "go");
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await quiet();
    expect(taken(rig)).toEqual([]);
  });

  it("of another session", async () => {
    const rig = await Rig.running({ inbox: true });
    await rig.session("other");
    rig.prompt(5, "go", "other");
    rig.steer(2, "one");
    rig.steer(3, "two", undefined, "other");
    await quiet();
    expect([taken(rig, "other"), taken(rig)]).toEqual([["two"], ["one"]]);
  });

  it("of a turn before: a steer that was left is continued there, never given to the next", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.prompt(2, "next");
    rig.steer(3, "one");
    await quiet();
    rig.cancel();
    await quiet();
    rig.endRun();
    rig.prompt(4, "again");
    await rig.pass();
    expect(taken(rig)).toEqual([]);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["again"]]);
  });
});

describe("G1 no lost steer: 1,024 steers at once", () => {
  const texts = Array.from({ length: 1_024 }, (_, index) => `${index}`);
  const ROADS: [string, SteeringOptions, (rig: Rig) => string[]][] = [
    ["taken", { inbox: true }, (rig) => taken(rig)],
    ["continued", {}, (rig) => (rig.runTexts[1] ?? []).filter((text) => text.trim() !== "")],
  ];
  it.each(ROADS)("%s: all of them, in order, none refused", async (_, options, arrived) => {
    const rig = await Rig.running(options);
    for (const [index, text] of texts.entries()) rig.steer(1_000 + index, text);
    while (rig.client.answers(2_023).length === 0) await quiet();
    if (!options.inbox) {
      rig.endRun();
      await rig.pass();
    }
    expect(arrived(rig)).toEqual(texts);
    await rig.finish();
    expect(rig.client.meta(1)["undelivered"]).toEqual([]);
    expect(rig.client.receipts.filter(({ state }) => state === "delivered")).toHaveLength(1_024);
  });

  it("injected: all of them, in order, none refused", async () => {
    const driver = driverSaying("delivered");
    const rig = await Rig.running({ driver });
    for (const [index, text] of texts.entries()) rig.steer(1_000 + index, text);
    while (driver.texts.length < 1_024) await quiet();
    await rig.finish();
    expect(driver.texts).toEqual(texts);
    expect(rig.client.receipts.filter(({ state }) => state === "delivered")).toHaveLength(1_024);
    expect(rig.runs).toHaveLength(1);
  });
});

describe("emulation: interrupt", () => {
  const cancels = (rig: Rig): number => rig.agent.of("session/cancel").length;

  it("a steer during the continuation interrupts that too, and the task is restated with all that is left", async () => {
    const rig = await Rig.running({ emulate: "interrupt" });
    for (const [id, text] of [
      [2, "one"],
      [3, "two"],
    ] as const) {
      rig.steer(id, text);
      await rig.pass();
      rig.endRun({ result: { stopReason: "cancelled" } });
      await rig.pass();
      rig.say("on it");
    }
    expect(cancels(rig)).toBe(2);
    const restated = ["go", expect.stringContaining("User correction/guidance")];
    expect(rig.runTexts).toEqual([["go"], [...restated, "one"], [...restated, "two"]]);
    rig.endRun();
    await quiet();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.receipts.map(({ state }) => state)).toEqual([
      "turnStarted",
      "delivered",
      "delivered",
      "turnEnded",
    ]);
  });

  it("a client's cancel while the run is being interrupted ends the turn", async () => {
    const rig = await Rig.running({ emulate: "interrupt" });
    rig.steer(2, "one");
    await rig.pass();
    rig.cancel();
    await quiet();
    rig.endRun({ result: { stopReason: "cancelled" } });
    await rig.pass(10_000);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "cancelled" }]);
  });
});
