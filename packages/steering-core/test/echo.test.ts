import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

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

  it("an echo that the agent left half done means nothing in another session", async () => {
    const rig = await Rig.running({}, echo);
    const prompt = [textBlock("left"), textBlock("now")];
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt });
    await quiet();
    rig.endRun();
    await rig.pass();
    agentShows(rig, "left");
    await rig.session("other");
    rig.prompt(5, "go", "other");
    await quiet();
    const own = { content: textBlock("now"), messageId: "own" };
    rig.update("user_message_chunk", own, "other");
    await quiet();
    expect(shown(rig).at(-1)).toEqual({ sessionUpdate: "user_message_chunk", ...own });
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
