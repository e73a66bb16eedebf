import { describe, expect, it } from "vitest";
import { quiet, Rig } from "./support/rig.js";

describe("G1 no lost steer: the owner's answer tells of the steers, with receipts or without", () => {
  it("the result lists the runs and what was not delivered", async () => {
    const rig = await Rig.running({}, {});
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.steer(3, "right");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.say("yes");
    rig.steer(4, "more");
    await quiet();
    rig.endRun({ result: { stopReason: "refusal" } });
    await quiet();
    const { turnId } = rig.client.meta(2);
    const { messageId } = rig.client.meta(4);
    expect(rig.client.result(1)).toEqual({
      stopReason: "refusal",
      _meta: {
        steering: {
          turnId,
          runs: [{ stopReason: "end_turn" }, { stopReason: "refusal" }],
          undelivered: [{ messageId, reason: "refused" }],
        },
      },
    });
  });

  it("client message ids are in it", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left", { clientMessageId: "mine" });
    await quiet();
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    const { messageId } = rig.client.meta(2);
    expect(rig.client.meta(1)["undelivered"]).toEqual([{ messageId, clientMessageId: "mine", reason: "cancelled" }]);
  });

  it("is merged into the agent's own metadata, and the rest of the result stays", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    const usage = { inputTokens: 5 };
    rig.endRun({ result: { stopReason: "max_tokens", usage, _meta: { own: 1 } } });
    await quiet();
    expect(rig.client.result(1)).toMatchObject({
      stopReason: "max_tokens",
      usage,
      _meta: { own: 1, steering: { undelivered: [] } },
    });
  });

  it("a result whose metadata is null takes it too", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.endRun({ result: { stopReason: "end_turn", _meta: null } });
    await quiet();
    expect(rig.client.meta(1)["runs"]).toHaveLength(2);
  });

  const DATA: [string, unknown, object][] = [
    ["no data", undefined, {}],
    ["an object", { a: 1 }, { a: 1 }],
    ["a string", "why", { details: "why" }],
    ["null", null, { details: null }],
  ];
  it.each(DATA)("an error with %s carries it in data.steering", async (_, data, kept) => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken", ...(data === undefined ? {} : { data }) } });
    await quiet();
    const { messageId, turnId } = rig.client.meta(2);
    expect(rig.client.error(1)).toEqual({
      code: -32603,
      message: "broken",
      data: { ...kept, steering: { turnId, runs: [], undelivered: [{ messageId, reason: "agentFailed" }] } },
    });
  });

  it("a turn that was not steered is answered exactly as the agent did", async () => {
    const rig = await Rig.running();
    rig.endRun({ result: { stopReason: "end_turn", _meta: null, more: [1] } });
    await quiet();
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn", _meta: null, more: [1] });
    rig.prompt(2, "again");
    await quiet();
    const error = { code: -32000, message: "Login first", data: { how: "so" } };
    rig.endRun({ error });
    await quiet();
    expect(rig.client.error(2)).toEqual(error);
  });

  it("a steer that was refused as too much does not make a steered turn", async () => {
    const rig = await Rig.running({ maxPending: { steers: 0, bytes: 0 } });
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn" });
  });
});
