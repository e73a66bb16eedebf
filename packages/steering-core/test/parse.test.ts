import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cancelledId,
  isObject,
  MAX_DEPTH,
  objectAt,
  promptBlocks,
  revokeProblem,
  slashCommand,
  startsWithSlash,
  steerProblem,
  stringAt,
  weightOf,
} from "../src/parse.js";
import type { ContentBlock, RevokeRequest, RpcError, SteeringRequest } from "../src/protocol.js";

/** Arrays inside each other, this many. */
const nestedArrays = (levels: number): unknown => {
  let value: unknown = [];
  for (let level = 1; level < levels; level += 1) value = [value];
  return value;
};

const nestedObjects = (levels: number): object => {
  let value = {};
  for (let level = 1; level < levels; level += 1) value = { value };
  return value;
};

const text = (value: string): ContentBlock => ({ type: "text", text: value });

const refusedAt = (path: string): RpcError => ({ code: -32602, message: expect.any(String), data: { path } });

/** Any JSON, and JSON that comes close to what is meant. */
const nearlyParams = (): fc.Arbitrary<unknown> => {
  const some = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.constant(undefined),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const block = fc.oneof(
    fc.record(
      {
        type: fc.constantFrom("text", "image", "audio", "resource", "resource_link", "__proto__"),
        text: some,
        data: some,
        mimeType: some,
        uri: some,
        name: some,
      },
      { requiredKeys: ["type"] },
    ),
    fc.record({
      type: fc.constant("resource"),
      resource: fc.record({ uri: some, text: some, blob: some }, { requiredKeys: [] }),
    }),
    fc.record({ type: fc.constant("text"), text: fc.string() }),
    some,
  );
  const steering = fc.record({ idleBehavior: some, expectedTurnId: some, clientMessageId: some }, { requiredKeys: [] });
  const meta = fc.oneof(some, fc.record({ steering: fc.oneof(some, steering) }, { requiredKeys: [] }));
  const params = fc.record(
    { sessionId: some, prompt: fc.oneof(some, fc.array(block)), messageId: some, _meta: meta, requestId: some },
    { requiredKeys: [] },
  );
  return fc.oneof(params, params, fc.jsonValue());
};

