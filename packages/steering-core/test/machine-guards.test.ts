import { describe, expect, it } from "vitest";
import { idleState, step } from "../src/session.js";
import type { Events, State, Steer } from "../src/state.js";
import { Bare } from "./support/bare.js";
import { textBlock } from "./support/rig.js";

const { policy } = new Bare().hub.traits;
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
const prompted: Events["promptArrived"] = {
  asker,
  turnId: "t",
  params: {},
  steer,
  command: undefined,
  barred: undefined,
};

/** What the wire cannot bring about, and the machine is sure of all the same. */
describe("G4 one answer: what reaches a session that is closed", () => {
  const idle = { idleBehavior: "startNewTurn", expectedTurnId: undefined, unsupported: undefined } as const;
  const late = { ...prompted, ...idle, messageId: "m" };
  it.each(["promptArrived", "steerArrived", "revokeArrived"] as const)("%s is refused", (name) => {
    const state: State = { ...idleState(policy), phase: "closed" };
    expect(step(state, name, late)).toMatchObject([["respond", asker, { error: { code: -32002 } }]]);
    expect(state.phase).toBe("closed");
  });
});

describe("G7 isolation: an answer to another run than the open one", () => {
  it("changes nothing", () => {
    const state = idleState(policy);
    step(state, "promptArrived", prompted);
    const running = structuredClone(state);
    const outcome = { result: { stopReason: "end_turn" } };
    expect([step(state, "runAnswered", { run: "another", outcome }), state]).toEqual([[], running]);
    step(state, "runAnswered", { run: state.run?.id ?? "", outcome });
    expect(state.phase).toBe("idle");
  });
});
