import { tmpdir } from "node:os";
import { steeringAgent } from "@acp-steering/kit";
import { describe, expect, it } from "vitest";
import { StepQueue } from "../src/cases/step-queue.js";
import { conformance } from "../src/conformance/conformance.js";
import type { Rig } from "../src/conformance/rig.js";
import { playedVendor } from "./fake-vendor.js";

const NO_TOOL = "the agent offers its model no shell tool";
const AT_ONCE = "the steer reached the model before the cancel";

function makeRig(): Rig {
  const behind = new StepQueue();
  const vendor = playedVendor(behind);
  return { agent: steeringAgent(vendor), supports: vendor.supports, behind, cwd: tmpdir() };
}

describe("an agent whose vendor is a fake", () => {
  const outcomes = conformance({ describe, it, expect }, makeRig);

  it("is judged by all cases but these", () => {
    const leftOut = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(leftOut).toEqual([
      `G1.tool: ${NO_TOOL}`,
      `G6.steer-cancel: ${AT_ONCE}`,
      `G7.turn: ${NO_TOOL}`,
      `hold.allowed: ${NO_TOOL}`,
      `hold.rejected: ${NO_TOOL}`,
      `hold.unanswered: ${NO_TOOL}`,
      `receipt.undelivered: ${AT_ONCE}`,
      `report.owner: ${AT_ONCE}`,
      "revoke.pending: the agent had handed it over at once",
      `revoke.pending: ${NO_TOOL}`,
      `driver.boundary: ${NO_TOOL}`,
    ]);
  });

  it("breaks off what the model says, and says so", () => {
    const [interrupts] = outcomes.filter(({ requirement }) => requirement === "figure.interrupts");
    expect(interrupts?.finding).toMatchObject({ figure: "it breaks off what the model says" });
  });
});
