import { execFile } from "node:child_process";
import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { findExecutable } from "@acp-steering/kit/process";

type Environment = Readonly<Record<string, string | undefined>>;

export interface FindPythonOptions {
  /** The interpreter that the user named. No other is tried then. */
  readonly python?: string | undefined;
  readonly env: Environment;
}

/** Names the interpreter for those who cannot change the command line, as in an editor's settings. */
const PYTHON_VARIABLE = "HERMES_STEERING_PYTHON";

const INSTALL = "Install Hermes Agent (https://hermes-agent.nousresearch.com), or name its interpreter with --python.";

/** No interpreter has Hermes. The message lists every place that was tried and what was found there. */
export class HermesNotFoundError extends Error {
  readonly code = "hermesNotFound";

  constructor(tried: readonly string[]) {
    super(`Cannot find Hermes Agent. ${INSTALL} Looked at:\n${tried.map((line) => `  ${line}`).join("\n")}`);
    this.name = "HermesNotFoundError";
  }
}

interface Candidate {
  /** Where the candidate comes from, for the error. */
  readonly origin: string;
  /** The interpreter's path, or why this place has none. */
  readonly path: string | { readonly missing: string };
}

/**
 * The Python interpreter of the user's Hermes: the one that was named, or the first of the usual places that has it.
 *
 * @throws {@link HermesNotFoundError}
 * @example
 * ```ts
 * const python = await findPython({ env: process.env });
 * ```
 */
export async function findPython(options: FindPythonOptions): Promise<string> {
  const tried: string[] = [];
  for (const { origin, path } of candidates(options)) {
    const found = typeof path === "string" ? await probe(path, options.env) : path;
    if (typeof found === "string") return found;
    tried.push(`${origin}: ${found.missing}`);
  }
  throw new HermesNotFoundError(tried);
}

function candidates({ python, env }: FindPythonOptions): Candidate[] {
  if (python !== undefined) return [named("--python", python, env)];
  const variable = env[PYTHON_VARIABLE];
  if (variable) return [named(PYTHON_VARIABLE, variable, env)];
  return [...installFolders(env).flatMap(interpretersIn), hermesCommand(env), named("python3 on PATH", "python3", env)];
}

function named(origin: string, command: string, env: Environment): Candidate {
  try {
    return { origin: `${origin} (${command})`, path: findExecutable(command, { cwd: process.cwd(), env }) };
  } catch {
    return { origin: `${origin} (${command})`, path: { missing: "no such executable" } };
  }
}

/** Where Hermes' own installers put it: where they were told to, for one user, for all. */
function installFolders(env: Environment): string[] {
  const told = env["HERMES_INSTALL_DIR"];
  const homes = [env["HERMES_HOME"], join(homedir(), ".hermes")].filter((home) => home !== undefined && home !== "");
  const ofUsers = homes.map((home) => join(home as string, "hermes-agent"));
  return [...new Set([...(told ? [told] : []), ...ofUsers, "/usr/local/lib/hermes-agent"])];
}

const INTERPRETER = process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"];

function interpretersIn(folder: string): Candidate[] {
  return ["venv", ".venv"].map((venv) => {
    const path = join(folder, venv, ...INTERPRETER);
    return { origin: path, path };
  });
}

/** The interpreter behind the `hermes` command: named in its first line, or beside what it starts. */
function hermesCommand(env: Environment): Candidate {
  const origin = "the hermes command on PATH";
  try {
    const script = realpathSync(findExecutable("hermes", { cwd: process.cwd(), env }));
    const path = interpreterOf(script, headOf(script));
    return { origin: `${origin} (${script})`, path: path ?? { missing: "it does not say which Python it uses" } };
  } catch {
    return { origin, path: { missing: "no such command" } };
  }
}

const HEAD_BYTES = 4_096;

function headOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(HEAD_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, HEAD_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** @returns the interpreter of a console script, or of the one that a shell shim starts with `exec` */
export function interpreterOf(script: string, head: string): string | undefined {
  const shebang = /^#!\s*(\S+)/.exec(head)?.[1];
  if (shebang && basename(shebang).startsWith("python")) return shebang;
  // pip writes this form where the path is too long for a first line, or has a space.
  const trampoline = /^'''exec'\s+"?([^"\n]*?python[^"\s]*)"?\s/m.exec(head)?.[1];
  if (trampoline) return trampoline;
  const started = /^\s*exec\s+"?([^"\s$]+)"?/m.exec(head)?.[1] ?? assigned(head);
  if (started) return join(dirname(started), INTERPRETER[1] ?? "python");
  return process.platform === "win32" ? join(dirname(script), "python.exe") : undefined;
}

/** `HERMES_BIN="/path/hermes"` followed by `exec "$HERMES_BIN" "$@"`. */
function assigned(head: string): string | undefined {
  const variable = /^\s*exec\s+"?\$\{?(\w+)\}?"?/m.exec(head)?.[1];
  if (!variable) return undefined;
  return new RegExp(`^\\s*(?:export\\s+)?${variable}=["']?([^"'\\n$]+)["']?`, "m").exec(head)?.[1];
}

const PROBE = `
import importlib.util, sys
if sys.version_info < (3, 11): sys.exit("Python %d.%d, Hermes needs 3.11 or newer" % sys.version_info[:2])
if not all(importlib.util.find_spec(name) for name in ("run_agent", "hermes_cli")): sys.exit("has no Hermes")
`;
const PROBE_TIMEOUT_MS = 20_000;

async function probe(path: string, env: Environment): Promise<string | { missing: string }> {
  try {
    await promisify(execFile)(path, ["-c", PROBE], { env: pythonEnvironment(env), timeout: PROBE_TIMEOUT_MS });
    return path;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") return { missing: "not there" };
    return { missing: stderr?.trim().split("\n").at(-1) || (error as Error).message };
  }
}

/** Another Python's folders would be mixed into that of Hermes. */
export function pythonEnvironment(env: Environment): NodeJS.ProcessEnv {
  const { PYTHONPATH: _path, PYTHONHOME: _home, ...rest } = env;
  return rest;
}
