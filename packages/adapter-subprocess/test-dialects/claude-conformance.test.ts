import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { claudeStreamJson, subprocessVendor } from "../src/index.js";
import { claudeCommand } from "./claude-stage.js";

const REACHED_FIRST = "the steer reached the model before the cancel";
const LEFT_OUT = [
  "revoke.pending: the agent had handed it over at once",
  ...["G6.steer-cancel", "receipt.undelivered", "report.owner"].map((id) => `${id}: ${REACHED_FIRST}`),
];

describe("claude-stream-json with the real Claude Code", () => {
  const outcomes = conformance(
    { describe, it, expect },
    modelServerRig({
      supports: claudeStreamJson.supports,
      start: async ({ modelUrl, configuration }) => {
        const command = await claudeCommand({ modelUrl, configuration });
        return steeringAgent(subprocessVendor({ dialect: claudeStreamJson, command, log: () => {} }));
      },
    }),
  );

  it("leaves out nothing but what Claude Code does not have, and a race that its model wins", () => {
    const left = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(left.filter((reason) => !LEFT_OUT.includes(reason))).toEqual([]);
  });
});
