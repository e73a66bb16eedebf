import { describe, expect, it } from "vitest";
import { quiet, Rig } from "./support/rig.js";

const GRACE = 10_000;
const CANCELLED = { result: { stopReason: "cancelled" } };
const cancels = (rig: Rig): number => rig.agent.of("session/cancel").length;

/** A turn that the client has cancelled, and the agent has been told so. */
const cancelled = async (): Promise<Rig> => {
  const rig = await Rig.running();
  rig.cancel();
  await rig.pass();
  return rig;
};

describe("G6 cancel: how the agent is told", () => {
  it("at least one macrotask after the prompt, so that it cannot overtake it", async () => {
    const rig = await Rig.start();
    rig.prompt(1, "go");
    rig.cancel();
    await quiet();
    expect([rig.runs.length, cancels(rig)]).toEqual([1, 0]);
    await rig.pass();
    expect(rig.agent.of("session/cancel")).toMatchObject([{ params: { sessionId: "s" } }]);
  });

  it("the answer is cancelled, once, also when the agent says end_turn", async () => {
    const rig = await cancelled();
    expect(rig.client.answers(1)).toEqual([]);
    rig.endRun({ result: { stopReason: "end_turn", usage: 1 } });
    await rig.pass(60_000);
    expect(rig.client.result(1)).toEqual({ stopReason: "cancelled", usage: 1 });
    expect(cancels(rig)).toBe(1);
  });

  it("repeated every 250 ms while the run still shows life, and not while it is silent", async () => {
    const rig = await cancelled();
    await rig.pass(250);
    expect(cancels(rig)).toBe(1);
    rig.say("still here");
    await rig.pass(249);
    expect(cancels(rig)).toBe(1);
    await rig.pass(1);
    expect(cancels(rig)).toBe(2);
    await rig.pass(500);
    expect(cancels(rig)).toBe(2);
    rig.update("tool_call", { toolCallId: "t", title: "t" });
    await rig.pass(250);
    expect(cancels(rig)).toBe(3);
  });

  it("what the run did before the cancel is no life after it", async () => {
    const rig = await Rig.running();
    rig.say("hello");
    await quiet();
    rig.cancel();
    await rig.pass(0);
    await rig.pass(250);
    expect(cancels(rig)).toBe(1);
  });

  it("at half of the grace $/cancel_request for the run is sent too, once", async () => {
    const rig = await cancelled();
    await rig.pass(GRACE / 2 - 1);
    expect(rig.agent.of("$/cancel_request")).toEqual([]);
    await rig.pass(1);
    expect(rig.agent.of("$/cancel_request")).toMatchObject([{ params: { requestId: 1 } }]);
    await rig.pass(60_000);
    expect(rig.agent.of("$/cancel_request")).toHaveLength(1);
  });

  it("of a continuation it names the run's own id", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.cancel();
    await rig.pass(GRACE / 2);
    expect(rig.agent.of("$/cancel_request")).toMatchObject([{ params: { requestId: rig.runs[1]?.id } }]);
    rig.endRun(CANCELLED);
    await quiet();
    expect(rig.client.meta(1)["runs"]).toEqual([{ stopReason: "end_turn" }, { stopReason: "cancelled" }]);
  });

  it("a second cancel of the client sends no second one", async () => {
    const rig = await cancelled();
    rig.cancel();
    await rig.pass(250);
    expect(cancels(rig)).toBe(1);
    rig.endRun(CANCELLED);
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
  });

  it("an answer before the macrotask: nothing is forwarded at all", async () => {
    const rig = await Rig.running();
    rig.cancel();
    await quiet();
    rig.endRun();
    await rig.pass(60_000);
    expect([cancels(rig), rig.agent.of("$/cancel_request").length]).toEqual([0, 0]);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
  });

  it("the time of the grace is configurable", async () => {
    const rig = await Rig.running({ cancelGraceMs: 100 });
    rig.cancel();
    await rig.pass(50);
    expect(rig.agent.of("$/cancel_request")).toHaveLength(1);
    await rig.pass(50);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
  });
});

