import { readFileSync } from "node:fs";
import { type ParseArgsConfig, parseArgs } from "node:util";

const USAGE_EXIT_CODE = 2;

/** A day. A timer of Node's that is set for longer than 24 of them fires at once. */
const MAX_SECONDS = 86_400;

/** A command line that cannot be carried out; the message says why and what is right. */
export class UsageError extends Error {}

/** One line to stderr, in the name of the adapter. Never give it prompt text unless the user asked for content. */
export type Log = (line: string) => void;

/** @param name the adapter's command, with which each line begins */
export function logAs(name: string): Log {
  return (line) => {
    process.stderr.write(`${name}: ${line.replaceAll("\n", " ")}\n`);
  };
}

/**
 * `parseArgs` of Node.
 * @throws UsageError with Node's own message
 */
export function parseFlags<Config extends ParseArgsConfig>(config: Config): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * The value of an option that takes seconds.
 * @throws UsageError where it is no number above 0 and up to a day
 */
export function secondsOf(option: string, value: string): number {
  const seconds = Number(value);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new UsageError(`${option} takes a number of seconds up to ${MAX_SECONDS}, not "${value}".`);
}

/** Help or the version, in the place of what the command is for. */
export interface Show {
  readonly show: "help" | "version";
}

/** An adapter as a command. */
export interface AdapterCommand<CommandLine extends object> {
  readonly name: string;
  readonly help: string;
  /** The package.json that has the version. */
  readonly manifest: URL;
  /** Reads the arguments after the script's name. May throw {@link UsageError}. */
  readonly read: (args: readonly string[]) => CommandLine | Show | Promise<CommandLine | Show>;
  readonly run: (commandLine: CommandLine, version: string) => Promise<void>;
}

/**
 * Runs an adapter's command on this process's arguments. Help and version go to stdout; a wrong command line is a line on
 * stderr and exit code 2.
 *
 * @example
 * ```ts
 * await runCommand({
 *   name: "my-steering-acp", help: HELP, manifest: new URL("../package.json", import.meta.url), read: readCommandLine,
 *   run: (commandLine, version) => serveStdio(steeringAgent(myVendor({ ...commandLine, version }))),
 * });
 * ```
 */
export async function runCommand<CommandLine extends object>(command: AdapterCommand<CommandLine>): Promise<void> {
  const { name, help, manifest, read, run } = command;
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  let commandLine: CommandLine | Show;
  try {
    commandLine = await read(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${name}: ${error.message}\nSee ${name} --help\n`);
    process.exitCode = USAGE_EXIT_CODE;
    return;
  }
  if ("show" in commandLine) process.stdout.write(commandLine.show === "help" ? help : `${version}\n`);
  else await run(commandLine, version);
}
