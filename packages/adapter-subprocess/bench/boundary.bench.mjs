// Two hundred steers aimed at the end of a turn of the real Pi, as `acp-steer check` plays them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { check } from "@acp-steering/testkit";
import { row } from "../../../scripts/bench-row.mjs";
import { ensureVendor } from "../../../scripts/vendors.mjs";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const TRIALS = 200;

/** Writes Pi's settings when it is known where the model is, then is the adapter. */
const WITH_MODEL = (/** @type {string} */ configuration) => `
  const { writeFileSync } = await import("node:fs");
  const models = [{ id: "scripted", input: ["text", "image"], contextWindow: 4000000 }];
  const scripted = { baseUrl: process.argv[1], api: "openai-completions", apiKey: "none", models };
  writeFileSync(${JSON.stringify(join(configuration, "models.json"))}, JSON.stringify({ providers: { scripted } }));
  process.argv.splice(1, 1, ${JSON.stringify(CLI)});
  await import(${JSON.stringify(pathToFileURL(CLI).href)});
`;

export async function run() {
  const configuration = await mkdtemp(join(tmpdir(), "acp-steering-bench-"));
  try {
    const settings = { defaultProvider: "scripted", defaultModel: "scripted", quietStartup: true };
    await writeFile(join(configuration, "settings.json"), JSON.stringify(settings));
    const script = ["--input-type=module", "--eval", WITH_MODEL(configuration), "{model-url}"];
    const pi = [await ensureVendor("pi"), "--mode", "rpc"];
    const report = await check({
      command: process.execPath,
      args: [...script, "--dialect", "pi-rpc", "--", ...pi],
      env: { PI_CODING_AGENT_DIR: configuration, PI_OFFLINE: "1" },
      modelServer: "openai-chat",
      trials: TRIALS,
      only: ["G1.boundary", "G2.once", "G4.last", "G4.prompt", "G4.steer", "G7.turn"],
    });
    const figure = report.requirements.find(({ id }) => id === "G1.boundary")?.figure;
    const failed = report.requirements.filter(({ verdict }) => verdict === "fail");
    return [
      row(
        `${TRIALS} steers at the end of Pi's turns`,
        (report.boundary?.durationMs ?? NaN) / 1_000,
        "at most 120",
        "s",
        figure,
      ),
      row("requirements of the boundary that fail", failed.length, "at most 0"),
    ];
  } finally {
    await rm(configuration, { recursive: true, force: true, maxRetries: 5 });
  }
}