describe("G8 containment: any JSON gives a value or a reason, never an exception", () => {
  it("the params of a steer", () => {
    fc.assert(
      fc.property(nearlyParams(), (params) => {
        const problem = steerProblem(params);
        if (problem) {
          expect(problem).toEqual(refusedAt(expect.any(String)));
          return;
        }
        const { sessionId, prompt } = params as SteeringRequest;
        expect(sessionId).not.toBe("");
        expect(promptBlocks({ prompt })).toBe(prompt);
        const { idleBehavior = null } = objectAt(params, "_meta", "steering");
        expect([null, "promptRequired", "startNewTurn"]).toContain(idleBehavior);
      }),
      { numRuns: 5_000 },
    );
  });

  it("everything else that reads params", () => {
    fc.assert(
      fc.property(nearlyParams(), (params) => {
        if (!revokeProblem(params)) {
          const { sessionId, messageId } = params as RevokeRequest;
          expect([sessionId, messageId]).not.toContain("");
        }
        const prompt = promptBlocks(params);
        if (prompt) {
          startsWithSlash(prompt);
          slashCommand(prompt);
        }
        expect(isObject(objectAt(params, "_meta", "steering"))).toBe(true);
        expect(["string", "undefined"]).toContain(typeof stringAt(params, "sessionId"));
        expect(() => cancelledId(params)).not.toThrow();
        expect(weightOf(params)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 5_000 },
    );
  });

  it("a steer that is well-formed is taken as it is, whatever else is in it", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1 }),
        fc.array(fc.string(), { minLength: 1 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (sessionId, texts, more) => {
          const prompt = texts.map(text);
          expect(steerProblem({ ...more, _meta: null, sessionId, prompt })).toBeUndefined();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("G8 containment: what is huge is bounded", () => {
  it("10 MB of text in one block", () => {
    const prompt = [text("x".repeat(10_000_000))];
    expect(steerProblem({ sessionId: "s", prompt })).toBeUndefined();
    expect(slashCommand([text(`/steer ${" ".repeat(10_000_000)}left`)])).toEqual({ name: "steer", text: "left" });
    expect(slashCommand([text(`${" ".repeat(10_000_000)}/steering`)])).toBeUndefined();
  });

  it("100,000 blocks, the last one bad", () => {
    const blocks: unknown[] = Array.from({ length: 100_000 }, () => text("x"));
    expect(steerProblem({ sessionId: "s", prompt: blocks })).toBeUndefined();
    expect(steerProblem({ sessionId: "s", prompt: [...blocks, null] })).toEqual(refusedAt("prompt[100000]"));
  });

  it("a million members", () => {
    const wide = Array.from({ length: 1_000_000 }, (_, index) => index);
    expect(weightOf(wide)).toBe(0);
    expect(steerProblem({ sessionId: "s", prompt: [text("x")], wide })).toBeUndefined();
  });

  it.each([
    ["arrays", nestedArrays],
    ["objects", nestedObjects],
  ])("10,000 and 1,000,000 levels of %s, without recursion", (_, nest) => {
    for (const levels of [10_000, 1_000_000]) {
      const params = { sessionId: "s", prompt: [text("x")], deep: nest(levels) };
      expect(steerProblem(params)).toEqual(refusedAt(""));
      const inside = { ...params, deep: undefined, prompt: [{ ...text("x"), _meta: nest(levels) }] };
      expect(steerProblem(inside)).toEqual(refusedAt(""));
    }
  });

  it("levels are counted exactly", () => {
    for (const nest of [nestedArrays, nestedObjects]) {
      expect(weightOf(nest(MAX_DEPTH))).toBe(0);
      expect(weightOf(nest(MAX_DEPTH + 1))).toBe(Number.POSITIVE_INFINITY);
    }
    expect(weightOf("text")).toBe(4);
  });

  it("bytes are those of all strings at every level", () => {
    expect(weightOf({ a: "12", b: ["345", { c: "6", d: 7, e: null, f: true }] })).toBe(6);
  });
});

describe("parse: what is read", () => {
  it("the members of a steer's metadata, where they are there", () => {
    const _meta = { steering: { idleBehavior: "startNewTurn", expectedTurnId: "t", clientMessageId: "" } };
    const params = { sessionId: "s", prompt: [text("x")] };
    expect(steerProblem({ ...params, _meta })).toBeUndefined();
    for (const name of ["idleBehavior", "expectedTurnId", "clientMessageId"]) {
      const steering = (value: unknown): object => ({ ...params, _meta: { steering: { [name]: value } } });
      expect(steerProblem(steering(null))).toBeUndefined();
      expect(steerProblem(steering(5))).toEqual(refusedAt(`_meta.steering.${name}`));
    }
  });

  it("a resource with text or with a blob", () => {
    for (const contents of [{ text: "" }, { blob: "" }])
      expect(promptBlocks({ prompt: [{ type: "resource", resource: { uri: "", ...contents } }] })).toHaveLength(1);
    expect(promptBlocks({ prompt: [{ type: "resource", resource: [] }] })).toBeUndefined();
  });

  it("a path through what is not there is an empty object", () => {
    expect(objectAt({ a: { b: { c: 1 } } }, "a", "b")).toEqual({ c: 1 });
    expect(objectAt({ a: [] }, "a")).toEqual({});
    expect(objectAt(undefined, "a", "b")).toEqual({});
    expect(objectAt([])).toEqual({});
  });

  const COMMANDS: [string[], object | undefined][] = [
    [["/steer left"], { name: "steer", text: "left" }],
    [["  /queue\tleft  "], { name: "queue", text: "left" }],
    [["/steer\nleft\nright"], { name: "steer", text: "left\nright" }],
    [["/steer"], { name: "steer", text: "" }],
    [["/steer", "left"], { name: "steer", text: "left" }],
    [["", "/steer left"], { name: "steer", text: "left" }],
    [["/steering left"], undefined],
    [["/STEER left"], undefined],
    [["go", "/steer left"], undefined],
    [[""], undefined],
  ];
  it.each(COMMANDS)("the command in %j", (texts, command) => {
    expect(slashCommand(texts.map(text))).toEqual(command);
  });

  it("other content is no command, and no slash", () => {
    const image: ContentBlock = { type: "image", data: "", mimeType: "" };
    expect(slashCommand([text("/steer left"), image])).toBeUndefined();
    expect([startsWithSlash([image, text("/x")]), startsWithSlash([text("/x"), image]), startsWithSlash([])]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
