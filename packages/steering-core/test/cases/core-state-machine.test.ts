import { describe, expect, it } from "vitest";
import { driverSaying, HandDriver } from "../support/driver.js";
import { quiet, Rig, textBlock } from "../support/rig.js";
import { bareTurn } from "./bare-turn.js";

const STEER = "_session/steering";

/** The final states of the steers, as their senders were told them. */
const finals = (rig: Rig): unknown[] =>
  rig.client.receipts
    .filter(({ messageId }) => messageId !== undefined)
    .map(({ state, assumed }) => (assumed ? "assumed" : state));

describe("G4 one answer", () => {
  it("case 27: steers unreported and without a verdict at the end of a run: the turn ends within the grace", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    for (const [index, text] of ["one", "two", "three"].entries()) rig.steer(2 + index, text);
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    driver.verdict(1, "accepted");
    await quiet();
    rig.endRun();
    await rig.pass(9_999);
    expect(rig.client.answers(1)).toEqual([]);
    await rig.pass(1);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(finals(rig)).toEqual(["delivered", "assumed", "assumed"]);
    expect(rig.agent.of("session/cancel")).toEqual([]);
    rig.prompt(9, "next");
    await rig.finish();
    expect(rig.client.stops(9)).toEqual(["end_turn"]);
  });

  const ROADS: [string, ConstructorParameters<typeof Rig>[0], (rig: Rig) => void | Promise<void>][] = [
    ["injected", { driver: driverSaying("delivered") }, () => {}],
    ["accepted, never reported", { driver: driverSaying("accepted") }, () => {}],
    ["taken", { inbox: true }, (rig) => void rig.steerable.take("s")],
    [
      "continued",
      {},
      async (rig) => {
        rig.endRun();
        await rig.pass();
      },
    ],
  ];
  it.each(ROADS)(
    "case 29: a turn steered twice (%s) is answered when its last run is",
    async (_, options, handOver) => {
      const rig = await Rig.running(options);
      rig.steer(2, "left");
      rig.steer(3, "right");
      await quiet();
      await handOver(rig);
      await quiet();
      expect(rig.client.answers(1)).toEqual([]);
      rig.endRun();
      await quiet();
      expect(rig.client.stops(1)).toEqual(["end_turn"]);
      expect(finals(rig)).toHaveLength(2);
    },
  );

  const MISSING: [string, (rig: Rig) => Promise<void>, object][] = [
    ["answers without a result", async (rig) => rig.agent.send({ id: 1 }), { result: {} }],
    ["answers without a stop reason", async (rig) => rig.endRun({ result: {} }), { result: {} }],
    ["goes", async (rig) => rig.closers[0]?.(), { error: { code: -32603 } }],
    [
      "is silent until the client cancels, and after it",
      async (rig) => {
        await rig.pass(600_000);
        rig.cancel();
        await rig.pass(10_000);
      },
      { result: { stopReason: "cancelled" } },
    ],
  ];
  it.each(MISSING)("case 30: an agent that has said all and then %s: one answer", async (_, end, answer) => {
    const rig = await Rig.running();
    rig.say("all of it");
    await end(rig);
    await quiet();
    expect(rig.client.answers(1)).toMatchObject([answer]);
    await rig.pass(60_000);
    expect(rig.client.answers(1)).toHaveLength(1);
  });
});

