import { describe, expect, it } from "vitest";
import { Bare } from "./support/bare.js";
import { HandDriver } from "./support/driver.js";
import { type Peer, quiet, Rig, textBlock } from "./support/rig.js";

interface World {
  readonly rig: Rig;
  readonly second: { client: Peer; agent: Peer };
}

/** Two connections; the turn `1` belongs to the first, the second has loaded the session. */
const two = async (
  options: ConstructorParameters<typeof Rig>[0] = {},
  wishes: object = { receipts: true },
): Promise<World> => {
  const rig = await Rig.running(options);
  const second = await rig.open(wishes);
  await rig.session("s", second, "session/load");
  return { rig, second };
};

describe("G7 isolation: who may steer", () => {
  it("not a connection that has nothing to do with the session; nor may it revoke", async () => {
    const rig = await Rig.running();
    const stranger = await rig.open();
    rig.steer(2, "left");
    rig.steer(2, "right", undefined, "s", stranger.client);
    await quiet();
    rig.revoke(3, rig.client.meta(2)["messageId"], "s", stranger.client);
    await quiet();
    for (const id of [2, 3]) expect(stranger.client.error(id)?.code).toBe(-32002);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  it.each(["session/load", "session/resume"])("a connection that has been granted %s", async (method) => {
    const rig = await Rig.running();
    const second = await rig.open();
    second.client.request(5, method, { sessionId: "s" });
    rig.steer(6, "too early", undefined, "s", second.client);
    await quiet();
    second.agent.send({ id: 5, result: {} });
    await quiet();
    rig.steer(7, "left", undefined, "s", second.client);
    await quiet();
    expect(second.client.error(6)?.code).toBe(-32002);
    expect(second.client.result(7)).toMatchObject({ outcome: "injected" });
  });

  it("a connection that has prompted it with success, and not before", async () => {
    const rig = new Rig();
    await rig.open();
    for (const [id, answer] of [
      [1, { error: { code: -32002, message: "no" } }],
      [2, { result: { stopReason: "end_turn" } }],
    ] as const) {
      rig.prompt(id, "go", "old");
      await quiet();
      rig.steer(10 + id, "left", undefined, "old");
      await quiet();
      expect(rig.client.error(10 + id)?.code).toBe(-32002);
      rig.endRun(answer);
      await quiet();
    }
    rig.steer(20, "left", undefined, "old");
    await quiet();
    expect(rig.client.result(20)).toMatchObject({ outcome: "promptRequired" });
  });
});

describe("G7 isolation: who may join a turn with a prompt", () => {
  /** A turn of the first connection, and a second that has nothing to do with the session. */
  const start = async (whenBusy: "queue" | "steer" | "reject"): Promise<World> => {
    const rig = await Rig.running({ whenBusy });
    return { rig, second: await rig.open() };
  };

  it.each(["queue", "steer", "reject"] as const)("/steer is refused like a steer (whenBusy %s)", async (whenBusy) => {
    const { rig, second } = await start(whenBusy);
    rig.prompt(5, "/steer left", "s", second.client);
    await quiet();
    expect(second.client.error(5)?.code).toBe(-32002);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"]]);
  });

  it("a plain prompt waits for its own turn where others would join", async () => {
    const { rig, second } = await start("steer");
    rig.prompt(5, "mine", "s", second.client);
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"]]);
    expect(second.agent.of("session/prompt")).toMatchObject([{ id: 5, params: { prompt: [textBlock("mine")] } }]);
  });

  it("a prompt is told that the session is busy where that is the policy", async () => {
    const { rig, second } = await start("reject");
    rig.prompt(5, "mine", "s", second.client);
    await quiet();
    expect(second.client.error(5)).toMatchObject({ data: { reason: "busy" } });
  });
});

describe("G4 one answer: several connections on one session", () => {
  it("the receipt goes to whoever sent the steer, the response to whoever asked", async () => {
    const driver = new HandDriver();
    const { rig, second } = await two({ driver });
    rig.steer(2, "right", undefined, "s", second.client);
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    rig.endRun();
    await quiet();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "turnEnded"]);
    expect(second.client.receipts.map(({ state }) => state)).toEqual(["delivered", "turnEnded"]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect([second.client.answers(1), rig.client.answers(2)]).toEqual([[], []]);
  });

  it("echoes go to every attached connection that asked", async () => {
    const driver = new HandDriver();
    const { rig, second } = await two({ driver }, { echo: true });
    const third = await rig.open({ echo: true });
    rig.steer(2, "left");
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    expect(
      [rig.client, second.client, third.client].map((client) => client.updates("user_message_chunk").length),
    ).toEqual([0, 1, 0]);
  });

  it("where the agent shows the steer by itself, the others are shown it by the layer", async () => {
    const { rig, second } = await two({}, { echo: true });
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    rig.update("user_message_chunk", { content: textBlock("left") });
    await rig.finish();
    const { messageId } = rig.client.meta(2);
    for (const client of [rig.client, second.client])
      expect(client.updates("user_message_chunk")).toEqual([
        { sessionUpdate: "user_message_chunk", content: textBlock("left"), messageId },
      ]);
  });

  it("the same request id on two connections is two requests", async () => {
    const { rig, second } = await two();
    rig.prompt(1, "from the second", "s", second.client);
    await quiet();
    rig.endRun({ result: { stopReason: "max_tokens" } });
    await rig.pass();
    expect(rig.client.stops(1)).toEqual(["max_tokens"]);
    expect(second.agent.of("session/prompt")).toMatchObject([
      { id: 1, params: { prompt: [textBlock("from the second")] } },
    ]);
    second.agent.send({ id: 1, result: { stopReason: "end_turn" } });
    await quiet();
    expect(second.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.answers(1)).toHaveLength(1);
  });

  it("$/cancel_request reaches only prompts of its own connection", async () => {
    const { rig, second } = await two();
    second.client.notify("$/cancel_request", { requestId: 1 });
    await rig.pass(1_000);
    expect(rig.agent.of("session/cancel")).toEqual([]);
  });

  it("session/cancel of the second cancels the turn, at the agent that runs it", async () => {
    const { rig, second } = await two();
    rig.cancel("s", second.client);
    await rig.pass();
    expect([rig.agent.of("session/cancel").length, second.agent.of("session/cancel").length]).toEqual([1, 0]);
  });

  it("a permission that the agent asks of another connection is answered there", async () => {
    const { rig, second } = await two();
    second.agent.request("p", "session/request_permission", { sessionId: "s", options: [] });
    await quiet();
    rig.cancel();
    await quiet();
    expect(second.agent.answers("p")).toMatchObject([{ result: { outcome: { outcome: "cancelled" } } }]);
    expect(second.client.of("$/cancel_request")).toHaveLength(1);
    expect(rig.client.of("$/cancel_request")).toEqual([]);
  });
});

describe("G4 one answer: request ids", () => {
  it('1 and "1" are two prompts, each answered under its own', async () => {
    const rig = await Rig.start();
    rig.prompt(1, "number");
    rig.prompt("1", "string");
    await quiet();
    rig.endRun({ result: { stopReason: "max_tokens" } });
    await rig.pass();
    rig.endRun();
    await quiet();
    expect([rig.client.stops(1), rig.client.stops("1")]).toEqual([["max_tokens"], ["end_turn"]]);
  });

  it.each(["session/prompt", "session/load", "session/set_mode", "session/close", "initialize"])(
    "a %s under the id of a prompt in flight is refused, and the prompt is still answered",
    async (method) => {
      const rig = await Rig.running();
      const { length } = rig.agent.received;
      rig.client.request(1, method, { sessionId: "s", prompt: [textBlock("again")] });
      await quiet();
      expect(rig.client.answers(1)).toMatchObject([{ error: { code: -32600 } }]);
      expect(rig.agent.received).toHaveLength(length);
      rig.endRun();
      await quiet();
      expect(rig.client.stops(1)).toEqual([expect.anything(), "end_turn"]);
      rig.steer(5, "left");
      await quiet();
      expect(rig.client.result(5)).toMatchObject({ outcome: "promptRequired" });
    },
  );

  it("an id is free again once it was answered", async () => {
    const rig = await Rig.running();
    await rig.finish();
    rig.prompt(1, "again");
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["again"]]);
  });

  it("what the agent answers unasked reaches nobody, except where nobody can be meant", async () => {
    const rig = await Rig.start();
    const { length } = rig.client.received;
    rig.agent.send({ id: 99, result: {} });
    rig.agent.send({ id: null, error: { code: -32700, message: "Parse error" } });
    await quiet();
    expect(rig.client.received.slice(length)).toMatchObject([{ id: null, error: { code: -32700 } }]);
  });
});

