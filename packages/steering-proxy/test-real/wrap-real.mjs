// The built proxy as a command, in front of an agent that is set up for the model at a URL which `acp-steer check` fills in:
// `node wrap-real.mjs STRATEGY {model-root} FOLDER ENVIRONMENT COMMAND [ARGUMENT …]`. The files in FOLDER get the URL too;
// ENVIRONMENT is the agent's whole one, as JSON.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProxy } from "@acp-steering/proxy";

const PLACEHOLDER = "{the-model}";
const [strategy, modelRoot = "", folder = "", environment = "", command, ...args] = process.argv.slice(2);

for (const entry of readdirSync(folder, { withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const path = join(folder, entry.name);
  const text = readFileSync(path, "utf8");
  if (text.includes(PLACEHOLDER)) writeFileSync(path, text.replaceAll(PLACEHOLDER, modelRoot));
}
const env = JSON.parse(environment.replaceAll(PLACEHOLDER, modelRoot));
process.exit(await runProxy({ strategy, command, args, env }));
