import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { codexAppServer, subprocessVendor } from "../src/index.js";
import { codexCommand } from "./codex-stage.js";

const LEFT_OUT = [
  "driver.boundary: the driver does not promise to break off what the model says",
  "receipt.undelivered: the steer reached the model before the cancel",
  "report.owner: the steer reached the model before the cancel",
  "revoke.pending: the agent had handed it over at once",
];

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

  it("leaves out nothing but what Codex does not have, and a race that its model wins", () => {
    const left = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(left.filter((reason) => !LEFT_OUT.includes(reason))).toEqual([]);
  });
});