describe("G8 containment: a client that goes", () => {
  it("its turn is cancelled at the agent, its steers are handed back, its queue is dropped; the agent is let go at the answer", async () => {
    const rig = await Rig.running();
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    rig.steer(2, "left", undefined, "s", second.client);
    rig.prompt(3, "mine too");
    rig.prompt(4, "of the second", "s", second.client);
    await quiet();
    rig.client.end();
    await rig.pass();
    expect(rig.agent.of("session/cancel")).toHaveLength(1);
    expect(second.client.receipts).toMatchObject([{ state: "undelivered", reason: "closed" }]);
    rig.endRun();
    await rig.pass();
    expect(rig.runs).toHaveLength(1);
    expect(second.agent.of("session/prompt")).toMatchObject([{ id: 4 }]);
    second.agent.send({ id: 4, result: { stopReason: "end_turn" } });
    await quiet();
    expect(second.client.stops(4)).toEqual(["end_turn"]);
  });

  it("a steering connection that goes takes nothing of the turn with it", async () => {
    const { rig, second } = await two();
    rig.steer(2, "left", undefined, "s", second.client);
    await quiet();
    second.client.end();
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("the agent side stays until the run has answered, or the grace is over", () => {
    for (const isSilent of [false, true]) {
      const bare = new Bare();
      const connection = bare.connect();
      connection.ask(1, "session/new", {});
      connection.reply(1, { sessionId: "s" });
      connection.ask(2, "session/prompt", { sessionId: "s", prompt: [textBlock("go")] });
      connection.wire.clientGone();
      bare.clock.advance(isSilent ? 9_999 : 0);
      expect(connection.left).toBe(false);
      if (isSilent) bare.clock.advance(1);
      else connection.reply(2, { stopReason: "cancelled" });
      expect(connection.left).toBe(true);
      connection.wire.agentGone();
      expect(bare.remembered).toEqual({ sessions: 0, links: 0, leaving: 0, timers: 0 });
    }
  });

  it("between two runs, and while idle, the agent is let go at once", () => {
    for (const isSteered of [false, true]) {
      const bare = new Bare();
      const connection = bare.connect();
      connection.ask(1, "session/new", {});
      connection.reply(1, { sessionId: "s" });
      connection.ask(2, "session/prompt", { sessionId: "s", prompt: [textBlock("go")] });
      if (isSteered) connection.ask(3, "_session/steering", { sessionId: "s", prompt: [textBlock("left")] });
      connection.reply(2, { stopReason: "end_turn" });
      connection.wire.clientGone();
      expect(connection.left).toBe(true);
      connection.wire.agentGone();
      bare.clock.advance(0);
      expect(bare.remembered).toEqual({ sessions: 0, links: 0, leaving: 0, timers: 0 });
      expect(connection.toAgent.filter(({ method }) => method === "session/prompt")).toHaveLength(1);
    }
  });
});
