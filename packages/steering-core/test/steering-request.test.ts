import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig, textBlock } from "./support/rig.js";

const STEER = "_session/steering";
const text = textBlock("left");
const image = { type: "image", data: "AA==", mimeType: "image/png" };
const audio = { type: "audio", data: "AA==", mimeType: "audio/wav" };
const link = { type: "resource_link", name: "a", uri: "file:///a" };
const resource = { type: "resource", resource: { uri: "file:///a", text: "a" } };

/** `levels` objects inside each other. */
const nested = (levels: number): object => {
  let value: object = {};
  for (let level = 1; level < levels; level += 1) value = { value };
  return value;
};

const withMeta = (_meta: unknown): object => ({ sessionId: "s", prompt: [text], _meta });
const withBlock = (...prompt: unknown[]): object => ({ sessionId: "s", prompt });

const MALFORMED: [what: string, params: unknown, path: string][] = [
  ["params that are a string", "left", ""],
  ["params that are an array", [], ""],
  ["params that are null", null, ""],
  ["no params", undefined, ""],
  ["no sessionId", { prompt: [text] }, "sessionId"],
  ["an empty sessionId", { sessionId: "", prompt: [text] }, "sessionId"],
  ["a sessionId that is a number", { sessionId: 1, prompt: [text] }, "sessionId"],
  ["no prompt", { sessionId: "s" }, "prompt"],
  ["a prompt that is a string", { sessionId: "s", prompt: "left" }, "prompt"],
  ["an empty prompt", { sessionId: "s", prompt: [] }, "prompt"],
  ["a block that is null", withBlock(null), "prompt[0]"],
  ["a later block that is a string", withBlock(text, "left"), "prompt[1]"],
  ["a block that is an array", withBlock([]), "prompt[0]"],
  ["a block without a type", withBlock({ text: "left" }), "prompt[0].type"],
  ["a block of unknown type", withBlock({ type: "video" }), "prompt[0].type"],
  ["a block whose type is a member of every object", withBlock({ type: "toString" }), "prompt[0].type"],
  ["a text block without text", withBlock({ type: "text" }), "prompt[0].text"],
  ["an image without data", withBlock({ ...image, data: undefined }), "prompt[0].data"],
  ["an image without mimeType", withBlock({ ...image, mimeType: null }), "prompt[0].mimeType"],
  ["audio without data", withBlock({ ...audio, data: 1 }), "prompt[0].data"],
  ["audio without mimeType", withBlock({ ...audio, mimeType: 1 }), "prompt[0].mimeType"],
  ["a link without name", withBlock({ ...link, name: undefined }), "prompt[0].name"],
  ["a link without uri", withBlock({ ...link, uri: undefined }), "prompt[0].uri"],
  ["a resource block without resource", withBlock({ type: "resource" }), "prompt[0].resource"],
  ["a resource without uri", withBlock({ type: "resource", resource: { text: "a" } }), "prompt[0].resource.uri"],
  ["a resource without contents", withBlock({ type: "resource", resource: { uri: "a" } }), "prompt[0].resource.text"],
  ["_meta that is a string", withMeta("x"), "_meta"],
  ["_meta that is an array", withMeta([]), "_meta"],
  ["_meta.steering that is a number", withMeta({ steering: 1 }), "_meta.steering"],
  ["an unknown idleBehavior", withMeta({ steering: { idleBehavior: "later" } }), "_meta.steering.idleBehavior"],
  [
    "an idleBehavior that only adapters have",
    withMeta({ steering: { idleBehavior: "reject" } }),
    "_meta.steering.idleBehavior",
  ],
  [
    "an expectedTurnId that is a number",
    withMeta({ steering: { expectedTurnId: 1 } }),
    "_meta.steering.expectedTurnId",
  ],
  [
    "a clientMessageId that is a number",
    withMeta({ steering: { clientMessageId: 1 } }),
    "_meta.steering.clientMessageId",
  ],
  ["params of 257 levels", { ...withBlock(text), more: nested(256) }, ""],
];

