#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { serveStdio, steeringAgent } from "@acp-steering/kit";
import { type CommandLine, HELP, readCommandLine, UsageError } from "./command-line.js";
import { hermesVendor } from "./hermes-vendor.js";

const USAGE_EXIT_CODE = 2;

function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

async function run(commandLine: CommandLine): Promise<void> {
  if ("show" in commandLine) {
    process.stdout.write(commandLine.show === "help" ? HELP : `${packageVersion()}\n`);
    return;
  }
  await serveStdio(steeringAgent(hermesVendor({ ...commandLine, version: packageVersion() })));
  process.exit();
}

try {
  await run(readCommandLine(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`hermes-steering-acp: ${error.message}\nSee hermes-steering-acp --help\n`);
  process.exitCode = USAGE_EXIT_CODE;
}
