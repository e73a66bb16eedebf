import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig } from "./support/rig.js";

const GRACE = 10_000;
const CANCELLED = { result: { stopReason: "cancelled" } };
const cancels = (rig: Rig): number => rig.agent.of("session/cancel").length;

describe("G6 cancel: the steers of the turn", () => {
  it("pending ones are handed back at once", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "cancelled" });
  });

  it("the one at the driver is aborted; its verdict decides, and the owner waits for it", async () => {
    for (const [verdict, state] of [
      ["delivered", "delivered"],
      ["tooLate", "undelivered"],
    ] as const) {
      const driver = new HandDriver();
      const rig = await Rig.running({ driver });
      rig.steer(2, "left");
      await quiet();
      rig.cancel();
      await quiet();
      rig.endRun(CANCELLED);
      await quiet();
      expect(driver.call(0).signal.aborted).toBe(true);
      expect(rig.client.answers(1)).toEqual([]);
      driver.verdict(0, verdict);
      await rig.pass();
      expect(rig.client.stops(1)).toEqual(["cancelled"]);
      expect(rig.client.receipts[1]).toMatchObject({ state });
      expect(rig.runs).toHaveLength(1);
    }
  });

  it("the verdict before the run's answer: the run is still awaited", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await quiet();
    driver.verdict(0, "tooLate");
    await quiet();
    expect(rig.client.answers(1)).toEqual([]);
    rig.endRun(CANCELLED);
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
  });

  it("the run has answered and the verdict is missing: nothing is forwarded any more, the grace still ends it", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver, inbox: true });
    rig.steer(2, "taken");
    await quiet();
    driver.verdict(0, "unsupported");
    await quiet();
    rig.steerable.take("s");
    rig.steer(3, "at the driver");
    await quiet();
    rig.cancel();
    await quiet();
    rig.endRun(CANCELLED);
    rig.say("yes");
    await rig.pass(GRACE - 1);
    expect([cancels(rig), rig.agent.of("$/cancel_request").length, rig.client.answers(1).length]).toEqual([0, 0, 0]);
    await rig.pass(1);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.receipts.map(({ state, assumed }) => assumed ?? state)).toEqual([
      "turnStarted",
      "delivered",
      true,
      "turnEnded",
    ]);
  });

  it("handed back by the driver while cancelling: undelivered, cancelled", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    driver.verdict(0, "accepted");
    rig.cancel();
    await quiet();
    driver.call(0).undelivered();
    rig.endRun(CANCELLED);
    await quiet();
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "cancelled" }]);
  });

  it("no verdict by the end of the grace: assumed", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await rig.pass(GRACE);
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered", assumed: true });
    driver.verdict(0, "tooLate");
    driver.call(0).undelivered();
    await quiet();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "delivered", "turnEnded"]);
  });

  it("taken ones are confirmed by what the agent does, or assumed", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "left");
    await quiet();
    rig.steerable.take("s");
    rig.cancel();
    await quiet();
    rig.say("yes");
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered" });
    expect(rig.client.receipts[1]?.["assumed"]).toBeUndefined();
  });

  it("a continuation refused after the cancel was not handed over", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.cancel();
    await quiet();
    rig.endRun({ error: { code: -32600, message: "not now" } });
    await rig.pass(10_000);
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "cancelled" }]);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.runs).toHaveLength(2);
  });
});
