import { describe, expect, it } from "vitest";
import { HandDriver } from "../support/driver.js";
import { quiet, Rig } from "../support/rig.js";

const GRACE = 10_000;

describe("G6 cancel", () => {
  it("case 48: an agent that has no cancel: the turn ends as cancelled all the same, and the session is usable", async () => {
    const rig = await Rig.running();
    rig.cancel();
    await rig.pass();
    rig.agent.send({ id: null, error: { code: -32601, message: "session/cancel is not supported" } });
    rig.say("carrying on");
    rig.endRun({ result: { stopReason: "end_turn" } });
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    rig.prompt(2, "next");
    await quiet();
    rig.say("fresh");
    rig.endRun();
    await quiet();
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
    expect(rig.client.updates("agent_message_chunk")).toHaveLength(1);
  });

  it("case 51: a steer that hangs at the vendor keeps neither the stop nor the next prompt beyond the grace", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await quiet();
    expect(driver.call(0).signal.aborted).toBe(true);
    rig.endRun({ result: { stopReason: "cancelled" } });
    rig.prompt(3, "next");
    await rig.pass(GRACE);
    await rig.pass();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered", assumed: true });
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
    driver.verdict(0, "tooLate");
    driver.call(0).undelivered();
    await rig.finish();
    expect(rig.client.stops(3)).toEqual(["end_turn"]);
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
  });

  it("case 56: an image that waits for the run to be interrupted is not sent after a stop", async () => {
    const result = { protocolVersion: 1, agentCapabilities: { promptCapabilities: { image: true } } };
    for (const isPausing of [false, true]) {
      const rig = await Rig.running({ emulate: "interrupt" }, undefined, result);
      const prompt = [{ type: "image", data: "AA==", mimeType: "image/png" }];
      rig.client.request(2, "_session/steering", { sessionId: "s", prompt });
      await rig.pass();
      expect(rig.agent.of("session/cancel")).toHaveLength(1);
      if (isPausing) rig.endRun({ result: { stopReason: "cancelled" } });
      await quiet();
      rig.cancel();
      await quiet();
      if (!isPausing) rig.endRun({ result: { stopReason: "cancelled" } });
      await rig.pass(60_000);
      expect(rig.runs).toHaveLength(1);
      expect(rig.client.stops(1)).toEqual(["cancelled"]);
      expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "cancelled", prompt });
    }
  });
});
