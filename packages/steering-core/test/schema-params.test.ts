import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_DEPTH, revokeProblem, steerProblem } from "../src/parse.js";
import { textBlock } from "./support/rig.js";
import { changed, isValid, type Json, pathsOf } from "./support/schemas.js";

const jsonText = fc.string({ maxLength: 5 });
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: jsonText }),
  fc.record({ type: fc.constantFrom("image", "audio"), data: jsonText, mimeType: jsonText }),
  fc.record({ type: fc.constant("resource_link"), name: jsonText, uri: jsonText }),
  fc.record({ type: fc.constant("resource"), resource: fc.record({ uri: jsonText, text: jsonText }) }),
  fc.record({ type: fc.constant("resource"), resource: fc.record({ uri: jsonText, blob: jsonText }) }),
);
const wishes = fc.record(
  {
    idleBehavior: fc.constantFrom("promptRequired", "startNewTurn", null),
    expectedTurnId: fc.option(jsonText),
    clientMessageId: fc.option(jsonText),
  },
  { requiredKeys: [] },
);
const steer = fc.record(
  {
    sessionId: fc.string({ minLength: 1 }),
    prompt: fc.array(block, { minLength: 1, maxLength: 3 }),
    _meta: fc.option(fc.record({ steering: fc.option(wishes) }, { requiredKeys: [] })),
  },
  { requiredKeys: ["sessionId", "prompt"] },
);
const anything = fc.oneof(
  fc.constantFrom<unknown>(undefined, null, "", "reject", "toString", 0, [], {}, { type: "video" }),
  fc.jsonValue({ maxDepth: 2 }),
);
const strike = fc.tuple(fc.nat(), anything);

/** Well-formed params with up to three members taken out or replaced. */
const nearly = (wellFormed: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(wellFormed, fc.array(strike, { maxLength: 3 })).map(([params, strikes]) =>
    strikes.reduce<unknown>((value, [where, replacement]) => {
      const paths = pathsOf(value);
      const path = paths[where % paths.length];
      return path ? changed(value, path, replacement) : value;
    }, params),
  );
const maybe = (wellFormed: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: nearly(wellFormed) }, { weight: 1, arbitrary: fc.jsonValue() });

const REQUIRED: Record<string, readonly string[]> = {
  text: ["type", "text"],
  image: ["type", "data", "mimeType"],
  audio: ["type", "data", "mimeType"],
  resource_link: ["type", "name", "uri"],
  resource: ["type", "resource"],
  contents: ["uri", "text", "blob"],
};

const only = (value: unknown, names: readonly string[] | undefined): Json =>
  Object.fromEntries(Object.entries(value as Json).filter(([name]) => names?.includes(name)));

/** The params without what the layer leaves to the agent: the optional members of blocks. */
function withoutOptional(params: unknown): unknown {
  const { prompt, ...rest } = params as { prompt: Json[] };
  const blocks = prompt.map((content) => only(content, REQUIRED[String(content["type"])]));
  return {
    ...rest,
    prompt: blocks.map((content) =>
      content["type"] === "resource"
        ? { ...content, resource: only(content["resource"], REQUIRED["contents"]) }
        : content,
    ),
  };
}

describe("G4 one answer: the schemas refuse what the layer refuses, and nothing else", () => {
  it("a steer", () => {
    fc.assert(
      fc.property(maybe(steer), (params) => {
        const ok = !steerProblem(params);
        expect(isValid("steering-request", ok ? withoutOptional(params) : params)).toBe(ok);
      }),
      { numRuns: 5_000 },
    );
  });

  it("a revoke", () => {
    const revoke = fc.record({ sessionId: fc.string({ minLength: 1 }), messageId: fc.string({ minLength: 1 }) });
    fc.assert(
      fc.property(maybe(revoke), (params) => {
        expect(isValid("revoke-request", params)).toBe(!revokeProblem(params));
      }),
      { numRuns: 1_000 },
    );
  });

  it("an optional member of a block is the agent's to refuse, and the schema's", () => {
    const params = { sessionId: "s", prompt: [{ ...textBlock("left"), annotations: 1 }] };
    expect([!steerProblem(params), isValid("steering-request", params)]).toEqual([true, false]);
  });

  it("how deep params nest is the one thing that a schema cannot say", () => {
    let more: unknown = 0;
    for (let level = 0; level < MAX_DEPTH; level += 1) more = [more];
    const params = { sessionId: "s", prompt: [textBlock("left")], more };
    expect([!steerProblem(params), isValid("steering-request", params)]).toEqual([false, true]);
  });
});
