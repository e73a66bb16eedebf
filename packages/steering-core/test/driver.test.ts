import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig } from "./support/rig.js";

interface World {
  readonly driver: HandDriver;
  readonly rig: Rig;
}

/** A turn with steers `2`, `3`, … of these texts, the first of them at the driver. */
const start = async (...texts: string[]): Promise<World> => {
  const driver = new HandDriver();
  const rig = await Rig.running({ driver, inbox: true });
  for (const [index, text] of texts.entries()) rig.steer(2 + index, text);
  await quiet();
  return { driver, rig };
};

const statesOf = (rig: Rig): unknown[] =>
  rig.client.receipts.slice(1).map(({ state, assumed }) => (assumed ? "assumed" : state));

describe("G3 order: the driver gets one steer at a time", () => {
  it("the next only after the verdict on the one before", async () => {
    const { driver, rig } = await start("one", "two", "three");
    expect(driver.texts).toEqual(["one"]);
    driver.verdict(0, "delivered");
    await quiet();
    expect(driver.texts).toEqual(["one", "two"]);
    driver.verdict(1, "accepted");
    await quiet();
    expect(driver.texts).toEqual(["one", "two", "three"]);
    expect(rig.client.answers(1)).toEqual([]);
  });

  it("it is told which steer of which turn it is", async () => {
    const { driver, rig } = await start("one");
    const { messageId, turnId } = rig.client.meta(2);
    expect(driver.call(0)).toMatchObject({
      sessionId: "s",
      turnId,
      messageId,
      prompt: [{ type: "text", text: "one" }],
    });
  });

  it("what falls to the continuation holds back all later ones", async () => {
    const { driver, rig } = await start("one", "two", "three");
    driver.verdict(0, "delivered");
    await quiet();
    driver.verdict(1, "tooLate");
    await quiet();
    expect(driver.texts).toEqual(["one", "two"]);
    rig.endRun();
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["two", "\n\n", "three"]]);
    rig.steer(9, "four");
    await quiet();
    expect(driver.texts).toEqual(["one", "two", "four"]);
  });

  it("what is handed back returns to its place, before what came later", async () => {
    const { driver, rig } = await start("one", "two");
    driver.verdict(0, "accepted");
    await quiet();
    driver.call(0).undelivered();
    driver.verdict(1, "tooLate");
    await quiet();
    rig.steer(9, "three");
    await rig.finish();
    expect(driver.texts).toEqual(["one", "two"]);
    expect(rig.runTexts).toEqual([["go"], ["one", "\n\n", "two", "\n\n", "three"]]);
  });

  it("content that the driver does not take waits for the continuation, and so do later ones", async () => {
    const driver = new HandDriver(["text"]);
    const result = { protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } };
    const rig = await Rig.running({ driver }, undefined, result);
    rig.client.request(2, "_session/steering", {
      sessionId: "s",
      prompt: [{ type: "image", data: "", mimeType: "image/png" }],
    });
    rig.steer(3, "two");
    await rig.finish();
    expect(driver.texts).toEqual([]);
    expect(rig.runTexts).toEqual([["go"], ["image", "\n\n", "two"]]);
  });

  it("the inbox gives nothing behind a steer that is at the driver, or accepted and not reported", async () => {
    const { driver, rig } = await start("one", "two");
    expect(rig.steerable.take("s")).toEqual([]);
    driver.verdict(0, "accepted");
    await quiet();
    driver.verdict(1, "unsupported");
    await quiet();
    expect(rig.steerable.take("s")).toEqual([]);
    driver.call(0).delivered();
    expect(rig.steerable.take("s").map(({ messageId }) => messageId)).toEqual([rig.client.meta(3)["messageId"]]);
  });

  it("take() from inside the driver gives nothing, and breaks nothing", async () => {
    const driver = new HandDriver();
    const taken: unknown[] = [];
    const rig = await Rig.start({ driver, inbox: true });
    driver.inject = async () => {
      taken.push(...rig.steerable.take("s"));
      return "delivered";
    };
    rig.prompt(1, "go");
    rig.steer(2, "one");
    rig.steer(3, "two");
    await quiet();
    expect(taken).toEqual([]);
    expect(statesOf(rig)).toEqual(["delivered", "delivered"]);
  });
});

describe("G1 no lost steer: no answer before every verdict is in", () => {
  it("when the run ends, the signal of the pending inject aborts, and the owner waits", async () => {
    const { driver, rig } = await start("one");
    rig.endRun();
    await quiet();
    expect(driver.call(0).signal.aborted).toBe(true);
    expect(rig.client.answers(1)).toEqual([]);
    driver.verdict(0, "delivered");
    await quiet();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(statesOf(rig)).toEqual(["delivered", "turnEnded"]);
  });

  it.each(["tooLate", "unsupported"])("%s after the end of the run: it is continued", async (verdict) => {
    const { driver, rig } = await start("one", "two");
    rig.endRun();
    await quiet();
    driver.verdict(0, verdict);
    await quiet();
    expect(driver.texts).toEqual(["one"]);
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["one", "\n\n", "two"]]);
  });

  it("a verdict that is still missing after the grace counts as accepted: assumed, not sent again", async () => {
    const { driver, rig } = await start("one");
    rig.endRun();
    await rig.pass(9_999);
    expect(rig.client.answers(1)).toEqual([]);
    await rig.pass(1);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(statesOf(rig)).toEqual(["assumed", "turnEnded"]);
    driver.verdict(0, "tooLate");
    driver.call(0).undelivered();
    await rig.pass(10_000);
    expect(rig.runs).toHaveLength(1);
    expect(statesOf(rig)).toEqual(["assumed", "turnEnded"]);
  });

  it("a late verdict touches neither the next turn nor its steers", async () => {
    const { driver, rig } = await start("one");
    rig.endRun();
    await rig.pass(10_000);
    rig.prompt(8, "next");
    rig.steer(9, "two");
    await quiet();
    driver.verdict(0, "tooLate");
    driver.call(0).delivered();
    await quiet();
    expect(driver.texts).toEqual(["one", "two"]);
    driver.verdict(1, "delivered");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
    expect(rig.client.stops(8)).toEqual(["end_turn"]);
  });

  it("while the verdict is missing a steer still joins the turn", async () => {
    const { driver, rig } = await start("one");
    rig.endRun();
    await quiet();
    rig.steer(9, "two");
    await quiet();
    expect(rig.client.result(9)).toMatchObject({ outcome: "injected" });
    driver.verdict(0, "delivered");
    await rig.finish();
    expect(driver.texts).toEqual(["one"]);
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });

  it("while the verdict is missing the inbox is closed: no run is open", async () => {
    const { rig } = await start("one", "two");
    rig.endRun();
    await quiet();
    expect(rig.steerable.take("s")).toEqual([]);
  });
});

