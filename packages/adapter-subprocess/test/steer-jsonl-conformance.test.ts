import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { meetAgent, steerJsonl, subprocessVendor } from "../src/index.js";
import { example, schemaFaults, tapped, trafficIn } from "./steer-jsonl-wire.js";

const supports = { content: ["text", "resource_link", "resource"], boundary: "nextStep" } as const;

const NEVER_ASKS = "the agent did not ask before it ran a command";
const IS_QUICK = "the agent had handed it over at once";
const NEVER_BREAKS_OFF = "driver.boundary: the driver does not promise to break off what the model says";

describe.each([
  [
    "agent.py",
    [
      ...["hold.allowed", "hold.rejected", "hold.unanswered"].map((id) => `${id}: ${NEVER_ASKS}`),
      `revoke.pending: ${IS_QUICK}`,
      `revoke.pending: ${NEVER_ASKS}`,
      NEVER_BREAKS_OFF,
    ],
  ],
  ["agent.ts", [`revoke.pending: ${IS_QUICK}`, NEVER_BREAKS_OFF]],
] as const)("%s", async (name, leftOut) => {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-jsonl-"));
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

  const start = async ({ modelUrl }: { modelUrl: string }) => {
    const environment = ["env", `OPENAI_BASE_URL=${modelUrl}`, "OPENAI_API_KEY=none"] as const;
    const command = tapped([...environment, ...(await example(name, folder))], folder);
    return steeringAgent(subprocessVendor(await meetAgent({ dialect: steerJsonl, command, log: () => {} })));
  };
  const outcomes = conformance({ describe, it, expect }, modelServerRig({ supports, start }));

  it("leaves out nothing but what the agent does not have", () => {
    const left = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(left).toEqual(leftOut);
  });

  it("every line of it, both ways, fits the schema", async () => {
    const traffic = await trafficIn(folder);
    expect(traffic.toAgent.some(({ type }) => type === "steer")).toBe(true);
    expect(await schemaFaults(traffic)).toEqual([]);
  });
});
