import { describe, expect, it } from "vitest";
import { Bare } from "./support/bare.js";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

const CLOSES = ["session/close", "session/delete"];

describe.each(CLOSES)("G4 one answer: %s during a turn", (method) => {
  /** A turn with one steer and one queued prompt, and the close at the agent. */
  const closing = async (): Promise<Rig> => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    rig.prompt(3, "next");
    rig.client.request(4, method, { sessionId: "s" });
    await quiet();
    return rig;
  };

  it("reaches the agent, and from then on steers are -32002", async () => {
    const rig = await closing();
    rig.steer(5, "right");
    await quiet();
    expect(rig.agent.of(method)).toMatchObject([{ id: 4, params: { sessionId: "s" } }]);
    expect(rig.client.error(5)?.code).toBe(-32002);
    expect(rig.client.answers(4)).toEqual([]);
  });

  it("the run ends first: no continuation, the owner is cancelled, the steer is handed back as closed", async () => {
    const rig = await closing();
    rig.endRun();
    await rig.pass(10_000);
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "closed" });
    rig.agent.send({ id: 4, result: {} });
    await quiet();
    expect(rig.client.stops(3)).toEqual(["cancelled"]);
    expect(rig.client.answers(4)).toMatchObject([{ result: {} }]);
  });

  it("the close is answered first: everybody has an answer before it", async () => {
    const rig = await closing();
    rig.agent.send({ id: 4, result: { own: 1 } });
    await quiet();
    const order = rig.client.received.map(({ id }) => id).filter((id) => id !== undefined);
    expect(order.slice(-3).sort()).toEqual([1, 3, 4]);
    expect(order.at(-1)).toBe(4);
    expect([rig.client.stops(1), rig.client.stops(3)]).toEqual([["cancelled"], ["cancelled"]]);
    expect(rig.client.result(4)).toEqual({ own: 1 });
    rig.endRun();
    rig.say("late");
    await rig.pass(60_000);
    expect(rig.client.answers(1)).toHaveLength(1);
    expect(rig.agent.of("session/cancel")).toEqual([]);
  });

  it("an answer that says there is no such session closes it too", async () => {
    const rig = await closing();
    rig.agent.send({ id: 4, error: { code: -32002, message: "gone" } });
    rig.steer(6, "right");
    await quiet();
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.error(6)?.code).toBe(-32002);
  });

  it("if it fails the session lives on: the steer is continued, the queue goes on", async () => {
    const rig = await closing();
    rig.agent.send({ id: 4, error: { code: -32603, message: "no" } });
    rig.steer(5, "right");
    await rig.finish();
    expect(rig.client.error(4)?.message).toBe("no");
    expect(rig.client.result(5)).toMatchObject({ outcome: "injected" });
    expect(rig.runTexts).toEqual([["go"], ["left", "\n\n", "right"], ["next"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.stops(3)).toEqual(["end_turn"]);
  });

  it("if it fails after the run has ended the queue still goes on", async () => {
    const rig = await closing();
    rig.endRun();
    await rig.pass();
    expect(rig.runs).toHaveLength(1);
    rig.agent.send({ id: 4, error: { code: -32603, message: "no" } });
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["next"]]);
  });

  it("a prompt that arrives meanwhile starts nothing: it waits for what becomes of the close", async () => {
    for (const answer of [{ result: {} }, { error: { code: -32603, message: "no" } }]) {
      const rig = await Rig.start();
      rig.client.request(4, method, { sessionId: "s" });
      rig.prompt(5, "go");
      await rig.pass();
      expect(rig.runs).toEqual([]);
      rig.agent.send({ id: 4, ...answer });
      await rig.pass();
      if (answer.error) expect(rig.runTexts).toEqual([["go"]]);
      else expect(rig.client.stops(5)).toEqual(["cancelled"]);
    }
  });
});

