import { describe, expect, it } from "vitest";
import type { SteeringOptions } from "../src/index.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

const reasonsOf = (rig: Rig): unknown[] =>
  rig.client.receipts.filter(({ state }) => state === "undelivered").map(({ reason }) => reason);

/** A turn with one steer that nobody has taken. */
const steered = async (options: SteeringOptions = {}): Promise<Rig> => {
  const rig = await Rig.running(options);
  rig.steer(2, "left");
  await quiet();
  return rig;
};

describe("G1 no lost steer: how a run ended decides what becomes of the steers left", () => {
  it.each(["end_turn", "max_tokens", "max_turn_requests", "cancelled", "something_new"])(
    "%s: a continuation, one macrotask later; the owner gets the last run's result",
    async (stopReason) => {
      const rig = await steered();
      rig.endRun({ result: { stopReason, usage: { n: 1 } } });
      await quiet();
      expect(rig.runs).toHaveLength(1);
      expect(rig.client.answers(1)).toEqual([]);
      await rig.pass();
      expect(rig.runTexts).toEqual([["go"], ["left"]]);
      rig.endRun({ result: { stopReason: "max_tokens", usage: { n: 2 } } });
      await quiet();
      expect(rig.client.result(1)).toMatchObject({ stopReason: "max_tokens", usage: { n: 2 } });
      expect(rig.client.meta(1)["runs"]).toEqual([{ stopReason }, { stopReason: "max_tokens" }]);
    },
  );

  it("refusal: undelivered / refused, the owner gets refusal", async () => {
    const rig = await steered();
    rig.endRun({ result: { stopReason: "refusal" } });
    await rig.pass(10_000);
    expect([reasonsOf(rig), rig.client.stops(1), rig.runs.length]).toEqual([["refused"], ["refusal"], 1]);
  });

  it.each([-32603, -32600, -32602, -32000, -32002, -32800, 1])(
    "an error %i of a run that is no continuation: undelivered / agentFailed, the owner gets the error",
    async (code) => {
      const rig = await steered();
      rig.endRun({ error: { code, message: "broken" } });
      await rig.pass(10_000);
      expect(reasonsOf(rig)).toEqual(["agentFailed"]);
      expect(rig.client.error(1)).toMatchObject({ code, message: "broken" });
      expect(rig.runs).toHaveLength(1);
    },
  );

  const ANSWERS: [string, object][] = [
    ["end_turn", { result: { stopReason: "end_turn" } }],
    ["refusal", { result: { stopReason: "refusal" } }],
    ["cancelled", { result: { stopReason: "cancelled" } }],
    ["an error", { error: { code: -32603, message: "aborted" } }],
    ["rubbish", { result: 5 }],
  ];
  it.each(ANSWERS)(
    "%s after a client's cancel: undelivered / cancelled, the owner gets cancelled",
    async (_, answer) => {
      const rig = await steered();
      rig.cancel();
      await quiet();
      rig.endRun(answer);
      await rig.pass(10_000);
      expect([reasonsOf(rig), rig.client.stops(1), rig.runs.length]).toEqual([["cancelled"], ["cancelled"], 1]);
    },
  );

  it("nothing left: the owner is answered at once, whatever the stop reason", async () => {
    const rig = await Rig.running();
    rig.endRun({ result: { stopReason: "max_turn_requests" } });
    await quiet();
    expect(rig.client.stops(1)).toEqual(["max_turn_requests"]);
    expect(rig.clock.armed).toBe(1); // the offer of commands after session/new
  });

  it("a result that is no object ends the turn all the same", async () => {
    const rig = await Rig.running();
    rig.endRun({ result: null });
    await quiet();
    expect(rig.client.answers(1)).toHaveLength(1);
    rig.prompt(2, "again");
    await quiet();
    expect(rig.runs).toHaveLength(2);
  });

  it("a second answer to the same run reaches nobody", async () => {
    const rig = await Rig.running();
    rig.endRun();
    rig.endRun({ error: { code: -32603, message: "late" } });
    await quiet();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });
});

