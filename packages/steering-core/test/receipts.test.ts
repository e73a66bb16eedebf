import { describe, expect, it } from "vitest";
import type { SteeringOptions } from "../src/index.js";
import { driverSaying, HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

/** The receipts of one steer. */
const receiptsOf = (rig: Rig, id: number): Record<string, unknown>[] => {
  const { messageId } = rig.client.meta(id);
  return rig.client.receipts.filter((receipt) => receipt["messageId"] === messageId);
};

/** What arrived at the client after a point, in order, by a name for each. */
const story = (rig: Rig, from: number): unknown[] =>
  rig.client.received.slice(from).map(({ id, params }) => {
    const update = params?.["update"] as { sessionUpdate: string } | undefined;
    return params?.["state"] ?? update?.sessionUpdate ?? id;
  });

describe("receipts: turns", () => {
  it.each([[{ receipts: "true", echo: 1 }], [null]])("nothing but true asks for them: %j", async (steering) => {
    const rig = await Rig.running({ inbox: true }, steering as object);
    rig.steer(2, "left");
    await quiet();
    rig.steerable.take("s");
    rig.say("hello");
    await quiet();
    expect([rig.client.receipts, rig.client.of("session/update").length]).toEqual([[], 1]);
  });

  it("turnStarted comes before the first update, turnEnded before the owner's answer, for every turn", async () => {
    const rig = await Rig.start();
    for (const id of [1, 2]) {
      const from = rig.client.received.length;
      rig.prompt(id, "go");
      await quiet();
      rig.say("hello");
      rig.endRun();
      await quiet();
      expect(story(rig, from)).toEqual(["turnStarted", "agent_message_chunk", "turnEnded", id]);
    }
    const [first, firstEnd, second, secondEnd] = rig.client.receipts;
    expect(firstEnd).toEqual({ sessionId: "s", turnId: first?.["turnId"], state: "turnEnded", stopReason: "end_turn" });
    expect(secondEnd?.["turnId"]).toBe(second?.["turnId"]);
    expect(second?.["turnId"]).not.toBe(first?.["turnId"]);
  });

  it("an error is told as the agent gave it", async () => {
    const rig = await Rig.running();
    const error = { code: -32603, message: "broken", data: { a: 1 } };
    rig.endRun({ error });
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "turnEnded", error });
    expect(rig.client.receipts[1]?.["stopReason"]).toBeUndefined();
  });

  it("an answer without a stop reason ends the turn without one", async () => {
    const rig = await Rig.running();
    rig.endRun({ result: {} });
    await quiet();
    expect(rig.client.answers(1)).toHaveLength(1);
    expect(rig.client.receipts[1]?.["state"]).toBe("turnEnded");
    expect(rig.client.receipts[1]?.["stopReason"]).not.toBe("undefined");
  });

  it.each([[{}], [{ receipts: false }], [{ receipts: "yes" }]])(
    "a client that declared %j gets none",
    async (wishes) => {
      const rig = await Rig.running({}, wishes);
      rig.steer(2, "left");
      await quiet();
      await rig.finish();
      expect(rig.client.receipts).toEqual([]);
      expect(rig.client.stops(1)).toEqual(["end_turn"]);
    },
  );
});

