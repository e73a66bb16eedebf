// Runs before anything is installed: Node's own modules only.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withFileLock } from "./file-lock.mjs";
import { captureNode, ROOT, runNpm, say, toolScript } from "./repository.mjs";

const MODULES = join(ROOT, "node_modules");
const STAMP = join(MODULES, ".installed-lockfile");

/**
 * Makes a fresh clone ready: installs what the lockfile names and builds the packages. Does nothing that has been done.
 *
 * @returns {Promise<void>}
 * @throws {Error} with what failed and what to do
 */
export async function prepare() {
  mkdirSync(MODULES, { recursive: true });
  await withFileLock(
    join(MODULES, ".bootstrap.lock"),
    async () => {
      await install();
      await build();
    },
    (holder) => say(`Waiting for process ${holder}, which is setting up this repository.`),
  );
}

async function install() {
  const wanted = fingerprint();
  if (existsSync(STAMP) && readFileSync(STAMP, "utf8") === wanted) {
    return;
  }
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  say(`Installing the workspace with ${packageManager} (once per lockfile) …`);
  rmSync(STAMP, { force: true });
  const reporter = process.stderr.isTTY ? "default" : "append-only";
  const pnpm = ["pnpm", "install", "--frozen-lockfile", "--loglevel=info", `--reporter=${reporter}`];
  const code = await runNpm(["exec", "--loglevel=error", "--yes", `--package=${packageManager}`, "--", ...pnpm]);
  if (code !== 0) {
    throw new Error(
      `The installation failed (exit code ${code}). Its own message is above; npm has to reach a package registry.`,
    );
  }
  writeFileSync(STAMP, wanted);
}

/** What an installation depends on. */
function fingerprint() {
  const hash = createHash("sha256");
  for (const name of ["pnpm-lock.yaml", "pnpm-workspace.yaml"]) {
    hash.update(readFileSync(join(ROOT, name)));
  }
  return hash.update(process.version).digest("hex");
}

async function build() {
  say("Building what has changed …");
  const turbo = [toolScript("turbo"), "run", "build", "--output-logs=errors-only", "--log-order=grouped"];
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: "1", TURBO_NO_UPDATE_NOTIFIER: "1" };
  const { code, output } = await captureNode(turbo, { env });
  if (code !== 0) {
    say(output);
    throw new Error(`The build failed (exit code ${code}). The message of the package that failed is above.`);
  }
}
