import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

interface Asking {
  readonly method: string;
  readonly params: object;
  /** What a client may answer. */
  readonly answer: object;
  /** What the agent is told in place of the client. */
  readonly refusal: object;
}

const PERMISSION: Asking = {
  method: "session/request_permission",
  params: { sessionId: "s", toolCall: { toolCallId: "t" }, options: [] },
  answer: { outcome: { outcome: "selected", optionId: "yes" } },
  refusal: { outcome: { outcome: "cancelled" } },
};
const ELICITATION: Asking = {
  method: "elicitation/create",
  params: { sessionId: "s", mode: "form", message: "?", requestedSchema: {} },
  answer: { action: "accept", content: {} },
  refusal: { action: "cancel" },
};

interface World {
  readonly rig: Rig;
  readonly driver: HandDriver;
}

/** A turn in which the agent has asked `p`, and then steer `2` came. */
const held = async ({ method, params }: Asking): Promise<World> => {
  const driver = new HandDriver();
  const rig = await Rig.running({ driver, inbox: true });
  rig.agent.request("p", method, params);
  await quiet();
  rig.steer(2, "left");
  await quiet();
  return { rig, driver };
};

describe.each([
  ["permission", PERMISSION],
  ["elicitation", ELICITATION],
])("G3 order: while a %s of the turn is open", (_, asking) => {
  it("steers are accepted and held; they neither answer nor cancel it", async () => {
    const { rig, driver } = await held(asking);
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
    expect(driver.texts).toEqual([]);
    expect(rig.steerable.take("s")).toEqual([]);
    expect(rig.agent.answers("p")).toEqual([]);
    expect(rig.client.of(asking.method)).toMatchObject([{ id: "p", params: asking.params }]);
    expect(rig.client.of("$/cancel_request")).toEqual([]);
  });

  it("the client's answer reaches the agent and ends the hold", async () => {
    const { rig, driver } = await held(asking);
    rig.client.send({ id: "p", result: asking.answer });
    await quiet();
    expect(rig.agent.answers("p")).toMatchObject([{ result: asking.answer }]);
    expect(driver.texts).toEqual(["left"]);
  });

  it("an error of the client ends it too", async () => {
    const { rig, driver } = await held(asking);
    rig.client.send({ id: "p", error: { code: -32603, message: "no screen" } });
    await quiet();
    expect(rig.agent.answers("p")).toMatchObject([{ error: { message: "no screen" } }]);
    expect(driver.texts).toEqual(["left"]);
  });

  it("the agent's own $/cancel_request ends it, once, and the client's late answer still passes", async () => {
    const { rig, driver } = await held(asking);
    rig.agent.notify("$/cancel_request", { requestId: "p" });
    await quiet();
    expect(rig.client.of("$/cancel_request")).toMatchObject([{ params: { requestId: "p" } }]);
    expect(driver.texts).toEqual(["left"]);
    rig.agent.request("q", asking.method, asking.params);
    await quiet();
    rig.agent.notify("$/cancel_request", { requestId: "p" });
    rig.client.send({ id: "p", error: { code: -32800, message: "cancelled" } });
    driver.verdict(0, "delivered");
    rig.steer(3, "right");
    await quiet();
    expect(rig.agent.answers("p")).toHaveLength(1);
    expect(driver.texts).toEqual(["left"]);
  });

  it("the run ends with it open: the client is told, its late answer is swallowed, the steer is continued", async () => {
    const { rig } = await held(asking);
    rig.endRun();
    await quiet();
    expect(rig.client.of("$/cancel_request")).toMatchObject([{ params: { requestId: "p" } }]);
    rig.client.send({ id: "p", result: asking.answer });
    await quiet();
    expect(rig.agent.answers("p")).toMatchObject([{ result: asking.refusal }]);
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  it("the turn is cancelled with it open: the agent is answered at once, the client told, its late answer swallowed", async () => {
    const { rig } = await held(asking);
    rig.cancel();
    await quiet();
    expect(rig.agent.answers("p")).toMatchObject([{ result: asking.refusal }]);
    expect(rig.client.of("$/cancel_request")).toMatchObject([{ params: { requestId: "p" } }]);
    rig.client.send({ id: "p", result: asking.answer });
    rig.endRun();
    await quiet();
    expect(rig.agent.answers("p")).toHaveLength(1);
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "cancelled" }]);
  });

  it("a later one of the next run holds again, and the id may be used again", async () => {
    const { rig, driver } = await held(asking);
    rig.endRun();
    await quiet();
    rig.client.send({ id: "p", result: asking.answer });
    await rig.pass();
    rig.agent.request("p", asking.method, asking.params);
    await quiet();
    rig.steer(3, "right");
    await quiet();
    expect(driver.texts).toEqual([]);
    rig.client.send({ id: "p", result: asking.answer });
    await quiet();
    expect(driver.texts).toEqual(["right"]);
    expect(rig.agent.answers("p")).toHaveLength(2);
  });

  it("a steer can be revoked while it is held", async () => {
    const { rig, driver } = await held(asking);
    rig.revoke(3, rig.client.meta(2)["messageId"]);
    await quiet();
    expect(rig.client.result(3)).toEqual({});
    rig.client.send({ id: "p", result: asking.answer });
    await rig.finish();
    expect(driver.texts).toEqual([]);
    expect(rig.runs).toHaveLength(1);
  });

  it("in an emulated agent the run is interrupted only when the hold has ended", async () => {
    const rig = await Rig.running({ emulate: "interrupt" });
    rig.agent.request("p", asking.method, asking.params);
    await quiet();
    rig.steer(2, "left");
    await rig.pass(1_000);
    expect(rig.agent.of("session/cancel")).toEqual([]);
    rig.client.send({ id: "p", result: asking.answer });
    await rig.pass();
    expect(rig.agent.of("session/cancel")).toHaveLength(1);
  });
});

