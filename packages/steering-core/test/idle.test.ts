import { describe, expect, it } from "vitest";
import type { IdleBehavior, SteeringOptions } from "../src/index.js";
import { driverSaying } from "./support/driver.js";
import { quiet, Rig, textsOf } from "./support/rig.js";

const POLICIES: IdleBehavior[] = ["promptRequired", "startNewTurn", "reject"];
const OVERRIDES = [undefined, "promptRequired", "startNewTurn"] as const;

/** The contract in one line: the request decides, then the adapter; new turns are for clients with receipts. */
function expected(policy: IdleBehavior, override: (typeof OVERRIDES)[number], receipts: boolean): unknown {
  const wanted = override ?? policy;
  if (wanted === "reject") return -32600;
  return wanted === "startNewTurn" && receipts ? "startedNewTurn" : "promptRequired";
}

const WORLDS = POLICIES.flatMap((policy) =>
  OVERRIDES.flatMap((override) =>
    [true, false].map((receipts) => [policy, override ?? "nothing", receipts, override] as const),
  ),
);

describe("G5 idle consumes nothing: the idle policies", () => {
  it.each(WORLDS)("adapter says %s, request says %s, receipts %s", async (policy, _, receipts, override) => {
    const rig = await Rig.start({ idleBehavior: policy }, { receipts });
    rig.steer(1, "left", override ? { idleBehavior: override } : {});
    await quiet();
    const { result, error } = rig.client.answers(1)[0] ?? {};
    const outcome = expected(policy, override, receipts);
    expect(result?.["outcome"] ?? error?.code).toBe(outcome);
    if (error) expect(error.data).toMatchObject({ reason: "noRunningTurn" });
    if (outcome === "promptRequired") expect(result).toMatchObject({ reason: "noRunningTurn" });
    expect(rig.runs).toHaveLength(outcome === "startedNewTurn" ? 1 : 0);
  });

  it("promptRequired carries the message id, the client's own id and why", async () => {
    const rig = await Rig.start();
    rig.steer(1, "left", { clientMessageId: "mine" });
    await quiet();
    expect(rig.client.result(1)).toEqual({
      outcome: "promptRequired",
      reason: "noRunningTurn",
      _meta: { steering: { messageId: expect.any(String), clientMessageId: "mine", detail: "idle" } },
    });
  });

  const CONFIGURED: SteeringOptions[] = [
    {},
    { inbox: true },
    { driver: driverSaying("delivered") },
    { emulate: "interrupt" },
  ];
  it.each(CONFIGURED)(
    "nothing reaches the agent or the driver, no timer runs, no history stays (%j)",
    async (options) => {
      const rig = await Rig.start(options);
      await rig.pass();
      const [agent, client] = [rig.agent.received.length, rig.client.received.length];
      for (let id = 1; id <= 20; id += 1) rig.steer(id, "left");
      await quiet();
      expect(rig.agent.received).toHaveLength(agent);
      expect(rig.client.received).toHaveLength(client + 20);
      expect(rig.clock.armed).toBe(0);
      expect(rig.steerable.take("s")).toEqual([]);
      expect(options.driver ? (options.driver as { calls?: unknown[] }).calls : []).toEqual([]);
      rig.prompt(30, "go");
      await quiet();
      await rig.finish();
      expect(rig.runTexts).toEqual([["go"]]);
      expect(rig.client.result(30)).toEqual({ stopReason: "end_turn" });
    },
  );

  it("a repeated clientMessageId while idle is answered anew: there is nothing to remember", async () => {
    const rig = await Rig.start();
    rig.steer(1, "left", { clientMessageId: "mine" });
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.prompt(3, "left");
    await quiet();
    rig.steer(4, "left", { clientMessageId: "mine" });
    await quiet();
    expect([1, 2, 4].map((id) => rig.client.result(id)["outcome"])).toEqual([
      "promptRequired",
      "promptRequired",
      "injected",
    ]);
  });

  it("between two queued turns it is idle: the steer starts nothing that would overtake the queue", async () => {
    const rig = await Rig.running({ idleBehavior: "startNewTurn" });
    rig.prompt(2, "next");
    await quiet();
    rig.endRun();
    await quiet();
    rig.steer(3, "left");
    await quiet();
    expect(rig.client.result(3)).toMatchObject({ outcome: "promptRequired" });
    expect(rig.client.meta(3)["detail"]).toBe("idle");
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
  });
});

