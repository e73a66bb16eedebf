import { describe, expect, it } from "vitest";
import type { SteeringOptions } from "../../src/index.js";
import { HandDriver } from "../support/driver.js";
import { quiet, Rig } from "../support/rig.js";

describe("G3 order: content", () => {
  const BLOCKS = [
    { type: "text", text: "[thread B] answer here", annotations: { priority: 1 }, _meta: { replyTo: "B" } },
    { type: "resource_link", name: "anchor", uri: "thread://b", _meta: { anchor: true } },
  ];
  const injecting = (driver: HandDriver): SteeringOptions => ({ driver });
  const ROADS: [string, typeof injecting, (rig: Rig, driver: HandDriver) => Promise<unknown>][] = [
    ["injected", injecting, async (_, driver) => driver.call(0).prompt],
    ["taken", () => ({ inbox: true }), async (rig) => rig.steerable.take("s")[0]?.prompt],
    [
      "continued",
      () => ({}),
      async (rig) => {
        rig.endRun();
        await rig.pass();
        return rig.runs[1]?.params?.["prompt"];
      },
    ],
  ];
  it.each(ROADS)(
    "case 123: blocks that say where they belong arrive as in a prompt (%s)",
    async (_, optionsWith, given) => {
      const driver = new HandDriver(["text", "resource_link"]);
      const rig = await Rig.start(optionsWith(driver));
      rig.client.request(1, "session/prompt", { sessionId: "s", prompt: BLOCKS });
      rig.client.request(2, "_session/steering", { sessionId: "s", prompt: BLOCKS });
      await quiet();
      const steered = await given(rig, driver);
      expect(steered).toEqual(BLOCKS);
      expect(steered).toEqual(rig.runs[0]?.params?.["prompt"]);
    },
  );
});
