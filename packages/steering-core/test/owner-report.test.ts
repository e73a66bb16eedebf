import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
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

describe("echo: a delivered steer is shown once", () => {
  const echo = { echo: true, receipts: true };
  const shown = (rig: Rig): Record<string, unknown>[] => rig.client.updates("user_message_chunk");
  const chunkOf = (rig: Rig, id: number, text: string): object => ({
    sessionUpdate: "user_message_chunk",
    content: { type: "text", text },
    messageId: rig.client.meta(id)["messageId"],
  });

  it("at the point of delivery, with its messageId, block by block", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver }, echo);
    const blocks = [
      { type: "text", text: "left" },
      { type: "text", text: "now" },
    ];
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt: blocks });
    rig.say("before");
    await quiet();
    expect(shown(rig)).toEqual([]);
    driver.verdict(0, "delivered");
    await quiet();
    rig.say("after");
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left"), chunkOf(rig, 2, "now")]);
    expect(rig.client.updateKinds.filter((kind) => kind !== "available_commands_update")).toEqual([
      "agent_message_chunk",
      "user_message_chunk",
      "user_message_chunk",
      "agent_message_chunk",
    ]);
  });

  it.each([[{}], [{ receipts: true }], [{ echo: false }], [{ echo: 1 }]])(
    "a client that declared %j is shown nothing",
    async (wishes) => {
      const rig = await Rig.running({}, wishes);
      rig.steer(2, "left");
      await quiet();
      await rig.finish();
      expect(shown(rig)).toEqual([]);
    },
  );

  it("what was not delivered is not shown", async () => {
    const rig = await Rig.running({}, echo);
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    expect(shown(rig)).toEqual([]);
  });

  const agentShows = (rig: Rig, text: string): void =>
    rig.update("user_message_chunk", { content: { type: "text", text }, messageId: "own" });

  it("an agent that shows a continuation by itself: its echo, with our messageId, not both", async () => {
    const rig = await Rig.running({}, echo);
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    agentShows(rig, "left");
    rig.say("yes");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left")]);
  });

  it("an agent that shows a steer after its driver said delivered: not both", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver }, echo);
    rig.steer(2, "left");
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    agentShows(rig, "left");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left")]);
  });

  it("an agent that shows a steer before its driver's verdict: not both", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver }, echo);
    rig.steer(2, "left");
    await quiet();
    agentShows(rig, "left");
    driver.verdict(0, "delivered");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left")]);
  });

  it("the same text steered twice is shown twice, each under its own id", async () => {
    const rig = await Rig.running({}, echo);
    rig.steer(2, "left");
    rig.steer(3, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    agentShows(rig, "left");
    agentShows(rig, "left");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left"), chunkOf(rig, 3, "left")]);
  });

  it("an agent that shows only the second of two by itself: each is shown once", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver }, echo);
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    agentShows(rig, "right");
    await quiet();
    driver.verdict(1, "delivered");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left"), chunkOf(rig, 3, "right")]);
  });

  it("an agent that writes the same content down in another way is recognised", async () => {
    const driver = new HandDriver(["resource"]);
    const rig = await Rig.running({ driver }, echo);
    const resource = { uri: "file:///a", text: "a", mimeType: null };
    const prompt = [{ type: "resource", resource, annotations: null }];
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt });
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    rig.update("user_message_chunk", { content: { resource: { text: "a", uri: "file:///a" }, type: "resource" } });
    rig.update("user_message_chunk", { content: { resource: { text: "b", uri: "file:///a" }, type: "resource" } });
    await quiet();
    expect(shown(rig).map(({ messageId }) => messageId)).toEqual([rig.client.meta(2)["messageId"], undefined]);
  });

  it("an agent that shows two steers of one continuation: in order", async () => {
    const rig = await Rig.running({}, echo);
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.endRun();
    await rig.pass();
    agentShows(rig, "left");
    agentShows(rig, "right");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left"), chunkOf(rig, 3, "right")]);
  });

  it("a user message of the agent that is no steer is left as it is", async () => {
    const rig = await Rig.running({}, echo);
    rig.steer(2, "left");
    agentShows(rig, "something else");
    await quiet();
    expect(shown(rig)).toEqual([
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "something else" }, messageId: "own" },
    ]);
  });

  it("a client that did not ask still gets the agent's own echo, once", async () => {
    const rig = await Rig.running({}, {});
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await rig.pass();
    agentShows(rig, "left");
    await quiet();
    await rig.finish();
    expect(shown(rig)).toEqual([chunkOf(rig, 2, "left")]);
  });
});
