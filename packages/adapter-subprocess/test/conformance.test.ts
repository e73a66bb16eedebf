import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { steeringAgent } from "@acp-steering/kit";
import { conformance, modelServerRig } from "@acp-steering/testkit";
import { describe, expect, it } from "vitest";
import { piRpc, subprocessVendor } from "../src/index.js";
import { PI_1_6, PIS, type Pi } from "./pis.js";

/** The context is large, so that a steer of a million characters is not summarised. */
const MODEL = { id: "scripted", input: ["text", "image"], contextWindow: 4_000_000 };
const SETTINGS = { defaultProvider: "scripted", defaultModel: "scripted", quietStartup: true };

/** Pi itself never asks; its extensions do. */
const ASKS = `export default (pi) => {
  pi.on("tool_call", async (event, ctx) => {
    if (!(await ctx.ui.confirm("Run it?", event.toolName))) return { block: true, reason: "The user said no." };
  });
};`;

interface Place {
  readonly modelUrl: string;
  readonly configuration: string;
}

async function startAskingPi(pi: Pi, place: Place) {
  const extensions = join(place.configuration, "extensions");
  await mkdir(extensions);
  await writeFile(join(extensions, "asks.ts"), ASKS);
  return startPi(pi, place);
}

async function startPi(pi: Pi, { modelUrl, configuration }: Place) {
  const provider = { baseUrl: modelUrl, api: "openai-completions", apiKey: "none", models: [MODEL] };
  await writeFile(join(configuration, "models.json"), JSON.stringify({ providers: { scripted: provider } }));
  await writeFile(join(configuration, "settings.json"), JSON.stringify(SETTINGS));
  const environment = [`PI_CODING_AGENT_DIR=${configuration}`, "PI_OFFLINE=1"];
  const command = ["env", ...environment, ...(await pi.command()), "--mode", "rpc"] as const;
  return steeringAgent(subprocessVendor({ dialect: piRpc, command, log: () => {} }));
}

const NEVER_ASKS = "the agent did not ask before it ran a command";

describe.each(PIS)("$name", (pi) => {
  const start = (place: Place) => startPi(pi, place);
  const outcomes = conformance({ describe, it, expect }, modelServerRig({ supports: piRpc.supports, start }));

  it("leaves out nothing but what Pi does not have", () => {
    const left = outcomes.flatMap(({ requirement, finding }) =>
      "notApplicable" in finding ? [`${requirement}: ${finding.notApplicable}`] : [],
    );
    expect(left).toEqual([
      `hold.allowed: ${NEVER_ASKS}`,
      `hold.rejected: ${NEVER_ASKS}`,
      `hold.unanswered: ${NEVER_ASKS}`,
      "revoke.pending: the agent had handed it over at once",
      `revoke.pending: ${NEVER_ASKS}`,
      "driver.boundary: the driver does not promise to break off what the model says",
    ]);
  });
});

describe("Pi 1.6 with an extension that asks", () => {
  const start = (place: Place) => startAskingPi(PI_1_6, place);
  const outcomes = conformance({ describe, it, expect }, modelServerRig({ supports: piRpc.supports, start }));

  it("holds steers while it asks", () => {
    const left = outcomes.flatMap(({ requirement, finding }) => ("notApplicable" in finding ? [requirement] : []));
    expect(left).toEqual(["revoke.pending", "driver.boundary"]);
  });
});
