#!/usr/bin/env node
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serveStdio, steeringAgent } from "@acp-steering/kit";
import { type CommandLine, HELP, type KimiFlags, readCommandLine, UsageError } from "./command-line.js";
import { findKimi } from "./find-kimi.js";
import { kimiVendor } from "./kimi-vendor.js";

const USAGE_EXIT_CODE = 2;

function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

async function run(commandLine: CommandLine, args: readonly string[]): Promise<void> {
  if ("show" in commandLine) {
    process.stdout.write(commandLine.show === "help" ? HELP : `${packageVersion()}\n`);
    return;
  }
  if ("login" in commandLine) {
    process.exitCode = await login(commandLine.login);
    return;
  }
  // Clients start it in a terminal of theirs, where PATH may be another one.
  const again = { command: process.execPath, args: [fileURLToPath(import.meta.url), ...args, "--login"] };
  const vendor = kimiVendor({ ...commandLine.serve, login: again, version: packageVersion() });
  await serveStdio(steeringAgent(vendor));
  process.exit();
}

/** Kimi's own sign-in, which talks to the user itself. */
async function login({ home, ...flags }: KimiFlags): Promise<number> {
  const env = { ...process.env, ...(home !== undefined && { KIMI_CODE_HOME: home }) };
  const { executable, args } = await findKimi({ ...flags, env });
  const child = spawn(executable, [...args, "login"], { env, stdio: "inherit" });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

try {
  const args = process.argv.slice(2);
  await run(readCommandLine(args), args);
} catch (error) {
  const { message } = error as Error;
  const usage = error instanceof UsageError;
  process.stderr.write(`kimi-steering-acp: ${message}\n${usage ? "See kimi-steering-acp --help\n" : ""}`);
  process.exitCode = usage ? USAGE_EXIT_CODE : 1;
}
