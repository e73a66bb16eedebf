#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { COMMANDS } from "./commands.js";
import { EXIT } from "./exit-codes.js";
import { UsageError } from "./usage-error.js";

const HELP = `Usage: acp-steer <command> [options]

${COMMANDS.map(({ name, summary }) => `  ${name.padEnd(10)}${summary}`).join("\n")}

  acp-steer <command> --help shows a command's options; --help, --version
`;

function packageVersion(): string {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === "--help" || name === "-h") return show(HELP);
  if (name === "--version" || name === "-v") return show(`${packageVersion()}\n`);
  const entry = COMMANDS.find((candidate) => candidate.name === name);
  if (entry === undefined) return complain(unknownCommand(name), "acp-steer --help");
  const command = await entry.load();
  if (isHelpWanted(args)) return show(command.help);
  try {
    return await command.run(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return complain(error.message, `acp-steer ${entry.name} --help`);
  }
}

const unknownCommand = (name: string | undefined): string =>
  name === undefined ? "Give a command." : `There is no command "${name}".`;

/** What stands behind `--` belongs to somebody else. */
function isHelpWanted(args: readonly string[]): boolean {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  return own.includes("--help") || own.includes("-h");
}

function show(text: string): number {
  process.stdout.write(text);
  return EXIT.fine;
}

function complain(message: string, help: string): number {
  process.stderr.write(`acp-steer: ${message}\nSee ${help}\n`);
  return EXIT.notRun;
}

// Not Node's own exit code 1, which says something of an agent here.
process.on("uncaughtException", (error) => {
  process.stderr.write(`acp-steer: a fault of its own: ${error.stack ?? error.message}\n`);
  process.exit(EXIT.notRun);
});
process.exitCode = await main(process.argv.slice(2));
