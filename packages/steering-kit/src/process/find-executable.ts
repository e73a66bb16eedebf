import { accessSync, constants, statSync } from "node:fs";
import { delimiter, extname, isAbsolute, resolve } from "node:path";

const isWindows = process.platform === "win32";
const WINDOWS_HINT = isWindows ? " In place of a .cmd file give node and the script that it starts." : "";

/** A command that is neither a path to an executable nor on PATH. */
export class ExecutableNotFoundError extends Error {
  readonly code = "executableNotFound";
  readonly command: string;

  constructor(command: string, install: string | undefined) {
    const next = install ? `Install it with \`${install}\`` : "Install it";
    super(`Cannot find the executable "${command}". ${next}, or give its full path.${WINDOWS_HINT}`);
    this.name = "ExecutableNotFoundError";
    this.command = command;
  }
}

/**
 * The absolute path of a command, as a shell would find it: a command with a slash relative to `cwd`, any other on PATH.
 *
 * @throws {@link ExecutableNotFoundError}
 * @example
 * ```ts
 * findExecutable("node", { cwd: process.cwd(), env: process.env });
 * ```
 */
export function findExecutable(
  command: string,
  options: { cwd: string; env: Readonly<Record<string, string | undefined>>; install?: string | undefined },
): string {
  const found = candidates(command, options).find(isExecutable);
  if (!found) throw new ExecutableNotFoundError(command, options.install);
  return found;
}

function candidates(
  command: string,
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): string[] {
  const hasFolder = isAbsolute(command) || command.includes("/") || (isWindows && command.includes("\\"));
  const folders = hasFolder ? [cwd] : pathOf(env).split(delimiter).filter(Boolean);
  return folders.flatMap((folder) => endings(command).map((ending) => resolve(cwd, folder, command + ending)));
}

function pathOf(env: Readonly<Record<string, string | undefined>>): string {
  return env["PATH"] ?? env["Path"] ?? "";
}

/** Windows starts only these without a shell; a `.cmd` shim needs its script to be started with node instead. */
function endings(command: string): string[] {
  return isWindows && extname(command) === "" ? [".exe", ".com"] : [""];
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
