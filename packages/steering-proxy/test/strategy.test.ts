import { describe, expect, test } from "vitest";
import { type Choice, chooseStrategy, STRATEGIES, type Strategy } from "../src/strategy.js";

type Json = Record<string, unknown>;

const choose = (result: Json, wanted: Strategy = "auto"): Choice => {
  const choice = chooseStrategy(result, wanted);
  if ("problem" in choice) throw new Error(choice.problem);
  return choice;
};
const withMeta = (_meta: Json): Json => ({ agentCapabilities: { _meta } });
const named = (name: string): Json => ({ agentInfo: { name } });
const LAYER = { supported: true, version: 1, receipts: true, revoke: true };

describe("what auto makes of what an agent says of itself", () => {
  test.each<[string, Json]>([
    ["native", { _meta: { steering: { supported: true } } }],
    ["native", { _meta: { steering: true } }],
    ["native", withMeta({ steering: { supported: true } })],
    ["native", { _meta: { steering: { ...LAYER, revoke: false } } }],
    ["native", { _meta: { steering: { ...LAYER, receipts: false } } }],
    ["native", { _meta: { steering: { ...LAYER, version: 2 } } }],
    ["goose", withMeta({ goose: { sessionSteer: { method: "_goose/unstable/session/steer" } } })],
    ["goose", named("goose")],
    ["kimchi", withMeta({ "kimchi.dev": { steering: true } })],
    ["reasonix", withMeta({ "reasonix.io": { sessionSteer: { method: "_reasonix.io/session/steer" } } })],
    ["minimax", { _meta: { "minimax-code/extensions": { version: 1, methods: ["mcode/session/steer"] } } }],
    ["poolside", withMeta({ "poolside/session_steer": true })],
    ["nooa", withMeta({ "dev.nooa/inject": { queue: {}, steer: {}, revoke: {} }, "poolside/session_steer": true })],
    ["native", { ...withMeta({ "kimchi.dev": { steering: true } }), _meta: { steering: { supported: true } } }],
    ["command", named("hermes-agent")],
    ["finish", {}],
    ["finish", { _meta: { steering: { supported: false } } }],
    ["finish", { _meta: { steering: null } }],
    ["finish", { _meta: { "minimax-code/extensions": { version: 1, methods: ["session/activate"] } } }],
    ["finish", withMeta({ "dev.nooa/inject": { queue: {} } })],
    ["finish", named("Kiro CLI")],
    ["finish", named("opencrabs")],
  ])("%s: %j", (name, result) => {
    expect(choose(result).name).toBe(name);
  });

  test.each([undefined, null, 5, "steering", []])("%j is an agent without anything", (result) => {
    expect(chooseStrategy(result, "auto")).toEqual({ name: "finish", emulate: "finish" });
  });

  test("an agent that keeps the whole contract is left alone", () => {
    for (const wanted of ["auto", "native"] as const)
      expect(choose({ _meta: { steering: LAYER } }, wanted)).toEqual({ name: "pass-through", passThrough: true });
  });
});

describe("what the user asked for", () => {
  test.each<[string, Strategy, Json]>([
    ["kiro", "native", named("Kiro CLI")],
    ["opencrabs", "native", named("opencrabs")],
    ["native", "native", { _meta: { steering: true } }],
    ["command", "command", {}],
    ["prompt", "prompt", {}],
    ["interrupt", "interrupt", { _meta: { steering: { supported: true } } }],
    ["finish", "finish", { _meta: { steering: LAYER } }],
  ])("%s, by --strategy %s", (name, wanted, result) => {
    expect(choose(result, wanted).name).toBe(name);
  });

  test("native where there is none says what the agent is called, what is known, and what to do", () => {
    const { problem } = chooseStrategy(named("Plain"), "native") as { problem: string };
    expect(problem).toMatch(/^The agent "Plain" offers no steering of its own .*goose.*kiro.* Use --strategy auto/);
    expect(problem).not.toContain("/steer");
  });

  test("native for an agent that takes /steer names that way", () => {
    expect(chooseStrategy(named("hermes-agent"), "native")).toMatchObject({
      problem: expect.stringContaining("--strategy command"),
    });
  });

  test("interrupt is never chosen by itself", () => {
    const chosen = STRATEGIES.filter((wanted) => wanted !== "interrupt" && wanted !== "native");
    expect(chosen.map((wanted) => choose({}, wanted).emulate)).not.toContain("interrupt");
  });
});

describe("what the advertisement is made of", () => {
  const capable = (more: Json = {}): Json => ({
    agentCapabilities: { promptCapabilities: { image: true, audio: true, embeddedContext: true }, ...more },
  });

  test("what an agent takes in prompts, it takes in steers", () => {
    const advertised = { _meta: { steering: true } };
    expect(choose({ ...advertised, ...capable() }).vendor?.supports.content).toEqual([
      "text",
      "resource_link",
      "image",
      "audio",
      "resource",
    ]);
    expect(choose(advertised).vendor?.supports.content).toEqual(["text", "resource_link"]);
  });

  test("a dialect of text takes text alone, whatever its prompts take", () => {
    const { vendor } = choose(capable({ _meta: { "kimchi.dev": { steering: true } } }));
    expect(vendor?.supports).toEqual({ content: ["text"], boundary: "afterTool", delivery: "confirmed" });
  });

  test("who never says what became of a steer is labelled so", () => {
    expect(choose({ _meta: { steering: true } }).vendor?.supports.delivery).toBe("assumed");
    expect(choose(named("goose")).vendor?.supports.delivery).toBe("confirmed");
  });

  test("emulation has no driver", () => {
    expect(choose({}, "finish")).not.toHaveProperty("vendor");
  });
});
