import { describe, expect, it } from "vitest";
import { weightOf } from "../src/parse.js";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

const STEER = "_session/steering";
const steerParams = (text: string): object => ({ sessionId: "s", prompt: [textBlock(text)] });

describe("G4 one answer: what a steer is answered", () => {
  it("the result says which message in which turn, and repeats the client's own id", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.steer(3, "right");
    await quiet();
    const { turnId } = rig.client.meta(2);
    expect(rig.client.result(2)).toEqual({
      outcome: "injected",
      _meta: { steering: { messageId: expect.any(String), turnId: expect.any(String), clientMessageId: "mine" } },
    });
    expect(rig.client.result(3)).toEqual({
      outcome: "injected",
      _meta: { steering: { messageId: expect.any(String), turnId } },
    });
    expect(rig.client.meta(2)["messageId"]).not.toBe(rig.client.meta(3)["messageId"]);
    expect(rig.client.receipts[0]).toMatchObject({ state: "turnStarted", turnId });
  });

  it('ids are told apart by type and value: 1 is not "1"', async () => {
    const rig = await Rig.running();
    rig.steer("1", "left");
    await quiet();
    expect(rig.client.result("1")).toMatchObject({ outcome: "injected" });
    expect(rig.client.answers(1)).toEqual([]);
  });

  it("as a notification it has no effect, and nobody else gets it", async () => {
    const rig = await Rig.running();
    const { length } = rig.client.received;
    rig.client.notify(STEER, steerParams("left"));
    rig.client.notify("_session/steering/revoke", { sessionId: "s", messageId: "x" });
    await quiet();
    expect(rig.client.received).toHaveLength(length);
    expect(rig.agent.received.map(({ method }) => method)).toEqual(["initialize", "session/new", "session/prompt"]);
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it("an unknown session is refused, also for a revoke", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left", undefined, "nowhere");
    rig.revoke(3, "x", "nowhere");
    await quiet();
    expect([rig.client.error(2)?.code, rig.client.error(3)?.code]).toEqual([-32002, -32002]);
  });

  it("before initialize has succeeded it goes to the agent, and so does the agent's answer", async () => {
    const rig = new Rig();
    const { client, agent } = rig.connect();
    client.request(1, STEER, steerParams("left"));
    await quiet();
    agent.send({ id: 1, error: { code: -32600, message: "Not initialized" } });
    client.request(2, "initialize", { protocolVersion: 1 });
    await quiet();
    agent.send({ id: 2, error: { code: -32603, message: "No" } });
    client.request(3, STEER, steerParams("left"));
    await quiet();
    expect(agent.of(STEER).map(({ id }) => id)).toEqual([1, 3]);
    expect(client.error(1)?.message).toBe("Not initialized");
    expect(client.error(2)?.message).toBe("No");
  });

  it("nothing precedes the initialize response", async () => {
    const rig = await Rig.running();
    expect(rig.client.received[0]).toMatchObject({ id: "init", result: { protocolVersion: 1 } });
  });
});

describe("G1 no lost steer: too much pending is refused, not dropped", () => {
  it("by number: what was handed over makes room", async () => {
    const rig = await Rig.running({ inbox: true, maxPending: { steers: 2, bytes: 1_000 } });
    for (const id of [2, 3, 4]) rig.steer(id, "left");
    await quiet();
    expect(rig.client.error(4)).toMatchObject({ code: -32600, data: { reason: "tooManyPending" } });
    expect(rig.steerable.take("s")).toHaveLength(2);
    rig.steer(5, "left");
    await quiet();
    expect(rig.client.result(5)).toMatchObject({ outcome: "injected" });
    expect(rig.steerable.take("s")).toHaveLength(1);
  });

  it("by bytes: exactly the limit fits", async () => {
    const weight = weightOf([textBlock("12345")]);
    const rig = await Rig.running({ maxPending: { steers: 10, bytes: 2 * weight } });
    rig.steer(2, "12345");
    rig.steer(3, "12345");
    rig.steer(4, "");
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
    expect(rig.client.result(3)).toMatchObject({ outcome: "injected" });
    expect(rig.client.error(4)).toMatchObject({ code: -32600, data: { reason: "tooManyPending" } });
  });

  it("the defaults are 4,096 steers and 32 MiB", async () => {
    const rig = await Rig.running();
    for (let id = 0; id < 4_097; id += 1) rig.steer(`n${id}`, "x");
    rig.steer("big", "x".repeat(1_024));
    for (let round = 0; rig.client.answers("big").length === 0 && round < 1_000; round += 1) await quiet();
    expect(rig.client.result("n4095")).toMatchObject({ outcome: "injected" });
    expect(rig.client.error("n4096")).toMatchObject({ data: { reason: "tooManyPending" } });

    const other = await Rig.running();
    other.steer("fits", "x".repeat(32 * 1_048_576 - 1_024));
    other.steer("over", "x".repeat(2_048));
    await quiet();
    expect(other.client.result("fits")).toMatchObject({ outcome: "injected" });
    expect(other.client.error("over")).toMatchObject({ data: { reason: "tooManyPending" } });
  });

  it("while idle the limit means nothing: promptRequired consumes nothing", async () => {
    const rig = await Rig.start({ maxPending: { steers: 0, bytes: 0 } });
    rig.steer(2, "left");
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "promptRequired" });
  });
});

