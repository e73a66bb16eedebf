import { describe, expect, it } from "vitest";
import { idleState, step } from "../src/session.js";
import type { Effect, State, Steer } from "../src/state.js";
import { Bare } from "./support/bare.js";
import { textBlock } from "./support/rig.js";

const policy = new Bare().hub.traits;
const asker = { link: 1, id: 1 };
const steer: Steer = {
  messageId: "m",
  clientMessageId: undefined,
  link: 1,
  prompt: [textBlock("x")],
  weight: 1,
  injectable: false,
  outcome: "injected",
  fate: "waiting",
  revokers: [],
};
const queued = { asker, turnId: "t", params: {}, prompt: steer.prompt };

/** What the wire cannot bring about, and the machine is sure of all the same. */
describe("G4 one answer: what reaches a session that is closed is refused", () => {
  const REQUESTS: [string, (state: State) => readonly Effect[]][] = [
    ["a prompt", (state) => step(state, "promptArrived", queued, steer, undefined, undefined)],
    ["a steer", (state) => step(state, "steerArrived", queued, steer, undefined, "startNewTurn", undefined)],
    ["a revoke", (state) => step(state, "revokeArrived", asker, "m")],
  ];
  it.each(REQUESTS)("%s", (_, arrive) => {
    const state: State = { ...idleState(policy), phase: "closed" };
    expect(arrive(state)).toMatchObject([["respond", asker, { error: { code: -32002 } }]]);
    expect(state.phase).toBe("closed");
  });
});

describe("G7 isolation: an answer to another run than the open one", () => {
  it("changes nothing", () => {
    const state = idleState(policy);
    step(state, "promptArrived", queued, steer, undefined, undefined);
    const running = structuredClone(state);
    const outcome = { result: { stopReason: "end_turn" } };
    expect([step(state, "runAnswered", "another", outcome), state]).toEqual([[], running]);
    step(state, "runAnswered", state.run?.id ?? "", outcome);
    expect(state.phase).toBe("idle");
  });
});
