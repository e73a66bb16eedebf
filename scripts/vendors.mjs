import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "./file-lock.mjs";
import { ROOT, runNpm, say } from "./repository.mjs";

const EXECUTABLES = {
  pi: "pi",
  "pi-next": "pi",
  "claude-agent-acp": "claude-agent-acp",
  "codex-acp": "codex-acp",
  node24: "node",
  kimi: "kimi",
  verdaccio: "verdaccio",
};

/**
 * Installs a real vendor when it is first needed, and again when its lockfile changed.
 *
 * @param {keyof typeof EXECUTABLES} name a folder of `vendors/`
 * @returns {Promise<string>} the path of its executable
 */
export async function ensureVendor(name) {
  const folder = join(ROOT, "vendors", name);
  if (!isInstalled(folder)) {
    await withFileLock(
      join(folder, ".install.lock"),
      () => install(folder, name),
      (holder) => say(`Waiting for process ${holder}, which is installing ${name}.`),
    );
  }
  const suffix = process.platform === "win32" ? ".cmd" : "";
  return join(folder, "node_modules", ".bin", `${EXECUTABLES[name]}${suffix}`);
}

/**
 * @param {string} folder
 * @param {string} name
 */
async function install(folder, name) {
  if (isInstalled(folder)) {
    return;
  }
  say(`Installing the real ${name} (once; up to a minute) …`);
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--progress=true"];
  const code = await runNpm(["ci", ...options], { cwd: folder, env: ownEnvironment() });
  if (code !== 0) {
    throw new Error(
      `The installation of ${name} failed (exit code ${code}). Its own message is above; npm has to reach a package registry.`,
    );
  }
  writeFileSync(stampOf(folder), fingerprint(folder));
  say(`Installed ${name}.`);
}

/**
 * @param {string} folder
 * @returns {boolean}
 */
function isInstalled(folder) {
  const stamp = stampOf(folder);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint(folder);
}

/**
 * @param {string} folder
 * @returns {string}
 */
function stampOf(folder) {
  return join(folder, "node_modules", ".installed-lockfile");
}

/**
 * @param {string} folder
 * @returns {string}
 */
function fingerprint(folder) {
  return createHash("sha256")
    .update(readFileSync(join(folder, "package-lock.json")))
    .digest("hex");
}

/**
 * Without what npm or pnpm told the script that called us: it would beat the settings of the vendor's folder.
 * A registry or proxy named by the user in the environment stays.
 */
function ownEnvironment() {
  const told =
    /^(npm_(package|lifecycle|command|config_(local_prefix|global_prefix|prefix|workspace|loglevel|omit|include))|pnpm_)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !told.test(name)));
}