describe("G8 containment: drivers that misbehave cost no steer and no turn", () => {
  const FAULTS: [string, (world: World) => void][] = [
    ["rejects", ({ driver }) => driver.fail(0, new Error("broken"))],
    ["rejects with the name of a verdict", ({ driver }) => driver.fail(0, "delivered")],
    ["returns rubbish", ({ driver }) => driver.verdict(0, { verdict: "delivered" })],
    ["returns nothing", ({ driver }) => driver.verdict(0, undefined)],
    ["returns a number", ({ driver }) => driver.verdict(0, 1)],
  ];
  it.each(FAULTS)("one that %s loses the steer to the continuation", async (_, fault) => {
    const world = await start("one", "two");
    fault(world);
    await world.rig.finish();
    expect(world.driver.texts).toEqual(["one"]);
    expect(world.rig.runTexts).toEqual([["go"], ["one", "\n\n", "two"]]);
    expect(world.rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("one that throws, or returns no promise at all", async () => {
    const driver = new HandDriver();
    let calls = 0;
    const misbehave = (): unknown => {
      calls += 1;
      if (calls === 1) return "delivered";
      throw new Error("broken");
    };
    driver.inject = misbehave as HandDriver["inject"];
    const rig = await Rig.running({ driver });
    rig.steer(2, "one");
    rig.steer(3, "two");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("a thenable that throws", async () => {
    const driver = new HandDriver();
    const thenable = {
      // biome-ignore lint/suspicious/noThenProperty: this is the fault.
      then: () => {
        throw new Error("broken");
      },
    };
    driver.inject = (() => thenable) as unknown as HandDriver["inject"];
    const rig = await Rig.running({ driver });
    rig.steer(2, "one");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["one"]]);
  });

  it("a report before the verdict counts when the verdict is accepted", async () => {
    const { driver, rig } = await start("one", "two");
    driver.call(0).delivered();
    await quiet();
    expect(statesOf(rig)).toEqual([]);
    driver.verdict(0, "accepted");
    await quiet();
    expect(statesOf(rig)).toEqual(["delivered"]);
    driver.call(1).undelivered();
    driver.verdict(1, "accepted");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });

  it("a report from inside inject() counts too", async () => {
    const driver = new HandDriver();
    driver.inject = async (call) => {
      call.delivered();
      return "accepted";
    };
    const rig = await Rig.running({ driver });
    rig.steer(2, "one");
    await rig.finish();
    expect(statesOf(rig)).toEqual(["delivered", "turnEnded"]);
    expect(rig.runs).toHaveLength(1);
  });

  it.each(["tooLate", "unsupported"])(
    "G2 no duplicate: delivery reported before the verdict %s stays delivery",
    async (verdict) => {
      const { driver, rig } = await start("one");
      driver.call(0).delivered();
      driver.verdict(0, verdict);
      await quiet();
      expect(statesOf(rig)).toEqual(["delivered"]);
      await rig.finish();
      expect(rig.runTexts).toEqual([["go"]]);
    },
  );

  it("of two reports before the verdict the first counts", async () => {
    const { driver, rig } = await start("one");
    driver.call(0).delivered();
    driver.call(0).undelivered();
    driver.verdict(0, "accepted");
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
    expect(statesOf(rig)).toEqual(["delivered", "turnEnded"]);
  });

  it("a second verdict and a second report change nothing", async () => {
    const { driver, rig } = await start("one");
    driver.verdict(0, "accepted");
    driver.verdict(0, "tooLate");
    await quiet();
    driver.call(0).undelivered();
    driver.call(0).delivered();
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["one"]]);
    expect(statesOf(rig)).toEqual(["assumed", "turnEnded"]);
  });

  it("reports after the end of the turn, and after the session is closed, are dropped", async () => {
    const { driver, rig } = await start("one");
    driver.verdict(0, "accepted");
    await rig.finish();
    const { length } = rig.client.received;
    driver.call(0).delivered();
    driver.call(0).undelivered();
    rig.client.request(9, "session/close", { sessionId: "s" });
    await quiet();
    rig.agent.send({ id: 9, result: {} });
    await quiet();
    driver.call(0).undelivered();
    await quiet();
    expect(rig.client.received).toHaveLength(length + 1);
  });

  it("the leftovers of a run that are reported before its answer are continued", async () => {
    const { driver, rig } = await start("one", "two");
    driver.verdict(0, "accepted");
    await quiet();
    driver.verdict(1, "accepted");
    await quiet();
    driver.call(0).delivered();
    driver.call(1).undelivered();
    rig.endRun();
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });
});