describe("G1 no lost steer: delivered", () => {
  it("by the driver: one receipt, not assumed, without the prompt", async () => {
    const rig = await Rig.running({ driver: driverSaying("delivered") });
    rig.steer(2, "left", { clientMessageId: "mine" });
    await quiet();
    const { messageId, turnId } = rig.client.meta(2);
    expect(receiptsOf(rig, 2)).toEqual([
      { sessionId: "s", turnId, state: "delivered", messageId, clientMessageId: "mine" },
    ]);
  });

  it("accepted is not yet delivered; the report is", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    driver.verdict(0, "accepted");
    await quiet();
    rig.say("something else");
    await quiet();
    expect(receiptsOf(rig, 2)).toEqual([]);
    driver.call(0).delivered();
    await quiet();
    expect(receiptsOf(rig, 2).map(({ state, assumed }) => [state, assumed])).toEqual([["delivered", undefined]]);
  });

  it("accepted and never reported is assumed at the end of the run, with the prompt", async () => {
    const rig = await Rig.running({ driver: driverSaying("accepted") });
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    expect(receiptsOf(rig, 2)).toMatchObject([{ state: "delivered", assumed: true, prompt: [textBlock("left")] }]);
    expect(rig.runs).toHaveLength(1);
  });

  const SIGNS: [string, (rig: Rig) => void][] = [
    ["an update", (rig) => rig.say("yes")],
    ["a tool call", (rig) => rig.update("tool_call", { toolCallId: "t", title: "t" })],
    ["a plan", (rig) => rig.update("plan", { entries: [] })],
    ["a request", (rig) => rig.agent.request("r", "fs/read_text_file", { sessionId: "s", path: "/a" })],
    ["a permission", (rig) => rig.agent.request("p", "session/request_permission", { sessionId: "s", options: [] })],
  ];
  describe.each(SIGNS)("a hand-over that %s of the agent follows is confirmed", (_, sign) => {
    it("taken", async () => {
      const rig = await Rig.running({ inbox: true });
      rig.steer(2, "left");
      await quiet();
      rig.steerable.take("s");
      await quiet();
      expect(receiptsOf(rig, 2)).toEqual([]);
      sign(rig);
      await quiet();
      expect(receiptsOf(rig, 2).map(({ state, assumed }) => [state, assumed])).toEqual([["delivered", undefined]]);
    });

    it("continued", async () => {
      const rig = await Rig.running();
      rig.steer(2, "left");
      rig.steer(3, "right");
      await quiet();
      rig.endRun();
      await rig.pass();
      expect([...receiptsOf(rig, 2), ...receiptsOf(rig, 3)]).toEqual([]);
      sign(rig);
      await quiet();
      for (const id of [2, 3])
        expect(receiptsOf(rig, id).map(({ state, assumed }) => [state, assumed])).toEqual([["delivered", undefined]]);
    });
  });

  const ROADS: [string, SteeringOptions, (rig: Rig) => Promise<void>][] = [
    ["taken", { inbox: true }, async (rig) => void rig.steerable.take("s")],
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
    "%s with nothing after it is assumed, with the prompt, and not sent again",
    async (_, options, handOver) => {
      const rig = await Rig.running(options);
      rig.steer(2, "left");
      await quiet();
      await handOver(rig);
      const runs = rig.runs.length;
      rig.endRun();
      await quiet();
      expect(receiptsOf(rig, 2)).toMatchObject([{ state: "delivered", assumed: true, prompt: [textBlock("left")] }]);
      await rig.pass(10_000);
      expect(rig.runs).toHaveLength(runs);
      expect(rig.client.stops(1)).toEqual(["end_turn"]);
    },
  );

  it("replayed messages of a session/load confirm nothing", async () => {
    const rig = await Rig.running({ inbox: true });
    rig.steer(2, "left");
    await quiet();
    rig.steerable.take("s");
    rig.client.request(3, "session/load", { sessionId: "s" });
    await quiet();
    rig.say("from last week");
    await quiet();
    expect(receiptsOf(rig, 2)).toEqual([]);
    rig.agent.send({ id: 3, result: {} });
    rig.say("now");
    await quiet();
    expect(receiptsOf(rig, 2)).toMatchObject([{ state: "delivered" }]);
  });
});

describe("G1 no lost steer: undelivered hands the prompt back", () => {
  const ENDS: [reason: string, end: (rig: Rig) => void | Promise<void>][] = [
    ["cancelled", (rig) => rig.cancel()],
    ["agentFailed", (rig) => rig.endRun({ error: { code: -32603, message: "broken" } })],
    ["refused", (rig) => rig.endRun({ result: { stopReason: "refusal" } })],
    [
      "closed",
      async (rig) => {
        rig.client.request(9, "session/close", { sessionId: "s" });
        await quiet();
        rig.agent.send({ id: 9, result: {} });
      },
    ],
    ["revoked", (rig) => rig.revoke(9, rig.client.meta(2)["messageId"])],
  ];
  it.each(ENDS)("%s", async (reason, end) => {
    const rig = await Rig.running();
    rig.steer(2, "left", { clientMessageId: "mine" });
    await quiet();
    await end(rig);
    await quiet();
    const { messageId, turnId } = rig.client.meta(2);
    expect(receiptsOf(rig, 2)).toEqual([
      {
        sessionId: "s",
        turnId,
        state: "undelivered",
        messageId,
        clientMessageId: "mine",
        reason,
        prompt: [textBlock("left")],
      },
    ]);
  });

  it("each steer has one final state: later reports are dropped", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    for (const id of [2, 3]) rig.steer(id, "left");
    await quiet();
    driver.verdict(0, "accepted");
    await quiet();
    driver.verdict(1, "delivered");
    await quiet();
    driver.call(0).delivered();
    driver.call(0).undelivered();
    driver.call(0).delivered();
    driver.call(1).undelivered();
    await quiet();
    await rig.finish();
    driver.call(0).undelivered();
    driver.call(1).delivered();
    await quiet();
    for (const id of [2, 3]) expect(receiptsOf(rig, id).map(({ state }) => state)).toEqual(["delivered"]);
    expect(rig.runs).toHaveLength(1);
  });
});

describe("receipts: order on the wire", () => {
  it("the steer's result, its receipts and echo, the end of the turn, the owner's answer", async () => {
    const rig = await Rig.running({ driver: driverSaying("delivered") }, { receipts: true, echo: true });
    const from = rig.client.received.length;
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    expect(story(rig, from)).toEqual([2, "delivered", "user_message_chunk", "turnEnded", 1]);
  });

  it("what is handed back comes before the end of the turn too", async () => {
    const rig = await Rig.running();
    const from = rig.client.received.length;
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await quiet();
    expect(story(rig, from)).toEqual([2, 3, "undelivered", "undelivered", "turnEnded", 1]);
  });
});
