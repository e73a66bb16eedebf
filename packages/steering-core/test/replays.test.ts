import { describe, expect, it } from "vitest";
import { quiet, Rig, textBlock } from "./support/rig.js";

describe("G7 isolation: load, resume and fork during a turn", () => {
  it.each(["session/load", "session/resume"])("%s: the turn goes on", async (method) => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    rig.client.request(3, method, { sessionId: "s" });
    await quiet();
    rig.agent.send({ id: 3, result: {} });
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.answers(3)).toHaveLength(1);
  });

  it("replayed messages are passed on untouched, count for nothing and are not fenced", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.client.request(3, "session/load", { sessionId: "s" });
    await quiet();
    rig.update("user_message_chunk", { content: textBlock("left"), messageId: "old" });
    rig.say("from last week");
    await quiet();
    expect(rig.client.updates("user_message_chunk")).toEqual([
      { sessionUpdate: "user_message_chunk", content: textBlock("left"), messageId: "old" },
    ]);
    rig.endRun({ error: { code: -32600, message: "not now" } });
    rig.agent.send({ id: 3, result: {} });
    await rig.pass(100);
    expect(rig.runTexts).toEqual([["go"], ["left"], ["left"]]);
    rig.cancel();
    await rig.pass();
    rig.client.request(4, "session/load", { sessionId: "s" });
    await quiet();
    rig.say("replayed");
    rig.agent.send({ id: 4, result: {} });
    rig.say("late");
    await quiet();
    expect(rig.client.updates("agent_message_chunk").map(({ content }) => (content as { text: string }).text)).toEqual([
      "from last week",
      "replayed",
    ]);
  });

  it("a load that fails stops counting as one", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.client.request(3, "session/load", { sessionId: "s" });
    rig.steer(2, "left");
    await quiet();
    rig.agent.send({ id: 3, error: { code: -32603, message: "no" } });
    rig.steerable.take("s");
    rig.say("yes");
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered" });
  });

  it("a fork takes no steers along, is a session of its own, and the turn goes on", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "left");
    rig.client.request(3, "session/fork", { sessionId: "s" });
    await quiet();
    rig.agent.send({ id: 3, result: { sessionId: "forked" } });
    await quiet();
    expect(rig.steerable.take("forked")).toEqual([]);
    rig.steer(4, "right", undefined, "forked");
    await quiet();
    expect(rig.client.result(4)).toMatchObject({ outcome: "promptRequired" });
    expect(rig.steerable.take("s")).toHaveLength(1);
    rig.prompt(5, "go", "forked");
    await quiet();
    rig.agent.send({ id: 5, result: { stopReason: "end_turn" } });
    await quiet();
    expect(rig.client.result(5)).toEqual({ stopReason: "end_turn" });
  });

  it("while a fork is at the agent, updates of the turn still count", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "left");
    rig.client.request(3, "session/fork", { sessionId: "s" });
    await quiet();
    rig.steerable.take("s");
    rig.say("yes");
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered" });
  });

  it("a session request that was refused attaches to nothing", async () => {
    const rig = await Rig.start();
    rig.client.request(3, "session/load", { sessionId: "other" });
    rig.client.request(4, "session/new", {});
    await quiet();
    rig.agent.send({ id: 3, error: { code: -32002, message: "no" } });
    rig.agent.send({ id: 4, result: {} });
    rig.steer(5, "left", undefined, "other");
    await quiet();
    expect(rig.client.error(5)?.code).toBe(-32002);
  });
});
