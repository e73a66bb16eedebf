import { describe, expect, it } from "vitest";
import { Bare } from "./support/bare.js";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

/** The agent's side of the first connection ends. */
const lose = async (rig: Rig): Promise<void> => {
  await quiet();
  rig.closers[0]?.();
  await rig.closed[0];
  await rig.pass(60_000);
};

describe("G8 containment: an agent that goes owes nobody an answer", () => {
  it("the running prompt, the queued ones and every other request are answered with an error", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    rig.prompt(3, "three");
    rig.client.request(4, "session/set_mode", { sessionId: "s" });
    rig.client.request(5, "session/load", { sessionId: "s" });
    rig.steer(6, "left");
    await lose(rig);
    for (const id of [1, 2, 3, 4, 5]) {
      expect(rig.client.error(id)?.code).toBe(-32603);
      expect(rig.client.error(id)?.message).toMatch(/agent/);
    }
    expect(rig.client.receipts.filter(({ messageId }) => messageId)).toMatchObject([
      { state: "undelivered", reason: "agentFailed" },
    ]);
    expect(rig.clock.armed).toBe(0);
  });

  it("between two runs: the owner is answered and the steer handed back", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await lose(rig);
    expect(rig.client.answers(1)).toHaveLength(1);
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", prompt: [textBlock("left")] });
    expect(rig.runs).toHaveLength(1);
  });

  it.each([true, false])("with a verdict missing (run answered: %s): the owner is answered, once", async (answered) => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    if (answered) rig.endRun();
    await lose(rig);
    driver.verdict(0, "tooLate");
    await rig.pass(60_000);
    expect(rig.client.answers(1)).toHaveLength(1);
    expect(rig.client.receipts.filter(({ messageId }) => messageId)).toHaveLength(1);
    expect(rig.clock.armed).toBe(0);
  });

  it("between two turns: the queued prompt is answered", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    await quiet();
    rig.endRun();
    await lose(rig);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.client.error(2)?.code).toBe(-32603);
  });

  it("while cancelling the owner gets cancelled; behind the fence a waiting prompt is answered", async () => {
    const rig = await Rig.running();
    rig.cancel();
    await quiet();
    await lose(rig);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);

    const fenced = await Rig.running();
    fenced.cancel();
    await fenced.pass(10_000);
    fenced.prompt(2, "two");
    await lose(fenced);
    expect(fenced.client.error(2)?.code).toBe(-32603);
  });

  it("another connection on the session goes on: its queued prompt runs at its own agent", async () => {
    const rig = await Rig.running();
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    rig.prompt(2, "of the first");
    rig.prompt(3, "of the second", "s", second.client);
    await lose(rig);
    expect(rig.client.error(2)?.code).toBe(-32603);
    expect(second.agent.of("session/prompt")).toMatchObject([{ id: 3 }]);
    second.agent.send({ id: 3, result: { stopReason: "end_turn" } });
    await quiet();
    expect(second.client.stops(3)).toEqual(["end_turn"]);
    rig.steer(4, "left", undefined, "s", second.client);
    await quiet();
    expect(second.client.result(4)).toMatchObject({ outcome: "promptRequired" });
  });

  it("a prompt that joined the turn of another connection is answered; that turn goes on, with the others that joined", async () => {
    const rig = await Rig.start({ whenBusy: "steer" });
    const [second, third] = [await rig.open(), await rig.open()];
    for (const ends of [second, third]) await rig.session("s", ends, "session/load");
    rig.prompt(1, "go", "s", second.client);
    await quiet();
    rig.prompt(2, "of the first");
    rig.prompt(3, "of the third", "s", third.client);
    await lose(rig);
    expect(rig.client.error(2)?.code).toBe(-32603);
    expect([second.client.answers(1), third.client.answers(3)]).toEqual([[], []]);
    const end = async (): Promise<void> => {
      second.agent.send({
        id: second.agent.of("session/prompt").at(-1)?.id ?? null,
        result: { stopReason: "end_turn" },
      });
      await rig.pass();
    };
    await end();
    await end();
    expect([second.client.stops(1), third.client.stops(3)]).toEqual([["end_turn"], ["end_turn"]]);
    expect(rig.client.answers(2)).toHaveLength(1);
  });

  it("what a client had on its way when the agent went is answered as well", () => {
    const bare = new Bare();
    const connection = bare.connect();
    connection.ask(1, "session/new", {});
    connection.reply(1, { sessionId: "s" });
    connection.wire.agentGone();
    connection.ask(2, "session/prompt", { sessionId: "s", prompt: [textBlock("go")] });
    connection.ask(3, "session/load", { sessionId: "s" });
    connection.ask(4, "_session/steering", { sessionId: "s", prompt: [textBlock("left")] });
    const { length } = connection.toClient;
    connection.wire.fromClient({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } });
    connection.wire.fromClient({ jsonrpc: "2.0", id: 99, result: {} });
    expect(connection.toClient).toHaveLength(length);
    connection.wire.clientGone();
    bare.clock.advance(0);
    const errors = [2, 3, 4].map((id) =>
      connection.toClient.filter((message) => message.id === id).map(({ error }) => error?.code),
    );
    expect(errors).toEqual([[-32603], [-32603], [expect.any(Number)]]);
    expect(bare.remembered).toEqual({ sessions: 0, links: 0, leaving: 0, timers: 0 });
  });

  it("a load that it took along is no replay any more", async () => {
    const rig = await Rig.start({ inbox: true });
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    rig.client.request(5, "session/load", { sessionId: "s" });
    await lose(rig);
    rig.prompt(6, "go", "s", second.client);
    rig.steer(7, "left", undefined, "s", second.client);
    await quiet();
    rig.steerable.take("s");
    second.agent.notify("session/update", {
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: textBlock("yes") },
    });
    await quiet();
    expect(second.client.receipts.at(-1)).toMatchObject({ state: "delivered" });
  });

  it("nothing of it is remembered", () => {
    const bare = new Bare();
    const connection = bare.connect();
    for (let id = 1; id <= 20; id += 1) {
      connection.ask(100 * id, "session/new", {});
      connection.reply(100 * id, { sessionId: `s${id}` });
      connection.ask(100 * id + 1, "session/prompt", { sessionId: `s${id}`, prompt: [textBlock("go")] });
      connection.ask(100 * id + 2, "_session/steering", { sessionId: `s${id}`, prompt: [textBlock("left")] });
      if (id % 2) connection.reply(100 * id + 1, { stopReason: "end_turn" });
    }
    connection.wire.agentGone();
    connection.wire.clientGone();
    bare.clock.advance(0);
    expect(bare.remembered).toEqual({ sessions: 0, links: 0, leaving: 0, timers: 0 });
  });
});

