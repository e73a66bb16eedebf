import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { VendorError } from "@acp-steering/kit";
import { findExecutable } from "@acp-steering/kit/process";

type Environment = Readonly<Record<string, string | undefined>>;

/** Names the Node.js for those who cannot change the command line, as in an editor's settings. */
const NODE_VARIABLE = "KIMI_NODE";

/** Kimi Code's own `engines.node`. */
const OLDEST: readonly [number, number] = [22, 19];

/**
 * A Node.js that can run Kimi Code: the one that was named, else the one that runs us, else the newest that PATH or a
 * version manager has.
 *
 * @throws VendorError `nodeTooOld` with what was found
 */
export async function findNode({ node, env }: { node?: string | undefined; env: Environment }): Promise<string> {
  const named = node ?? env[NODE_VARIABLE];
  if (named !== undefined && named !== "") return assertNew(findExecutable(named, { cwd: process.cwd(), env }));
  if (isNewEnough(process.version)) return process.execPath;
  for (const path of candidates(env)) if (isNewEnough(await versionOf(path))) return path;
  throw tooOld(`the one that runs this adapter is ${process.version}, and no newer one was found`);
}

async function assertNew(path: string): Promise<string> {
  const version = await versionOf(path);
  if (isNewEnough(version)) return path;
  throw tooOld(`"${path}" is ${version ?? "none"}`);
}

function tooOld(found: string): VendorError {
  return new VendorError(
    `Kimi Code runs on Node.js ${OLDEST.join(".")} or newer; ${found}. Name a newer one with --node or ${NODE_VARIABLE}, ` +
      "or use Kimi's own installer (https://www.kimi.com/code), which needs none.",
    { data: { reason: "nodeTooOld" } },
  );
}

function candidates(env: Environment): string[] {
  const name = process.platform === "win32" ? "node.exe" : "node";
  const onPath = (env["PATH"] ?? env["Path"] ?? "").split(delimiter).filter(Boolean);
  const home = homedir();
  const managed = [
    ...versionsIn(join(env["NVM_DIR"] ?? join(home, ".nvm"), "versions", "node"), "bin"),
    ...versionsIn(join(home, ".volta", "tools", "image", "node"), "bin"),
    ...versionsIn(join(home, ".local", "share", "fnm", "node-versions"), join("installation", "bin")),
  ];
  return [...onPath, ...managed].map((folder) => join(folder, name)).filter((path) => existsSync(path));
}

/** Newest first. */
function versionsIn(folder: string, inner: string): string[] {
  try {
    const names = readdirSync(folder).sort((left, right) => right.localeCompare(left, "en", { numeric: true }));
    return names.map((name) => join(folder, name, inner));
  } catch {
    return [];
  }
}

async function versionOf(path: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)(path, ["--version"], { timeout: 5_000 });
    return stdout.trim();
  } catch {
    return undefined;
  }
}

function isNewEnough(version: string | undefined): boolean {
  const [, major, minor] = /^v(\d+)\.(\d+)\./.exec(version ?? "") ?? [];
  if (major === undefined || minor === undefined) return false;
  return Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1]);
}
