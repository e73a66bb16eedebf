import { conformance } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { hermesRig, NOT_APPLICABLE } from "./rig.js";
import { STAND_IN_PYTHON } from "./stand-in/bridge-process.js";

const outcomes = conformance({ describe, it, expect }, hermesRig(STAND_IN_PYTHON));

it("leaves out nothing but what Hermes has no case of", () => {
  const left = outcomes.flatMap(({ requirement, title, finding }) =>
    "notApplicable" in finding ? [`${requirement}, ${title}: ${finding.notApplicable}`] : [],
  );
  expect(left).toEqual(NOT_APPLICABLE);
});
