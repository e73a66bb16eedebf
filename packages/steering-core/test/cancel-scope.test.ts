import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig } from "./support/rig.js";

const cancels = (rig: Rig): number => rig.agent.of("session/cancel").length;
const cancelRequest = (rig: Rig, requestId: unknown): void => rig.client.notify("$/cancel_request", { requestId });

describe("G6 cancel: the whole session", () => {
  it("answers every queued prompt cancelled at once; none runs later; prompts after it are not touched", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    rig.prompt(3, "three");
    await quiet();
    rig.cancel();
    await quiet();
    expect([rig.client.stops(2), rig.client.stops(3)]).toEqual([["cancelled"], ["cancelled"]]);
    rig.prompt(4, "four");
    await quiet();
    rig.endRun({ result: { stopReason: "cancelled" } });
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["four"]]);
    rig.endRun();
    await quiet();
    expect(rig.client.stops(4)).toEqual(["end_turn"]);
  });

  it("between two runs of a turn the owner is answered at once and nothing is forwarded", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    rig.cancel();
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "cancelled" });
    await rig.pass(60_000);
    expect([cancels(rig), rig.runs.length]).toEqual([0, 1]);
    rig.prompt(3, "next");
    await rig.finish();
    expect(rig.client.stops(3)).toEqual(["end_turn"]);
  });

  it("between two runs with a verdict missing the owner waits for it, and nothing is forwarded", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    rig.cancel();
    await quiet();
    expect(rig.client.answers(1)).toEqual([]);
    driver.verdict(0, "tooLate");
    await rig.pass(60_000);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect([cancels(rig), rig.runs.length]).toEqual([0, 1]);
  });

  it("between two turns it cancels what is queued and forwards nothing", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await quiet();
    rig.cancel();
    await rig.pass(60_000);
    expect(rig.client.stops(2)).toEqual(["cancelled"]);
    expect([cancels(rig), rig.runs.length]).toEqual([0, 1]);
    rig.prompt(3, "three");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["three"]]);
  });
});

describe("G6 cancel: while idle", () => {
  it("changes nothing and never poisons the next prompt", async () => {
    const rig = await Rig.start();
    rig.cancel();
    rig.prompt(1, "go");
    await rig.pass(1_000);
    expect(cancels(rig)).toBe(0);
    rig.endRun();
    await quiet();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    rig.cancel();
    rig.prompt(2, "again");
    await rig.pass(1_000);
    rig.endRun();
    await quiet();
    expect([cancels(rig), rig.client.stops(2)]).toEqual([0, ["end_turn"]]);
  });

  const WORK: [string, (rig: Rig) => void][] = [
    ["a message", (rig) => rig.say("by the way")],
    ["a tool call", (rig) => rig.update("tool_call", { toolCallId: "t", title: "t" })],
    ["a permission", (rig) => rig.agent.request("p", "session/request_permission", { sessionId: "s", options: [] })],
  ];
  it.each(WORK)("is forwarded when the agent has worked on its own since the last turn: %s", async (_, work) => {
    const rig = await Rig.running();
    rig.say("in the turn");
    rig.endRun();
    await quiet();
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(0);
    work(rig);
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(1);
    rig.prompt(2, "again");
    await quiet();
    rig.endRun();
    await quiet();
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(1);
  });

  it("is forwarded when the agent has worked on its own between two turns that never came", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    rig.say("by the way");
    await quiet();
    rig.cancel();
    await quiet();
    expect([rig.client.stops(2), cancels(rig)]).toEqual([["cancelled"], 0]);
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(1);
  });

  it.each(["available_commands_update", "current_mode_update", "usage_update"])("%s is no work", async (kind) => {
    const rig = await Rig.start();
    rig.update(kind, { availableCommands: [] });
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(0);
  });

  it("what session/load replays is no work", async () => {
    const rig = await Rig.start();
    rig.client.request(2, "session/load", { sessionId: "s" });
    await quiet();
    rig.say("from last week");
    rig.agent.send({ id: 2, result: {} });
    await quiet();
    rig.cancel();
    await quiet();
    expect(cancels(rig)).toBe(0);
    expect(rig.client.updates("agent_message_chunk")).toHaveLength(1);
  });

  it("of a session that the layer does not know it is the agent's business", async () => {
    const rig = await Rig.start();
    rig.cancel("elsewhere");
    rig.client.notify("session/cancel", {});
    rig.client.notify("session/cancel", null);
    await quiet();
    expect(cancels(rig)).toBe(3);
  });
});

describe("G6 cancel: $/cancel_request", () => {
  it("of a running prompt cancels that turn, and not the queue", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    cancelRequest(rig, 1);
    await rig.pass();
    expect(cancels(rig)).toBe(1);
    rig.endRun({ result: { stopReason: "end_turn" } });
    await rig.pass();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.runTexts).toEqual([["go"], ["two"]]);
  });

  it("of a prompt whose turn is between two runs cancels it", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    cancelRequest(rig, 1);
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
  });

  it("of a queued prompt answers it -32800, wherever the session stands", async () => {
    const rig = await Rig.running();
    for (const id of [2, 3, 4, 5]) rig.prompt(id, `${id}`);
    await quiet();
    cancelRequest(rig, 2);
    await quiet();
    expect(rig.client.error(2)?.code).toBe(-32800);
    rig.endRun();
    await quiet();
    cancelRequest(rig, 3);
    await rig.pass();
    expect(rig.client.error(3)?.code).toBe(-32800);
    expect(rig.runTexts).toEqual([["go"], ["4"]]);
    cancelRequest(rig, 4);
    await quiet();
    cancelRequest(rig, 5);
    await quiet();
    expect(rig.client.error(5)?.code).toBe(-32800);
    rig.endRun();
    await rig.pass(60_000);
    expect(rig.runs).toHaveLength(2);
    expect(rig.client.stops(4)).toEqual(["cancelled"]);
  });

  it("of the only queued prompt, between two turns: the session is idle again", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await quiet();
    cancelRequest(rig, 2);
    await quiet();
    expect(rig.client.error(2)?.code).toBe(-32800);
    rig.prompt(3, "three");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["three"]]);
    await rig.pass(60_000);
    expect(rig.runs).toHaveLength(2);
  });

  it("of a steer, of a prompt that joined as one, of an answered request, of nothing: nothing", async () => {
    const rig = await Rig.running({ whenBusy: "steer" });
    rig.steer(2, "left");
    rig.prompt(3, "right");
    await quiet();
    const { length } = rig.agent.received;
    for (const id of [2, 3, "init", 99, undefined, null, {}]) cancelRequest(rig, id);
    rig.client.notify("$/cancel_request", null);
    await rig.pass(1_000);
    expect(rig.agent.received).toHaveLength(length);
    await rig.finish();
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.stops(3)).toEqual(["end_turn"]);
    expect(rig.runTexts).toEqual([["go"], ["left", "\n\n", "right"]]);
  });

  it("of a request that the agent has reaches the agent", async () => {
    const rig = await Rig.start();
    rig.client.request(7, "session/load", { sessionId: "s" });
    cancelRequest(rig, 7);
    await quiet();
    expect(rig.agent.of("$/cancel_request")).toMatchObject([{ params: { requestId: 7 } }]);
  });

  it('goes by type and value: 1 is not "1"', async () => {
    const rig = await Rig.running();
    cancelRequest(rig, "1");
    await rig.pass(1_000);
    expect(cancels(rig)).toBe(0);
  });
});