describe("G4 one answer: session/close in every other state", () => {
  const close = async (rig: Rig): Promise<void> => {
    rig.client.request(9, "session/close", { sessionId: "s" });
    await quiet();
  };
  const confirm = async (rig: Rig): Promise<void> => {
    rig.agent.send({ id: 9, result: {} });
    await rig.pass(60_000);
    expect(rig.client.answers(9)).toHaveLength(1);
    rig.steer(10, "right");
    await quiet();
    expect(rig.client.error(10)?.code).toBe(-32002);
  };

  it("between two runs: the owner is cancelled at once", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    await close(rig);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "closed" }]);
    await confirm(rig);
    expect(rig.runs).toHaveLength(1);
  });

  it("with a verdict missing: the verdict is awaited, at the latest until the close response", async () => {
    for (const verdict of ["tooLate", undefined]) {
      const driver = new HandDriver();
      const rig = await Rig.running({ driver });
      rig.steer(2, "left");
      await quiet();
      rig.endRun();
      await quiet();
      await close(rig);
      expect(rig.client.answers(1)).toEqual([]);
      if (verdict) driver.verdict(0, verdict);
      await quiet();
      if (verdict) expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "closed" }]);
      await confirm(rig);
      expect(rig.client.stops(1)).toEqual(["cancelled"]);
      if (!verdict) expect(rig.client.receipts[1]).toMatchObject({ state: "delivered", assumed: true });
    }
  });

  it("between two turns: the queued prompt is cancelled with the response", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await quiet();
    await close(rig);
    await rig.pass();
    expect(rig.runs).toHaveLength(1);
    await confirm(rig);
    expect(rig.client.stops(2)).toEqual(["cancelled"]);
  });

  it("while cancelling, and behind the fence", async () => {
    for (const ms of [0, 10_000]) {
      const rig = await Rig.running();
      rig.cancel();
      await rig.pass(ms);
      rig.prompt(2, "two");
      await close(rig);
      await confirm(rig);
      expect([rig.client.stops(1), rig.client.stops(2)]).toEqual([["cancelled"], ["cancelled"]]);
      rig.endRun();
      await rig.pass(60_000);
      expect(rig.runs).toHaveLength(1);
    }
  });

  it("while idle: steers are -32002 from receipt, also with startNewTurn", async () => {
    const rig = await Rig.start({ idleBehavior: "startNewTurn" });
    await close(rig);
    rig.steer(2, "left");
    await quiet();
    expect(rig.client.error(2)?.code).toBe(-32002);
    await confirm(rig);
    expect(rig.runs).toEqual([]);
  });

  it("with a permission open: it is withdrawn from the client", async () => {
    const rig = await Rig.running();
    rig.agent.request("p", "session/request_permission", { sessionId: "s", options: [] });
    await close(rig);
    await confirm(rig);
    expect(rig.client.of("$/cancel_request")).toMatchObject([{ params: { requestId: "p" } }]);
  });

  it("of a session that the layer does not know it is the agent's business", async () => {
    const rig = await Rig.start();
    rig.client.request(9, "session/close", { sessionId: "elsewhere" });
    await quiet();
    rig.agent.send({ id: 9, error: { code: -32002, message: "what?" } });
    await quiet();
    expect(rig.client.error(9)?.message).toBe("what?");
  });

  it("a closed session that is loaded again is a new one", async () => {
    const rig = await Rig.running();
    await close(rig);
    rig.agent.send({ id: 9, result: {} });
    await quiet();
    await rig.session("s", undefined, "session/load");
    rig.prompt(11, "again");
    rig.steer(12, "left");
    await quiet();
    expect(rig.client.result(12)).toMatchObject({ outcome: "injected" });
    rig.agent.send({ id: 1, result: { stopReason: "end_turn" } });
    await quiet();
    expect(rig.client.answers(11)).toEqual([]);
    await rig.finish();
    expect(rig.client.stops(11)).toEqual(["end_turn"]);
    expect(rig.client.answers(1)).toHaveLength(1);
  });
});

describe("G8 containment: what is over leaves nothing behind", () => {
  it.each(CLOSES)("%s of a session, whatever was open in it", (method) => {
    const bare = new Bare();
    const connection = bare.connect();
    for (let index = 0; index < 50; index += 1) {
      const [sessionId, id] = [`s${index}`, 100 * (index + 1)];
      connection.ask(id, "session/new", {});
      connection.reply(id, { sessionId });
      connection.ask(id + 1, "session/prompt", { sessionId, prompt: [textBlock("go")] });
      connection.ask(id + 2, "session/prompt", { sessionId, prompt: [textBlock("next")] });
      connection.ask(id + 3, "_session/steering", { sessionId, prompt: [textBlock("left")] });
      if (index % 2) connection.wire.fromClient({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
      bare.clock.advance(index % 3 ? 0 : 10_000);
      connection.ask(id + 4, method, { sessionId });
      connection.reply(id + 4, {});
    }
    bare.clock.advance(0);
    expect(bare.remembered).toEqual({ sessions: 0, links: 1, leaving: 0, timers: 0 });
  });

  it("prompts to sessions that the agent does not know", () => {
    const bare = new Bare();
    const connection = bare.connect();
    for (let id = 1; id <= 20; id += 1) {
      connection.ask(id, "session/prompt", { sessionId: `s${id}`, prompt: [textBlock("go")] });
      connection.wire.fromAgent({ jsonrpc: "2.0", id, error: { code: -32002, message: "no" } });
    }
    expect(bare.remembered).toEqual({ sessions: 0, links: 1, leaving: 0, timers: 0 });
  });
});
