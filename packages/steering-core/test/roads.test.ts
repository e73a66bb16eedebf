import { describe, expect, it } from "vitest";
import type { InjectCall, SteeringDriver, Verdict } from "../src/index.js";
import { quiet, Rig, textsOf } from "./support/rig.js";

const driverOf = (inject: (call: InjectCall) => PromiseLike<Verdict>): SteeringDriver => ({
  spec: "steering-driver-1",
  supports: { content: ["text"], boundary: "nextStep" },
  inject,
});

describe("G1 no lost steer: the roads into a turn", () => {
  it("G1 continued: what is left when the agent answers is one more run inside the turn", async () => {
    const rig = await Rig.start();
    rig.prompt(1, "go");
    await quiet();
    rig.steer(2, "not that file");
    await quiet();
    expect(rig.client.answers(2)[0]?.result).toMatchObject({ outcome: "injected" });
    rig.endRun();
    await quiet();
    expect(rig.client.answers(1)).toEqual([]);
    rig.clock.advance(0);
    await quiet();
    expect(rig.runs.map(({ params }) => textsOf(params))).toEqual([["go"], ["not that file"]]);
    rig.say("all right");
    rig.endRun();
    await quiet();
    expect(rig.client.answers(1).map(({ result }) => result?.["stopReason"])).toEqual(["end_turn"]);
  });

  it("G1 taken: the inbox hands it over, and nothing is left to continue with", async () => {
    const rig = await Rig.start({ inbox: true });
    rig.prompt(1, "go");
    await quiet();
    rig.steer(2, "not that file");
    await quiet();
    expect(rig.steerable.take("s").map(({ prompt }) => prompt)).toEqual([[{ type: "text", text: "not that file" }]]);
    expect(rig.steerable.take("s")).toEqual([]);
    rig.endRun();
    await quiet();
    rig.clock.advance(0);
    await quiet();
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.answers(1)).toHaveLength(1);
  });

  it("G1 injected: the driver's verdict settles it", async () => {
    const calls: InjectCall[] = [];
    const rig = await Rig.start({
      driver: driverOf(async (call) => {
        calls.push(call);
        return "delivered";
      }),
    });
    rig.prompt(1, "go");
    await quiet();
    rig.steer(2, "not that file");
    await quiet();
    rig.endRun();
    await quiet();
    expect(calls.map(({ prompt }) => prompt)).toEqual([[{ type: "text", text: "not that file" }]]);
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.answers(1)).toHaveLength(1);
  });

  it("G3 order: roads mixed, each steer is handed over once, in order of arrival", async () => {
    const injected: string[] = [];
    const rig = await Rig.start({
      inbox: true,
      driver: driverOf(async ({ prompt }) => {
        const text = (prompt[0] as { text: string }).text;
        injected.push(text);
        return text === "two" ? "tooLate" : "delivered";
      }),
    });
    rig.prompt(1, "go");
    await quiet();
    for (const [index, text] of ["one", "two", "three"].entries()) rig.steer(10 + index, text);
    await quiet();
    const taken = rig.steerable.take("s").map(({ prompt }) => (prompt[0] as { text: string }).text);
    rig.steer(20, "four");
    await quiet();
    rig.endRun();
    await quiet();
    rig.clock.advance(0);
    await quiet();
    expect(injected).toEqual(["one", "two", "four"]);
    expect(taken).toEqual(["two", "three"]);
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.answers(1)).toHaveLength(1);
  });
});