describe("G5 idle consumes nothing: startNewTurn opens a full turn", () => {
  const start = async (): Promise<Rig> => {
    const rig = await Rig.start({ idleBehavior: "startNewTurn" });
    rig.steer(1, "left", { clientMessageId: "mine" });
    await quiet();
    return rig;
  };

  it("the answer names the turn, then comes turnStarted, then the run", async () => {
    const rig = await start();
    const { turnId } = rig.client.meta(1);
    expect(rig.client.result(1)).toEqual({
      outcome: "startedNewTurn",
      _meta: { steering: { messageId: expect.any(String), turnId: expect.any(String), clientMessageId: "mine" } },
    });
    const kinds = rig.client.received.slice(-2).map(({ id, params }) => id ?? params?.["state"]);
    expect(kinds).toEqual([1, "turnStarted"]);
    expect(rig.client.receipts).toEqual([{ sessionId: "s", turnId, state: "turnStarted" }]);
    expect(rig.runs[0]?.params).toEqual({ sessionId: "s", prompt: [{ type: "text", text: "left" }] });
    expect(String(rig.runs[0]?.id)).toMatch(/^steering-/);
  });

  it("its end comes in a receipt, and the agent's answer reaches nobody", async () => {
    const rig = await start();
    rig.endRun();
    await quiet();
    const { turnId } = rig.client.meta(1);
    expect(rig.client.receipts.slice(1)).toEqual([
      { sessionId: "s", turnId, state: "turnEnded", stopReason: "end_turn" },
    ]);
    expect(rig.client.answers(String(rig.runs[0]?.id))).toEqual([]);
  });

  it("an error of the agent is in the receipt", async () => {
    const rig = await start();
    const error = { code: -32603, message: "broken" };
    rig.endRun({ error });
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "turnEnded", error });
  });

  it("can be steered", async () => {
    const rig = await start();
    rig.steer(2, "right");
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
    expect(rig.client.meta(2)["turnId"]).toBe(rig.client.meta(1)["turnId"]);
    rig.endRun();
    await quiet();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted"]);
    await rig.pass();
    expect(textsOf(rig.runs[1]?.params)).toEqual(["right"]);
    rig.say("yes");
    rig.endRun();
    await quiet();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "delivered", "turnEnded"]);
  });

  it("can be cancelled", async () => {
    const rig = await start();
    rig.cancel();
    await rig.pass();
    expect(rig.agent.of("session/cancel")).toHaveLength(1);
    rig.endRun({ result: { stopReason: "cancelled" } });
    await quiet();
    expect(rig.client.receipts[1]).toMatchObject({ state: "turnEnded", stopReason: "cancelled" });
  });

  it("later prompts wait for it", async () => {
    const rig = await start();
    rig.prompt(2, "next");
    await quiet();
    expect(rig.runTexts).toEqual([["left"]]);
    await rig.finish();
    expect(rig.runTexts).toEqual([["left"], ["next"]]);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  });

  it("a repeat of its clientMessageId gets the same answer, a revoke comes too late", async () => {
    const rig = await start();
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.revoke(3, rig.client.meta(1)["messageId"]);
    await quiet();
    expect(rig.client.result(2)).toEqual(rig.client.result(1));
    expect(rig.client.error(3)).toMatchObject({ data: { reason: "alreadyDelivered" } });
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it("never while cancelling, and not once the grace is over either", async () => {
    const rig = await start();
    rig.cancel();
    rig.steer(2, "right");
    await quiet();
    await rig.pass(10_000);
    rig.steer(3, "right");
    await quiet();
    for (const id of [2, 3])
      expect(rig.client.result(id)).toMatchObject({ outcome: "promptRequired", reason: "noRunningTurn" });
    for (const id of [2, 3]) expect(rig.client.meta(id)["detail"]).toBe("cancelling");
    expect(rig.runs).toHaveLength(1);
  });

  it("under the reject policy a cancelling turn is an error too", async () => {
    const rig = await Rig.running({ idleBehavior: "reject" });
    rig.cancel();
    rig.steer(2, "right");
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32600, data: { reason: "noRunningTurn" } });
  });
});