describe("G6 cancel: an agent that does not yield", () => {
  it("at the end of the grace the client gets cancelled whatever the agent does, and exactly once", async () => {
    const rig = await cancelled();
    await rig.pass(GRACE - 1);
    expect(rig.client.answers(1)).toEqual([]);
    await rig.pass(1);
    expect(rig.client.result(1)).toEqual({ stopReason: "cancelled" });
    rig.endRun();
    await rig.pass(60_000);
    expect(rig.client.answers(1)).toHaveLength(1);
  });

  it("it is still told every 250 ms while it shows life", async () => {
    const rig = await cancelled();
    await rig.pass(GRACE);
    const before = cancels(rig);
    rig.say("alive");
    await rig.pass(250);
    expect(cancels(rig)).toBe(before + 1);
    await rig.pass(1_000);
    expect(cancels(rig)).toBe(before + 1);
  });

  it("until the old run has answered its work is dropped, other updates pass", async () => {
    const rig = await cancelled();
    const showWork = (): void => {
      for (const kind of [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
      ])
        rig.update(kind, { content: { type: "text", text: "late" } });
      for (const kind of ["current_mode_update", "usage_update", "session_info_update"]) rig.update(kind);
    };
    const passing = ["current_mode_update", "usage_update", "session_info_update"];
    const before = rig.client.updateKinds;
    showWork();
    await rig.pass(GRACE);
    expect(rig.client.updateKinds).toEqual([...before, ...passing]);
    showWork();
    await quiet();
    expect(rig.client.updateKinds).toEqual([...before, ...passing, ...passing]);
    rig.endRun();
    rig.say("after");
    await quiet();
    expect(rig.client.updateKinds.at(-1)).toBe("agent_message_chunk");
  });

  it("its requests are answered by the layer", async () => {
    const rig = await cancelled();
    for (const round of ["before", "after"]) {
      rig.agent.request(`p ${round}`, "session/request_permission", { sessionId: "s", options: [] });
      rig.agent.request(`e ${round}`, "elicitation/create", { sessionId: "s" });
      rig.agent.request(`w ${round}`, "fs/write_text_file", { sessionId: "s" });
      rig.agent.request(`t ${round}`, "terminal/create", { sessionId: "s" });
      rig.agent.request(`r ${round}`, "fs/read_text_file", { sessionId: "s" });
      await quiet();
      expect(rig.agent.answers(`p ${round}`)).toMatchObject([{ result: { outcome: { outcome: "cancelled" } } }]);
      expect(rig.agent.answers(`e ${round}`)).toMatchObject([{ result: { action: "cancel" } }]);
      expect(rig.agent.answers(`w ${round}`)).toMatchObject([{ error: { code: -32800 } }]);
      expect(rig.agent.answers(`t ${round}`)).toMatchObject([{ error: { code: -32800 } }]);
      expect(rig.client.received.filter(({ id }) => String(id).endsWith(round)).map(({ method }) => method)).toEqual([
        "fs/read_text_file",
      ]);
      await rig.pass(GRACE);
    }
  });

  it("a method named like a member of every object is not ours to answer", async () => {
    const rig = await cancelled();
    for (const method of ["__proto__", "constructor", "toString"])
      rig.agent.request(method, method, { sessionId: "s" });
    await quiet();
    expect(rig.client.received.slice(-3).map(({ method }) => method)).toEqual(["__proto__", "constructor", "toString"]);
  });

  it("steers get promptRequired with detail cancelling, during the grace and after", async () => {
    const rig = await cancelled();
    rig.steer(2, "left");
    await rig.pass(GRACE);
    rig.steer(3, "right");
    await quiet();
    for (const id of [2, 3]) {
      expect(rig.client.result(id)).toMatchObject({ outcome: "promptRequired", reason: "noRunningTurn" });
      expect(rig.client.meta(id)["detail"]).toBe("cancelling");
    }
    expect(rig.steerable.take("s")).toEqual([]);
  });

  it("other sessions are not touched", async () => {
    const rig = await cancelled();
    await rig.session("other");
    rig.prompt(5, "go", "other");
    await quiet();
    rig.say("hello", "other");
    rig.agent.request("w", "fs/write_text_file", { sessionId: "other" });
    rig.steer(6, "left", undefined, "other");
    await quiet();
    expect(rig.client.updates("agent_message_chunk")).toHaveLength(1);
    expect(rig.client.of("fs/write_text_file")).toHaveLength(1);
    expect(rig.client.result(6)).toMatchObject({ outcome: "injected" });
  });
});

describe("G6 cancel: the next prompt", () => {
  it("waits until the old run has answered, then runs", async () => {
    const rig = await cancelled();
    rig.prompt(2, "next");
    await rig.pass(GRACE);
    expect(rig.runs).toHaveLength(1);
    rig.agent.send({ id: 1, result: { stopReason: "end_turn" } });
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
    rig.say("fresh");
    rig.endRun();
    await quiet();
    expect(rig.client.updates("agent_message_chunk")).toHaveLength(1);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  });

  it("waits at most one further grace, then the agent is said to be stuck; the layer lives on", async () => {
    const rig = await cancelled();
    rig.prompt(2, "during the grace");
    await rig.pass(GRACE);
    await rig.pass(4_000);
    rig.prompt(3, "after it");
    await rig.pass(5_999);
    expect([2, 3].flatMap((id) => rig.client.answers(id))).toEqual([]);
    await rig.pass(1);
    expect(rig.client.error(2)).toMatchObject({ code: -32603, data: { reason: "agentStuck" } });
    expect(rig.client.answers(3)).toEqual([]);
    await rig.pass(4_000);
    expect(rig.client.error(3)).toMatchObject({ code: -32603, data: { reason: "agentStuck" } });
    rig.endRun();
    await rig.pass();
    rig.prompt(4, "again");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["again"]]);
  });

  it("cancelling a waiting prompt answers it at once, in the grace and after it", async () => {
    const rig = await cancelled();
    rig.prompt(2, "next");
    rig.cancel();
    await quiet();
    expect(rig.client.stops(2)).toEqual(["cancelled"]);
    await rig.pass(GRACE);
    rig.prompt(3, "next");
    rig.cancel();
    await quiet();
    expect(rig.client.stops(3)).toEqual(["cancelled"]);
    rig.endRun();
    await rig.pass(60_000);
    expect(rig.runs).toHaveLength(1);
  });

  it("the cancel that is repeated for the old run stops with it and cannot hit the next", async () => {
    const rig = await cancelled();
    await rig.pass(GRACE);
    rig.prompt(2, "next");
    await quiet();
    rig.say("alive");
    rig.agent.send({ id: 1, result: { stopReason: "cancelled" } });
    const before = cancels(rig);
    await rig.pass(60_000);
    expect(rig.runs).toHaveLength(2);
    expect(cancels(rig)).toBe(before);
  });
});