describe("G7 isolation", () => {
  const ENDS: [string, (rig: Rig) => Promise<void>, string][] = [
    ["an error", async (rig) => rig.endRun({ error: { code: -32603, message: "broken" } }), "agentFailed"],
    ["a refusal", async (rig) => rig.endRun({ result: { stopReason: "refusal" } }), "refused"],
    [
      "a cancel",
      async (rig) => {
        rig.cancel();
        await quiet();
        rig.endRun({ result: { stopReason: "cancelled" } });
      },
      "cancelled",
    ],
  ];
  it.each(ENDS)("case 33: a steer that %s overtakes is handed back and in no later turn", async (_, end, reason) => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "left");
    await quiet();
    await end(rig);
    await rig.pass();
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason, prompt: [textBlock("left")] });
    rig.prompt(3, "next");
    await quiet();
    expect(rig.steerable.take("s")).toEqual([]);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
    expect(rig.client.result(3)).toEqual({ stopReason: "end_turn" });
  });

  it("case 34: a steer just before the end of the run is in the turn, one just behind it leaves nothing", () => {
    for (const isFirst of [true, false]) {
      const turn = bareTurn();
      if (isFirst) turn.steer(3, "left");
      turn.connection.reply(2, { stopReason: "end_turn" });
      if (!isFirst) turn.steer(3, "left");
      turn.bare.clock.advance(60_000);
      expect(turn.answers(3)).toMatchObject([{ result: { outcome: isFirst ? "injected" : "promptRequired" } }]);
      expect(turn.runs.map(({ texts }) => texts)).toEqual(isFirst ? [["go"], ["left"]] : [["go"]]);
      expect(turn.bare.hub.take("s")).toEqual([]);
    }
  });

  it("case 35: an accepted steer that the run did not take names its turn in every message, and its usage counts", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    rig.endRun({ result: { stopReason: "end_turn", usage: { totalTokens: 1 } } });
    driver.verdict(0, "tooLate");
    await rig.pass();
    rig.say("on it");
    rig.endRun({ result: { stopReason: "end_turn", usage: { totalTokens: 2 } } });
    await quiet();
    const { turnId } = rig.client.meta(2);
    expect(rig.client.receipts.map(({ state, turnId: told }) => [state, told])).toEqual([
      ["turnStarted", turnId],
      ["delivered", turnId],
      ["turnEnded", turnId],
    ]);
    expect(rig.client.result(1)).toMatchObject({
      usage: { totalTokens: 2 },
      _meta: { steering: { turnId, runs: [{}, {}], undelivered: [] } },
    });
  });
});

describe("G3 order", () => {
  it("case 93: two steers at once while idle make one turn, not two", async () => {
    const rig = await Rig.start({ idleBehavior: "startNewTurn" });
    rig.steer(1, "one");
    rig.steer(2, "two");
    await rig.finish();
    expect(rig.client.result(1)["outcome"]).toBe("startedNewTurn");
    expect(rig.client.result(2)["outcome"]).toBe("injected");
    expect(rig.client.meta(2)["turnId"]).toBe(rig.client.meta(1)["turnId"]);
    expect(rig.runTexts).toEqual([["one"], ["two"]]);
  });

  it("case 93: an image where none is taken is refused before anything happens", async () => {
    const driver = new HandDriver(["text"]);
    const rig = await Rig.running({ driver });
    const image = { type: "image", data: "AA==", mimeType: "image/png" };
    rig.client.request(2, STEER, { sessionId: "s", prompt: [textBlock("like this"), image] });
    rig.steer(3, "left");
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32602, data: { reason: "unsupportedContent" } });
    expect(driver.texts).toEqual(["left"]);
    driver.verdict(0, "delivered");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"]]);
    expect(rig.client.meta(1)["undelivered"]).toEqual([]);
  });

  it("case 121: what comes during a question waits in a bounded line, and what is too much is told so", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver, maxPending: { steers: 2, bytes: 1_000 } });
    rig.agent.request("q", "session/request_permission", { sessionId: "s", options: [] });
    await quiet();
    for (const [index, text] of ["one", "two", "three"].entries()) rig.steer(2 + index, text);
    rig.say("meanwhile");
    await quiet();
    expect([2, 3].map((id) => rig.client.result(id)["outcome"])).toEqual(["injected", "injected"]);
    expect(rig.client.error(4)).toMatchObject({ code: -32600, data: { reason: "tooManyPending" } });
    expect(rig.client.updates("agent_message_chunk")).toHaveLength(1);
    rig.client.send({ id: "q", result: { outcome: { outcome: "selected", optionId: "yes" } } });
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    driver.verdict(1, "delivered");
    rig.steer(5, "three");
    await quiet();
    expect(driver.texts).toEqual(["one", "two", "three"]);
  });

  it("case 129: a client sees the messages of a turn in the order in which the agent got them", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver, slashCommands: false }, { echo: true });
    for (const [index, text] of ["one", "two", "three"].entries()) rig.steer(2 + index, text);
    rig.say("before");
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    rig.say("between");
    await quiet();
    driver.verdict(1, "tooLate");
    rig.endRun();
    await rig.pass();
    rig.say("after");
    await rig.finish();
    const updates = rig.client.of("session/update") as { params: { update: { content: { text: string } } } }[];
    const shown = updates.map(({ params }) => params.update.content.text);
    expect(shown).toEqual(["before", "one", "between", "two", "three", "after"]);
    expect([driver.texts, rig.runTexts[1]]).toEqual([
      ["one", "two"],
      ["two", "\n\n", "three"],
    ]);
  });
});
