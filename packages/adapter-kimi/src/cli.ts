#!/usr/bin/env node
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { serveStdio, steeringAgent } from "@acp-steering/kit";
import { runCommand } from "@acp-steering/kit/adapter";
import { HELP, type KimiCommandLine, type KimiFlags, readCommandLine } from "./command-line.js";
import { findKimi } from "./find-kimi.js";
import { kimiVendor } from "./kimi-vendor.js";

const NAME = "kimi-steering-acp";

await runCommand({
  name: NAME,
  help: HELP,
  manifest: new URL("../package.json", import.meta.url),
  read: readCommandLine,
  run: async (commandLine, version) => {
    try {
      await run(commandLine, version);
    } catch (error) {
      process.stderr.write(`${NAME}: ${(error as Error).message}\n`);
      process.exitCode = 1;
    }
  },
});

async function run(commandLine: KimiCommandLine, version: string): Promise<void> {
  if ("login" in commandLine) {
    process.exitCode = await login(commandLine.login);
    return;
  }
  // Clients start it in a terminal of theirs, where PATH may be another one.
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), "--login"];
  const vendor = kimiVendor({ ...commandLine.serve, login: { command: process.execPath, args }, version });
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
