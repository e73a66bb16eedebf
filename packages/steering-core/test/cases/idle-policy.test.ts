import { describe, expect, it } from "vitest";
import { quiet, Rig } from "../support/rig.js";

describe("G5 idle consumes nothing", () => {
  it("case 13: a steer behind the end of a turn starts none by default; one that starts a turn is told its end", async () => {
    for (const idleBehavior of [undefined, "startNewTurn"] as const) {
      const rig = await Rig.running(idleBehavior ? { idleBehavior } : {});
      rig.endRun();
      await quiet();
      const before = rig.client.receipts.length;
      rig.steer(2, "left");
      await quiet();
      if (!idleBehavior) {
        expect(rig.client.result(2)).toMatchObject({ outcome: "promptRequired", reason: "noRunningTurn" });
        expect(rig.runTexts).toEqual([["go"]]);
        continue;
      }
      const { turnId } = rig.client.meta(2);
      rig.endRun({ result: { stopReason: "max_tokens" } });
      await quiet();
      expect(rig.client.result(2)["outcome"]).toBe("startedNewTurn");
      expect(rig.client.receipts.slice(before)).toMatchObject([
        { state: "turnStarted", turnId },
        { state: "turnEnded", turnId, stopReason: "max_tokens" },
      ]);
    }
  });

  it("case 13: a client that could not be told the end gets no such turn", async () => {
    const rig = await Rig.running({ idleBehavior: "startNewTurn" }, { receipts: false });
    await rig.finish();
    rig.steer(2, "left", { idleBehavior: "startNewTurn" });
    await quiet();
    expect(rig.client.result(2)["outcome"]).toBe("promptRequired");
    expect(rig.runs).toHaveLength(1);
  });

  it("case 17: the request's own policy counts where the turn has ended, and changes nothing where it runs", async () => {
    const wanted = { idleBehavior: "promptRequired" };
    const rig = await Rig.running({ idleBehavior: "startNewTurn" });
    rig.steer(2, "running", wanted);
    await rig.finish();
    rig.steer(3, "ended", wanted);
    await quiet();
    expect(rig.runTexts).toEqual([["go"], ["running"]]);
    rig.steer(4, "ended, as the adapter has it");
    await quiet();
    expect([2, 3, 4].map((id) => rig.client.result(id)["outcome"])).toEqual([
      "injected",
      "promptRequired",
      "startedNewTurn",
    ]);
  });
});