describe("G3 order: holds add up and belong to their turn", () => {
  it("of two open requests the last answer ends the hold", async () => {
    const { rig, driver } = await held(PERMISSION);
    rig.agent.request("q", ELICITATION.method, ELICITATION.params);
    await quiet();
    rig.client.send({ id: "p", result: PERMISSION.answer });
    await quiet();
    expect(driver.texts).toEqual([]);
    rig.client.send({ id: "q", result: ELICITATION.answer });
    await quiet();
    expect(driver.texts).toEqual(["left"]);
  });

  it('ids go by type: the answer to "7" does not end the hold of 7', async () => {
    const { rig, driver } = await held(PERMISSION);
    rig.client.send({ id: "p", result: PERMISSION.answer });
    await quiet();
    driver.verdict(0, "delivered");
    rig.agent.request(7, PERMISSION.method, PERMISSION.params);
    await quiet();
    rig.steer(3, "right");
    rig.client.send({ id: "7", result: {} });
    await quiet();
    expect(driver.texts).toEqual(["left"]);
    rig.client.send({ id: 7, result: PERMISSION.answer });
    await quiet();
    expect(driver.texts).toEqual(["left", "right"]);
  });

  it("a steer that the driver has when the permission opens is not taken back", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.agent.request("p", PERMISSION.method, PERMISSION.params);
    await quiet();
    expect(driver.call(0).signal.aborted).toBe(false);
    driver.verdict(0, "delivered");
    await quiet();
    expect(driver.texts).toEqual(["left"]);
    rig.client.send({ id: "p", result: PERMISSION.answer });
    await quiet();
    expect(driver.texts).toEqual(["left", "right"]);
  });

  it("a permission of another session holds nothing here", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    await rig.session("other");
    rig.prompt(5, "go", "other");
    await quiet();
    rig.agent.request("p", PERMISSION.method, { ...PERMISSION.params, sessionId: "other" });
    await quiet();
    rig.steer(2, "left");
    rig.steer(3, "right", undefined, "other");
    await quiet();
    expect(driver.texts).toEqual(["left"]);
  });

  it("a cancel answers what is open in its own session, and only once", async () => {
    const rig = await Rig.running();
    await rig.session("other");
    rig.prompt(5, "go", "other");
    await quiet();
    rig.agent.request("o", PERMISSION.method, { ...PERMISSION.params, sessionId: "other" });
    for (const [id, prompt] of [
      ["p", 6],
      ["q", 7],
    ] as const) {
      rig.agent.request(id, PERMISSION.method, PERMISSION.params);
      await quiet();
      rig.cancel();
      await quiet();
      rig.agent.send({ id: id === "p" ? 1 : 6, result: { stopReason: "cancelled" } });
      rig.prompt(prompt, "again");
      await quiet();
    }
    expect(["o", "p", "q"].map((id) => rig.agent.answers(id).length)).toEqual([0, 1, 1]);
    expect(rig.client.of("$/cancel_request").map(({ params }) => params?.["requestId"])).toEqual(["p", "q"]);
  });

  it("other requests of the agent hold nothing", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.agent.request("r", "fs/read_text_file", { sessionId: "s", path: "/a" });
    rig.agent.request("w", "fs/write_text_file", { sessionId: "s", path: "/a", content: "" });
    rig.agent.request("x", "terminal/create", { sessionId: "s", command: "a" });
    await quiet();
    rig.steer(2, "left");
    await quiet();
    expect(driver.texts).toEqual(["left"]);
    for (const id of ["r", "w", "x"]) rig.client.send({ id, result: { own: id } });
    await quiet();
    for (const id of ["r", "w", "x"]) expect(rig.agent.answers(id)).toMatchObject([{ result: { own: id } }]);
  });

  it("a permission outside any turn passes both ways and holds nothing of the turn that comes", async () => {
    const driver = new HandDriver();
    const rig = await Rig.start({ driver });
    rig.agent.request("p", PERMISSION.method, PERMISSION.params);
    await quiet();
    rig.prompt(1, "go");
    rig.steer(2, "left");
    await quiet();
    expect(driver.texts).toEqual(["left"]);
    rig.client.send({ id: "p", result: PERMISSION.answer });
    await quiet();
    expect(rig.agent.answers("p")).toMatchObject([{ result: PERMISSION.answer }]);
  });

  it("an elicitation that names the request instead of the session belongs to its run", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.agent.request("p", ELICITATION.method, { ...ELICITATION.params, sessionId: undefined, requestId: 1 });
    await quiet();
    rig.steer(2, "left");
    await quiet();
    expect(driver.texts).toEqual([]);
    rig.client.send({ id: "p", result: ELICITATION.answer });
    await quiet();
    expect(driver.texts).toEqual(["left"]);
  });

  it("the content of a held steer is untouched when it is handed over", async () => {
    const { rig, driver } = await held(PERMISSION);
    rig.client.send({ id: "p", result: PERMISSION.answer });
    await quiet();
    expect(driver.call(0).prompt).toEqual([textBlock("left")]);
  });
});