describe("G3 order: what a continuation carries", () => {
  it("all that is left, in order, in one prompt, the texts of different steers separated", async () => {
    const rig = await Rig.running();
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt: [textBlock("one"), textBlock("two")] });
    rig.steer(3, "three");
    rig.steer(4, "four");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["one", "two", "\n\n", "three", "\n\n", "four"]]);
  });

  it("its metadata is only ours: the turn and the messages; the owner's is not copied", async () => {
    const rig = await Rig.start();
    rig.client.request(1, "session/prompt", {
      sessionId: "s",
      prompt: [textBlock("go")],
      _meta: { mine: 1 },
      extra: 2,
    });
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.endRun();
    await rig.pass();
    const { turnId, messageId } = rig.client.meta(2);
    expect(rig.runs[0]?.params).toEqual({ sessionId: "s", prompt: [textBlock("go")], _meta: { mine: 1 }, extra: 2 });
    expect(rig.runs[1]?.params).toEqual({
      sessionId: "s",
      prompt: [textBlock("left"), textBlock("\n\n"), textBlock("right")],
      _meta: { steering: { turnId, continuation: true, messageIds: [messageId, rig.client.meta(3)["messageId"]] } },
    });
  });

  it("its id is ours and not the client's, and its answer reaches the owner under the owner's id", async () => {
    const rig = await steered();
    expect(rig.runs[0]?.id).toBe(1);
    rig.endRun();
    await rig.pass();
    expect(String(rig.runs[1]?.id)).toMatch(/^steering-/);
    rig.endRun();
    await quiet();
    expect(rig.client.answers(String(rig.runs[1]?.id))).toEqual([]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("a steer that begins with a slash goes alone, each in its place", async () => {
    const rig = await Rig.running();
    const texts = ["one", "two", "/compact", "/clear", "three", "four"];
    for (const [index, text] of texts.entries()) rig.steer(10 + index, text);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["one", "\n\n", "two"], ["/compact"], ["/clear"], ["three", "\n\n", "four"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("a slash in a later block, or behind a space, is no command", async () => {
    const rig = await Rig.running();
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt: [textBlock("one"), textBlock("/two")] });
    rig.steer(3, " /three");
    await rig.finish();
    expect(rig.runTexts).toHaveLength(2);
  });

  it("steers that arrive between the runs join it; those that arrive during it make another", async () => {
    const rig = await steered();
    rig.endRun();
    await quiet();
    rig.steer(3, "between");
    await rig.pass();
    rig.steer(4, "during");
    await quiet();
    expect([3, 4].map((id) => rig.client.result(id)["outcome"])).toEqual(["injected", "injected"]);
    expect(new Set([2, 3, 4].map((id) => rig.client.meta(id)["turnId"])).size).toBe(1);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left", "\n\n", "between"], ["during"]]);
  });

  it("interrupt: the run is cancelled a macrotask after the steer, the task restated once", async () => {
    const rig = await steered({ emulate: "interrupt" });
    rig.steer(3, "right");
    await quiet();
    expect(rig.agent.of("session/cancel")).toEqual([]);
    await rig.pass();
    expect(rig.agent.of("session/cancel")).toHaveLength(1);
    rig.endRun({ result: { stopReason: "cancelled" } });
    await rig.pass();
    expect(rig.runTexts[1]).toEqual([
      "go",
      expect.stringContaining("User correction/guidance"),
      "left",
      "\n\n",
      "right",
    ]);
    rig.endRun();
    await quiet();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.agent.of("session/cancel")).toHaveLength(1);
  });

  it("interrupt: a run that ends by itself first is not cancelled any more", async () => {
    const rig = await steered({ emulate: "interrupt" });
    rig.endRun();
    await rig.pass();
    rig.endRun();
    await rig.pass(10_000);
    expect(rig.agent.of("session/cancel")).toEqual([]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it.each([{ inbox: true }, {}])("interrupt is for agents without another road (%j)", async (options) => {
    const rig = await steered({ ...options, ...(options.inbox ? { emulate: "interrupt" } : {}) });
    await rig.pass(1_000);
    expect(rig.agent.of("session/cancel")).toEqual([]);
  });
});

describe("G2 no duplicate: a continuation that was not taken", () => {
  const refuse = (rig: Rig, code: number): void => rig.endRun({ error: { code, message: "not now" } });

  /** A turn whose continuation is at the agent, after a first run with `usage` 1. */
  const continuing = async (): Promise<Rig> => {
    const rig = await steered();
    rig.endRun({ result: { stopReason: "end_turn", usage: 1 } });
    await rig.pass();
    return rig;
  };

  it("-32600 is tried again after 100 ms, 500 ms and 2 s; then the owner gets the previous run's result", async () => {
    const rig = await continuing();
    for (const [index, ms] of [100, 500, 2_000].entries()) {
      refuse(rig, -32600);
      await rig.pass(ms - 1);
      expect(rig.runs).toHaveLength(2 + index);
      await rig.pass(1);
      expect(rig.runs).toHaveLength(3 + index);
      expect(rig.client.answers(1)).toEqual([]);
    }
    refuse(rig, -32600);
    await rig.pass(60_000);
    expect(rig.runs).toHaveLength(5);
    expect(new Set(rig.runTexts.slice(1).map((texts) => texts.join()))).toEqual(new Set(["left"]));
    expect(reasonsOf(rig)).toEqual(["agentFailed"]);
    expect(rig.client.result(1)).toMatchObject({ stopReason: "end_turn", usage: 1 });
    expect(rig.client.meta(1)["runs"]).toEqual([{ stopReason: "end_turn" }]);
  });

  it("taken at last: the steer is delivered once, and the retries start anew for the next", async () => {
    const rig = await continuing();
    refuse(rig, -32600);
    await rig.pass(100);
    refuse(rig, -32600);
    await rig.pass(500);
    rig.say("yes");
    rig.steer(3, "more");
    await quiet();
    rig.endRun();
    await rig.pass();
    refuse(rig, -32600);
    await rig.pass(100);
    expect(rig.runTexts.at(-1)).toEqual(["more"]);
    rig.endRun();
    await quiet();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual([
      "turnStarted",
      "delivered",
      "delivered",
      "turnEnded",
    ]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("while it waits for the next try, later steers keep their place behind it", async () => {
    const rig = await continuing();
    refuse(rig, -32600);
    rig.steer(3, "right");
    await rig.pass(100);
    expect(rig.runTexts.at(-1)).toEqual(["left", "\n\n", "right"]);
  });

  it("while it waits for the next try, a cancel ends the turn at once", async () => {
    const rig = await continuing();
    refuse(rig, -32600);
    await quiet();
    rig.cancel();
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(reasonsOf(rig)).toEqual(["cancelled"]);
    await rig.pass(10_000);
    expect(rig.runs).toHaveLength(2);
  });

  it("all revoked meanwhile: no further try, the owner gets the previous run's result", async () => {
    const rig = await continuing();
    refuse(rig, -32600);
    await quiet();
    rig.revoke(3, rig.client.meta(2)["messageId"]);
    await rig.pass(10_000);
    expect(rig.client.result(3)).toEqual({});
    expect(rig.runs).toHaveLength(2);
    expect(rig.client.result(1)).toMatchObject({ stopReason: "end_turn", usage: 1 });
  });

  it.each([-32602, -32000, -32002])(
    "%i is for good: all pending steers are undelivered, previous result",
    async (code) => {
      const rig = await continuing();
      rig.steer(3, "right");
      await quiet();
      refuse(rig, code);
      await rig.pass(10_000);
      expect(reasonsOf(rig)).toEqual(["agentFailed", "agentFailed"]);
      expect(rig.client.result(1)).toMatchObject({ stopReason: "end_turn", usage: 1 });
      expect(rig.runs).toHaveLength(2);
    },
  );

  it("any other error fails the turn, and its steers count as handed over", async () => {
    const rig = await continuing();
    refuse(rig, -32603);
    await rig.pass(10_000);
    expect(rig.client.error(1)?.code).toBe(-32603);
    expect(reasonsOf(rig)).toEqual([]);
    expect(rig.client.receipts[1]).toMatchObject({ state: "delivered", assumed: true });
  });

  it("the same error after an update of the agent means that it was taken", async () => {
    const rig = await continuing();
    rig.say("yes");
    await quiet();
    refuse(rig, -32600);
    await rig.pass(10_000);
    expect(rig.client.error(1)?.code).toBe(-32600);
    expect(rig.runs).toHaveLength(2);
    expect(reasonsOf(rig)).toEqual([]);
  });
});
