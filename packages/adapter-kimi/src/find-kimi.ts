import { closeSync, openSync, readSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { VendorError } from "@acp-steering/kit";
import { findExecutable } from "@acp-steering/kit/process";
import { findNode } from "./find-node.js";

type Environment = Readonly<Record<string, string | undefined>>;

export interface FindKimiOptions {
  /** What the user named as Kimi, by path or as a command on PATH. No other is tried then. */
  readonly kimi?: string | undefined;
  /** What the user named as the Node.js that runs it. No other is tried then. */
  readonly node?: string | undefined;
  readonly env: Environment;
}

/** How Kimi is started: the executable and what comes before Kimi's own arguments. */
export interface KimiCommand {
  readonly executable: string;
  readonly args: readonly string[];
  /** Kimi's own file, for what a terminal has to start. */
  readonly kimi: string;
}

const INSTALL = "Install Kimi Code (https://www.kimi.com/code, or `npm install -g @moonshot-ai/kimi-code`)";

/**
 * The user's Kimi Code: the one that was named, else the one on PATH, in a `node_modules` next to the working folder or to
 * this package, or where its installer puts it. One that is a script gets a Node.js that can run it.
 *
 * @throws VendorError `agentNotFound` with what was looked at, `nodeTooOld` where no Node.js can run it
 * @example
 * ```ts
 * await findKimi({ env: process.env }); // { executable: "/usr/bin/node", args: ["/usr/lib/node_modules/…/main.mjs"], … }
 * ```
 */
export async function findKimi({ kimi, node, env }: FindKimiOptions): Promise<KimiCommand> {
  const path = locate(kimi, env);
  if (!isNodeScript(path)) return { executable: path, args: [], kimi: path };
  return { executable: await findNode({ node, env }), args: [path], kimi: path };
}

function locate(kimi: string | undefined, env: Environment): string {
  const places = kimi === undefined ? usualPlaces(env) : [kimi];
  for (const command of places) {
    const found = executableAt(command, env);
    if (found) return realpathSync(found);
  }
  const next = kimi === undefined ? `${INSTALL}, or name it with --kimi` : `${INSTALL}, or name another with --kimi`;
  throw new VendorError(`Cannot find Kimi Code. ${next}. Looked at: ${places.join(", ")}.`, {
    data: { reason: "agentNotFound" },
  });
}

const isWindows = process.platform === "win32";
/** Where npm puts it in a `node_modules`. Its command on Windows is a `.cmd`, which only a shell can start. */
const IN_MODULES = isWindows ? join("@moonshot-ai", "kimi-code", "dist", "main.mjs") : join(".bin", "kimi");

function usualPlaces(env: Environment): string[] {
  const home = env["KIMI_CODE_HOME"] ?? join(homedir(), ".kimi-code");
  const folders = [...ancestors(process.cwd()), ...ancestors(dirname(fileURLToPath(import.meta.url)))];
  const name = isWindows ? "kimi.exe" : "kimi";
  const ofNpm = isWindows && env["APPDATA"] !== undefined ? [join(env["APPDATA"], "npm")] : [];
  return [
    "kimi",
    ...new Set([...folders, ...ofNpm].map((folder) => join(folder, "node_modules", IN_MODULES))),
    join(home, "bin", name),
    join(homedir(), ".kimi-code", "bin", name),
    join(homedir(), ".local", "bin", name),
  ];
}

function ancestors(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}

function executableAt(command: string, env: Environment): string | undefined {
  try {
    return findExecutable(command, { cwd: process.cwd(), env });
  } catch {
    return undefined;
  }
}

const SCRIPT_START = /^#!.*\bnode\b/;

/** The npm package is a script; the installer's `kimi` is a program of its own. */
function isNodeScript(path: string): boolean {
  if (/\.[cm]?js$/.test(path)) return true;
  const start = Buffer.alloc(64);
  const file = openSync(path, "r");
  try {
    readSync(file, start, 0, start.length, 0);
  } finally {
    closeSync(file);
  }
  return SCRIPT_START.test(start.toString("latin1"));
}