describe("G2 no duplicate: a repeated clientMessageId", () => {
  it("gets the first answer and has no other effect", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.steer(3, "left", { clientMessageId: "mine" });
    rig.steer(4, "other text", { clientMessageId: "mine" });
    await quiet();
    expect(rig.client.result(3)).toEqual(rig.client.result(2));
    expect(rig.client.result(4)).toEqual(rig.client.result(2));
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  it("also after it was delivered, and also once too much is pending", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver, maxPending: { steers: 1, bytes: 1_000 } });
    rig.steer(2, "left", { clientMessageId: "mine" });
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    rig.steer(3, "left", { clientMessageId: "mine" });
    await quiet();
    expect(rig.client.result(3)).toEqual(rig.client.result(2));
    expect(driver.texts).toEqual(["left"]);
  });

  it("is a new message in the next turn and from another connection", async () => {
    const rig = await Rig.running();
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    rig.steer(2, "left", { clientMessageId: "mine" });
    rig.steer(2, "right", { clientMessageId: "mine" }, "s", second.client);
    await quiet();
    expect(second.client.meta(2)["messageId"]).not.toBe(rig.client.meta(2)["messageId"]);
    await rig.finish();
    rig.prompt(5, "again");
    await quiet();
    rig.steer(6, "left", { clientMessageId: "mine" });
    await quiet();
    expect(rig.client.result(6)).toMatchObject({ outcome: "injected" });
    expect(rig.client.meta(6)["messageId"]).not.toBe(rig.client.meta(2)["messageId"]);
  });
});

describe("G7 isolation: expectedTurnId", () => {
  it("binds to that turn and to no other", async () => {
    const rig = await Rig.running();
    const turnId = rig.client.receipts[0]?.["turnId"];
    rig.steer(2, "left", { expectedTurnId: turnId });
    rig.steer(3, "right", { expectedTurnId: "another", clientMessageId: "mine" });
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
    expect(rig.client.result(3)).toEqual({
      outcome: "promptRequired",
      reason: "noRunningTurn",
      _meta: { steering: { messageId: expect.any(String), clientMessageId: "mine", detail: "turnMismatch" } },
    });
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  it("a turn that has ended is not the running turn, whatever the request wants while idle", async () => {
    const rig = await Rig.running({ idleBehavior: "startNewTurn" });
    const expectedTurnId = rig.client.receipts[0]?.["turnId"];
    await rig.finish();
    rig.steer(2, "left", { expectedTurnId, idleBehavior: "startNewTurn" });
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "promptRequired", reason: "noRunningTurn" });
    expect(rig.client.meta(2)["detail"]).toBe("idle");
    expect(rig.runs).toHaveLength(1);
  });

  it("under the reject policy a mismatch is an error", async () => {
    const rig = await Rig.running({ idleBehavior: "reject" });
    rig.steer(2, "left", { expectedTurnId: "another" });
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32600, data: { reason: "noRunningTurn" } });
  });
});

describe("G3 order: a steer's text is passed on verbatim", () => {
  it.each(["/compact now", "/steer left", "/queue left", "  /x ", "[notification/info] hello"])("%j", async (text) => {
    const rig = await Rig.running();
    rig.steer(2, text);
    await quiet();
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], [text]]);
  });

  it("blocks keep their annotations and metadata", async () => {
    const rig = await Rig.running();
    const block = { type: "text", text: "left", annotations: { priority: 1 }, _meta: { mine: true } };
    rig.client.request(2, STEER, { sessionId: "s", prompt: [block] });
    await quiet();
    await rig.finish();
    expect(rig.runs[1]?.params?.["prompt"]).toEqual([block]);
  });
});
