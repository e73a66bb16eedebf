import { describe, expect, it } from "vitest";
import { conformance } from "../src/conformance/conformance.js";
import { modelServerRig } from "../src/conformance/model-server-rig.js";
import { DRIVER_SUPPORTS } from "../src/reference/driver-agent.js";
import { referenceAgent } from "../src/reference/reference-agent.js";

const ROADS = [
  {
    road: "inbox",
    supports: undefined,
    left: [
      "driver.boundary: what the agent's driver promises is not known here",
      "driver.boundary: what the agent's driver promises is not known here",
    ],
  },
  {
    road: "driver",
    supports: DRIVER_SUPPORTS,
    left: [
      "revoke.pending: the agent had handed it over at once",
      "driver.boundary: the driver does not promise to break off what the model says",
    ],
  },
] as const;

describe.each(ROADS)("the reference agent, $road", ({ road, supports, left }) => {
  const outcomes = conformance(
    { describe, it, expect },
    modelServerRig({ supports, start: ({ modelUrl }) => referenceAgent({ road, modelUrl }) }),
  );

  it("is judged by all cases but these", () => {
    const leftOut = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(leftOut).toEqual(left);
  });
});