describe("G4 one answer: a malformed steer is refused before any effect", () => {
  it.each(MALFORMED)("refuses %s", async (_, params, path) => {
    const rig = await Rig.running();
    const { length } = rig.agent.received;
    const { armed } = rig.clock;
    rig.client.request(2, STEER, params);
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32602, data: { path } });
    expect(rig.agent.received).toHaveLength(length);
    expect(rig.clock.armed).toBe(armed);
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it.each([
    ["_meta: null", withMeta(null)],
    ["_meta.steering: null", withMeta({ steering: null })],
    ["null members", withMeta({ steering: { idleBehavior: null, expectedTurnId: null, clientMessageId: null } })],
    ["unknown keys", { ...withMeta({ steering: { colour: 1 }, other: 2 }), more: 3 }],
    ["256 levels", { ...withBlock(text), more: nested(255) }],
    [
      "null in optional members of a block",
      withBlock({ ...text, annotations: null, _meta: null }, { ...link, size: null }),
    ],
  ])("takes %s", async (_, params) => {
    const rig = await Rig.running();
    rig.client.request(2, STEER, params);
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
  });
});

describe("G4 one answer: errors come in the order of the contract", () => {
  const bad = { type: "video" };

  it("malformed params come before an unknown session", async () => {
    const rig = await Rig.running();
    rig.client.request(2, STEER, { sessionId: "nowhere", prompt: [bad] });
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32602, data: { path: "prompt[0].type" } });
  });

  it("an unknown session comes before content that is not supported", async () => {
    const rig = await Rig.running();
    rig.client.request(2, STEER, { sessionId: "nowhere", prompt: [audio] });
    await quiet();
    expect(rig.client.error(2)?.code).toBe(-32002);
  });

  it("a closing session comes before content that is not supported", async () => {
    const rig = await Rig.running();
    rig.client.request(2, "session/close", { sessionId: "s" });
    rig.client.request(3, STEER, withBlock(audio));
    await quiet();
    expect(rig.client.error(3)?.code).toBe(-32002);
  });

  it("content that is not supported comes before too much pending", async () => {
    const rig = await Rig.running({ maxPending: { steers: 0, bytes: 0 } });
    rig.client.request(2, STEER, withBlock(audio));
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32602, data: { reason: "unsupportedContent" } });
  });

  it("within the params, the first bad field in reading order is named", async () => {
    const rig = await Rig.running();
    rig.client.request(2, STEER, { sessionId: "", prompt: [], _meta: 1 });
    rig.client.request(3, STEER, { sessionId: "s", prompt: [text, bad], _meta: 1 });
    rig.client.request(4, STEER, { ...withMeta({ steering: 1 }), more: nested(300) });
    await quiet();
    expect([2, 3, 4].map((id) => rig.client.error(id)?.data?.["path"])).toEqual([
      "sessionId",
      "prompt[1].type",
      "_meta.steering",
    ]);
  });
});

describe("G4 one answer: content", () => {
  const WORLDS: [what: string, blocks: object[], promptCapabilities: object, driver: HandDriver | undefined][] = [
    ["text and links, always", [text, link], {}, undefined],
    ["images, where the agent takes them in a prompt", [image], { image: true }, undefined],
    ["audio, where the agent takes it in a prompt", [audio], { audio: true }, undefined],
    ["resources, where the agent takes them in a prompt", [resource], { embeddedContext: true }, undefined],
    ["what the driver takes", [image, audio], {}, new HandDriver(["text", "image", "audio"])],
  ];
  it.each(WORLDS)("takes %s", async (_, prompt, promptCapabilities, driver) => {
    const result = { protocolVersion: 1, agentCapabilities: { promptCapabilities } };
    const rig = await Rig.running(driver ? { driver } : {}, undefined, result);
    rig.client.request(2, STEER, { sessionId: "s", prompt });
    await quiet();
    expect(rig.client.result(2)).toMatchObject({ outcome: "injected" });
  });

  it.each([
    ["image", image],
    ["audio", audio],
    ["resource", resource],
  ])("refuses %s where nobody takes it, and says what is taken", async (type, block) => {
    const rig = await Rig.running();
    rig.client.request(2, STEER, withBlock(text, block));
    await quiet();
    expect(rig.client.error(2)).toMatchObject({
      code: -32602,
      data: { reason: "unsupportedContent", path: "prompt[1].type", accepted: ["text", "resource_link"] },
    });
    expect(rig.client.error(2)?.message).toContain(type);
  });

  it("refuses unsupported content while idle too", async () => {
    const rig = await Rig.start();
    rig.client.request(2, STEER, withBlock(image));
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ data: { reason: "unsupportedContent" } });
  });
});
