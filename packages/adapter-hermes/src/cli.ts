#!/usr/bin/env node
import { serveStdio, steeringAgent } from "@acp-steering/kit";
import { runCommand } from "@acp-steering/kit/adapter";
import { HELP, readCommandLine } from "./command-line.js";
import { hermesVendor } from "./hermes-vendor.js";

await runCommand({
  name: "hermes-steering-acp",
  help: HELP,
  manifest: new URL("../package.json", import.meta.url),
  read: readCommandLine,
  run: async (commandLine, version) => {
    await serveStdio(steeringAgent(hermesVendor({ ...commandLine, version })));
    process.exit();
  },
});
