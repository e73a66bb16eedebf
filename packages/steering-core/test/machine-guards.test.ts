import { describe, expect, it } from "vitest";
import { IDLE, step } from "../src/session.js";
import type { Event, Events } from "../src/state.js";
import { Bare } from "./support/bare.js";
import { textBlock } from "./support/rig.js";

const { policy } = new Bare().hub;
const asker = { link: 1, id: 1 };
const steer = { messageId: "m", clientMessageId: undefined, prompt: [textBlock("x")], bytes: 1, injectable: false };
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
  const LATE: Event[] = [
    { type: "promptArrived", ...prompted },
    { type: "steerArrived", asker, turnId: "t", steer, ...idle },
    { type: "revokeArrived", asker, messageId: "m" },
  ];
  it.each(LATE)("$type is refused", (event) => {
    const [state, effects] = step({ ...IDLE, phase: "closed" }, event, policy);
    expect(state.phase).toBe("closed");
    expect(effects).toMatchObject([["refuse", asker, { code: -32002 }]]);
  });
});

describe("G7 isolation: an answer to another run than the open one", () => {
  it("changes nothing", () => {
    const [running] = step(IDLE, { type: "promptArrived", ...prompted }, policy);
    const outcome = { result: { stopReason: "end_turn" } };
    const [state, effects] = step(running, { type: "runAnswered", run: "another", outcome }, policy);
    expect([state, effects]).toEqual([running, []]);
    const [ended] = step(running, { type: "runAnswered", run: running.run?.id ?? "", outcome }, policy);
    expect(ended.phase).toBe("idle");
  });
});