describe("G8 containment: rubbish costs nothing", () => {
  const RUBBISH = [
    null,
    5,
    "x",
    [],
    [{ jsonrpc: "2.0", id: 1, method: "session/prompt" }],
    {},
    { id: 1 },
    { method: 5 },
  ];

  it("what is no message is passed on as it is, both ways", async () => {
    const rig = await Rig.running();
    const [client, agent] = [rig.client.received.length, rig.agent.received.length];
    for (const value of [5, "x", [], [1]]) {
      rig.client.sendAny(value);
      rig.agent.sendAny(value);
    }
    await quiet();
    expect(rig.client.received.slice(client)).toEqual([5, "x", [], [1]]);
    expect(rig.agent.received.slice(agent)).toEqual([5, "x", [], [1]]);
  });

  it("neither end can upset the layer with it", async () => {
    const rig = await Rig.running();
    const { wire } = new Bare().connect();
    for (const value of RUBBISH) {
      expect(() => wire.fromClient(value as never)).not.toThrow();
      expect(() => wire.fromAgent(value as never)).not.toThrow();
    }
    for (const params of [
      undefined,
      null,
      5,
      "x",
      [],
      {},
      { sessionId: 5 },
      { sessionId: "s" },
      { sessionId: "s", update: 5 },
    ])
      for (const method of [
        "session/update",
        "session/request_permission",
        "$/cancel_request",
        "session/prompt",
        "session/load",
        "session/close",
        "session/cancel",
        "__proto__",
        "toString",
      ]) {
        rig.agent.notify(method, params);
        rig.client.notify(method, params);
        rig.agent.request(`${method} ${JSON.stringify(params)}`, method, params);
      }
    await quiet();
    expect(rig.client.answers(1)).toEqual([]);
    expect(rig.client.of("__proto__")).toHaveLength(18);
    expect(rig.agent.of("toString")).toHaveLength(9);
  });

  it("a prompt whose params are not a prompt is the agent's to refuse", async () => {
    const rig = await Rig.start();
    for (const [id, params] of [
      null,
      {},
      { sessionId: "s" },
      { sessionId: "s", prompt: [{ type: "video" }] },
      { prompt: [textBlock("x")] },
    ].entries())
      rig.client.request(id, "session/prompt", params);
    await quiet();
    expect(rig.runs.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4]);
    rig.agent.send({ id: 3, error: { code: -32602, message: "what?" } });
    await quiet();
    expect(rig.client.error(3)?.message).toBe("what?");
    expect(rig.client.receipts).toEqual([]);
  });
});
