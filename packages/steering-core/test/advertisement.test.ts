import { describe, expect, it } from "vitest";
import type { SteeringDriver, SteeringOptions } from "../src/index.js";
import { driverSaying, HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

const advertised = async (options: SteeringOptions, result?: object): Promise<Record<string, unknown>> => {
  const rig = new Rig(options);
  const { client } = await rig.open({}, result);
  return client.meta("init");
};

describe("advertisement: what initialize says", () => {
  it("says all of the contract at the top level of the result", async () => {
    expect(await advertised({ inbox: true })).toEqual({
      supported: true,
      version: 1,
      idlePromptRequired: true,
      idleBehavior: "promptRequired",
      delivery: "confirmed",
      emulated: false,
      receipts: true,
      revoke: true,
      content: expect.arrayContaining(["text", "resource_link"]),
    });
  });

  it("is merged into the agent's own metadata, and changes nothing else", async () => {
    const rig = new Rig();
    const own = {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, _meta: { a: 1 } },
      authMethods: [],
      more: [1],
      _meta: { other: { x: 1 } },
    };
    const { client } = await rig.open({}, own);
    const { _meta, ...rest } = client.result("init");
    const { steering, ...others } = _meta as Record<string, unknown>;
    expect(rest).toEqual({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, _meta: { a: 1 } },
      authMethods: [],
      more: [1],
    });
    expect(others).toEqual({ other: { x: 1 } });
    expect(steering).toMatchObject({ supported: true });
  });

  it.each([
    ["null", null],
    ["absent", undefined],
    ["rubbish", 5],
  ])("takes an agent whose _meta is %s", async (_, _meta) => {
    expect(await advertised({}, { protocolVersion: 1, _meta })).toMatchObject({ supported: true, version: 1 });
  });

  it.each(["promptRequired", "startNewTurn", "reject"] as const)("names the idle policy %s", async (idleBehavior) => {
    expect(await advertised({ idleBehavior })).toMatchObject({ idleBehavior });
  });

  const EMULATION: [string, SteeringOptions, boolean][] = [
    ["no road but the continuation", {}, true],
    ["interruption", { emulate: "interrupt" }, true],
    ["an inbox", { inbox: true }, false],
    ["a driver", { driver: driverSaying("delivered") }, false],
  ];
  it.each(EMULATION)("with %s", async (_, options, emulated) => {
    expect(await advertised(options)).toMatchObject({ emulated });
  });

  it.each(["confirmed", "assumed", undefined] as const)("a driver whose delivery is %s", async (delivery) => {
    const inject = new HandDriver().inject;
    const supports = { content: ["text"], boundary: "nextStep", ...(delivery ? { delivery } : {}) } as const;
    const driver: SteeringDriver = { spec: "steering-driver-1", supports, inject };
    expect(await advertised({ driver })).toMatchObject({ delivery: delivery ?? "confirmed" });
  });

  const CONTENT: [string, object, HandDriver | undefined, string[]][] = [
    ["neither says anything", {}, undefined, ["resource_link", "text"]],
    [
      "the agent takes everything",
      { image: true, audio: true, embeddedContext: true },
      undefined,
      ["audio", "image", "resource", "resource_link", "text"],
    ],
    ["the agent says no", { image: false, audio: null, embeddedContext: false }, undefined, ["resource_link", "text"]],
    [
      "the driver takes more",
      { image: true },
      new HandDriver(["text", "audio", "image"]),
      ["audio", "image", "resource_link", "text"],
    ],
  ];
  it.each(CONTENT)("content where %s", async (_, promptCapabilities, driver, content) => {
    const said = await advertised(driver ? { driver } : {}, {
      protocolVersion: 1,
      agentCapabilities: { promptCapabilities },
    });
    expect([...(said["content"] as string[])].sort()).toEqual(content);
  });

  it.each([
    ["an error", { error: { code: -32603, message: "no" } }],
    ["no object", { result: 5 }],
  ])("passes on an answer that is %s", async (_, answer) => {
    const rig = new Rig();
    const { client, agent } = rig.connect();
    client.request(1, "initialize", {});
    await quiet();
    agent.send({ id: 1, ...answer });
    await quiet();
    expect(client.answers(1)).toEqual([{ jsonrpc: "2.0", id: 1, ...answer }]);
  });
});

describe("advertisement: an agent with steering of its own", () => {
  const own = { protocolVersion: 1, _meta: { steering: { supported: true, version: 7 } } };

  it("is passed through, both ways, on that connection", async () => {
    const rig = await Rig.start({}, {}, own);
    expect(rig.client.meta("init")).toEqual({ supported: true, version: 7 });
    rig.prompt(1, "/queue x");
    rig.steer(2, "left");
    rig.revoke(3, "x");
    rig.client.notify("session/cancel", { sessionId: "s" });
    await quiet();
    expect(rig.agent.received.slice(2).map(({ method }) => method)).toEqual([
      "session/prompt",
      "_session/steering",
      "_session/steering/revoke",
      "session/cancel",
    ]);
    rig.agent.send({ id: 2, result: { outcome: "injected", own: true } });
    rig.agent.notify("_session/steering/update", { own: true });
    rig.agent.send({ id: 1, result: { stopReason: "end_turn" } });
    await rig.pass(60_000);
    expect(rig.client.result(2)).toEqual({ outcome: "injected", own: true });
    expect(rig.client.receipts).toEqual([{ own: true }]);
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn" });
    expect(rig.client.updates("available_commands_update")).toEqual([]);
    expect(rig.agent.received).toHaveLength(6);
  });

  it("is covered where a driver was given", async () => {
    const rig = await Rig.running({ driver: driverSaying("delivered") }, {}, own);
    expect(rig.client.meta("init")).toMatchObject({ supported: true, version: 1 });
    rig.steer(2, "left");
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
    expect(rig.agent.of("_session/steering")).toEqual([]);
  });
});

describe("advertisement: a steerable around a steerable", () => {
  const start = async (inner: SteeringOptions, outer: SteeringOptions): Promise<Rig> => {
    const rig = new Rig(inner, outer);
    await rig.open();
    await rig.session();
    rig.prompt(1, "go");
    await quiet();
    return rig;
  };

  it("the outer layer steps aside: one answer, one receipt, one continuation", async () => {
    const rig = await start({ idleBehavior: "reject" }, { idleBehavior: "startNewTurn" });
    expect(rig.client.meta("init")).toMatchObject({ idleBehavior: "reject" });
    rig.steer(2, "left");
    await quiet();
    expect(rig.client.answers(2)).toHaveLength(1);
    rig.endRun();
    await quiet();
    await rig.pass();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
    rig.say("yes");
    rig.endRun();
    await quiet();
    await rig.pass(10_000);
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "delivered", "turnEnded"]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect(rig.runs).toHaveLength(2);
  });

  it("with a driver outside, that layer does the steering: nothing is handed over twice", async () => {
    const driver = new HandDriver();
    const rig = await start({}, { driver });
    rig.client.request(2, "_session/steering", { sessionId: "s", prompt: [textBlock("left")] });
    await quiet();
    driver.verdict(0, "delivered");
    await quiet();
    await rig.finish();
    expect(driver.texts).toEqual(["left"]);
    expect(rig.runTexts).toEqual([["go"]]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });
});
