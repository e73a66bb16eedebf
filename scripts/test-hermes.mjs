import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { withFileLock } from "./file-lock.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, say, toolScript } from "./repository.mjs";

const PACKAGE = "hermes-agent==0.19.0";
const CONFIG = join(ROOT, "packages", "adapter-hermes", "test-hermes", "vitest.config.ts");
/** Hermes 0.19 runs on these; the first that is there and can make a virtual environment is taken. */
const PYTHONS = ["python3.11", "python3.12", "python3.13", "python3", "python"];
const PROBE = "import sys, venv, ensurepip; print('%d.%d.%d' % sys.version_info[:3])";

// The tests against the real Hermes, installed into a folder that git does not see.
await main(async () => {
  await prepare();
  const python = await ensureHermes();
  const env = { ...process.env, HERMES_STEERING_PYTHON: python };
  return runNode([toolScript("vitest"), "run", "--config", CONFIG, ...process.argv.slice(2)], {
    env,
    stdout: "inherit",
  });
});

/** @returns {Promise<string>} the interpreter with Hermes */
async function ensureHermes() {
  const { command, version } = findPython();
  const parent = join(ROOT, "node_modules", ".cache");
  const folder = join(parent, `hermes-${version}`);
  const stamp = join(folder, ".installed");
  const python = join(folder, ...(process.platform === "win32" ? ["Scripts", "python.exe"] : ["bin", "python"]));
  mkdirSync(parent, { recursive: true });
  await withFileLock(
    `${folder}.lock`,
    async () => {
      if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== PACKAGE) {
        install(command, folder, python);
        writeFileSync(stamp, PACKAGE);
      }
    },
    (holder) => say(`Waiting for process ${holder}, which is installing Hermes.`),
  );
  return python;
}

/** @returns {{ command: string, version: string }} */
function findPython() {
  for (const command of PYTHONS) {
    const { status, stdout } = spawnSync(command, ["-c", PROBE], { encoding: "utf8" });
    const version = status === 0 ? stdout.trim() : "";
    if (/^3\.(11|12|13)\./.test(version)) {
      return { command, version };
    }
  }
  throw new Error(
    `Hermes needs Python 3.11 to 3.13 with venv; none of ${PYTHONS.join(", ")} is one. Install Python, then run this again.`,
  );
}

/**
 * @param {string} command of the interpreter that makes the environment
 * @param {string} folder of the environment
 * @param {string} python in the environment
 */
function install(command, folder, python) {
  say(`Installing ${PACKAGE} into a virtual environment (once; up to a minute) …`);
  rmSync(folder, { recursive: true, force: true });
  run(command, ["-m", "venv", folder], "The virtual environment could not be made.");
  const pip = ["-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--quiet", PACKAGE];
  run(python, pip, `${PACKAGE} could not be installed: pip has to reach a Python package index.`);
  say(`Installed ${PACKAGE}.`);
}

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} what the error says where it fails
 */
function run(command, args, what) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ["ignore", 2, 2] });
  if (status !== 0) {
    throw new Error(`${what} ${error ? error.message : "Its own message is above."}`);
  }
}
