#!/usr/bin/env node
import { serveStdio, steeringAgent } from "@acp-steering/kit";
import { runCommand } from "@acp-steering/kit/adapter";
import { HELP, readCommandLine } from "./command-line.js";
import { meetAgent, subprocessVendor } from "./subprocess-vendor.js";

await runCommand({
  name: "subprocess-steering-acp",
  help: HELP,
  manifest: new URL("../package.json", import.meta.url),
  read: readCommandLine,
  run: async (commandLine, version) => {
    const options = await meetAgent({ ...commandLine, version });
    await serveStdio(steeringAgent(subprocessVendor(options)));
    process.exit();
  },
});
