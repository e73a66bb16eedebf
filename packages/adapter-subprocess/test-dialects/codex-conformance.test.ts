import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { codexAppServer, subprocessVendor } from "../src/index.js";
import { codexCommand } from "./codex-stage.js";

describe("codex-app-server with the real Codex", () => {
  const outcomes = conformance(
    { describe, it, expect },
    modelServerRig({
      supports: codexAppServer.supports,
      start: async ({ modelUrl, configuration }) => {
        const command = await codexCommand({ modelUrl, configuration });
        return steeringAgent(subprocessVendor({ dialect: codexAppServer, command, log: () => {} }));
      },
    }),
  );

  it("leaves out nothing but what Codex does not have", () => {
    const left = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(left).toEqual([]);
  });
});
