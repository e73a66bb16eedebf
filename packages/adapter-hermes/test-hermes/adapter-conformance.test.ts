import { conformance } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { hermesRig, NOT_APPLICABLE } from "../test/rig.js";
import { hermesPython } from "./adapter-stage.js";

const outcomes = conformance({ describe, it, expect }, hermesRig(hermesPython()));

it("leaves out nothing but what Hermes has no case of", () => {
  const left = outcomes.flatMap(({ requirement, title, finding }) =>
    "notApplicable" in finding ? [`${requirement}, ${title}: ${finding.notApplicable}`] : [],
  );
  expect(left).toEqual(NOT_APPLICABLE);
});
