import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository, absolute. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url)).replace(/[\\/]$/, "");

const BINARIES = join(ROOT, "node_modules", ".bin");

/**
 * Writes one line for the person who waits. Standard output belongs to the command itself.
 *
 * @param {string} line
 */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/**
 * The script file of an installed tool, to be run with `process.execPath`: works on Windows too, where `.bin` has shell wrappers.
 *
 * @param {string} packageName for example `typescript`
 * @param {string} [binary] the name under `bin` of its package.json, where it has several
 * @returns {string}
 */
export function toolScript(packageName, binary = packageName) {
  const folder = join(ROOT, "node_modules", packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[binary]);
}

/**
 * Runs a Node script and waits for its end.
 *
 * @param {readonly string[]} commandLine script and arguments
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, stdout?: "inherit" | "stderr" | "ignore" }} [options]
 *   `stdout: "stderr"` (the default) keeps our own standard output clean
 * @returns {Promise<number>} the exit code; 1 where a signal ended it
 */
export function runNode(commandLine, options = {}) {
  return runCommand([process.execPath, ...commandLine], options);
}

/**
 * Runs a Node script whose output matters only if it fails.
 *
 * @param {readonly string[]} commandLine script and arguments
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv }} [options]
 * @returns {Promise<{ code: number, output: string }>} both streams, in the order in which they were written
 */
export async function captureNode(commandLine, options = {}) {
  const chunks = /** @type {Buffer[]} */ ([]);
  const child = start([process.execPath, ...commandLine], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (chunk) => chunks.push(chunk));
  }
  const code = await ending(child, "close");
  return { code, output: Buffer.concat(chunks).toString("utf8") };
}

/**
 * Runs npm, the one that started us where there is one.
 *
 * @param {readonly string[]} argv
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, stdout?: "inherit" | "stderr" | "ignore" }} [options]
 * @returns {Promise<number>} the exit code
 */
export function runNpm(argv, options = {}) {
  const script = process.env["npm_execpath"];
  // Under pnpm or yarn the variable names those instead.
  return script?.endsWith("npm-cli.js")
    ? runNode([script, ...argv], options)
    : runCommand(["npm", ...argv], { ...options, shell: process.platform === "win32" });
}

/**
 * @param {readonly string[]} commandLine
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, stdout?: "inherit" | "stderr" | "ignore", shell?: boolean }} options
 * @returns {Promise<number>}
 */
function runCommand(commandLine, { stdout = "stderr", ...options }) {
  return ending(start(commandLine, { ...options, stdio: ["ignore", stdout === "stderr" ? 2 : stdout, 2] }), "exit");
}

/**
 * @param {readonly string[]} commandLine
 * @param {import("node:child_process").SpawnOptions} options
 */
function start([command = "", ...argv], { cwd = ROOT, env = process.env, ...options }) {
  return spawn(command, argv, { ...options, cwd, env: withTools(env) });
}

/**
 * @param {import("node:child_process").ChildProcess} child
 * @param {"exit" | "close"} event
 * @returns {Promise<number>} the exit code; 1 where a signal ended it
 */
function ending(child, event) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once(event, (code) => resolve(code ?? 1));
  });
}

/**
 * turbo looks for pnpm on the PATH, where a machine with npm alone has none; the workspace installs it.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
function withTools(env) {
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH") ?? "PATH";
  return { ...env, [name]: [BINARIES, env[name]].filter(Boolean).join(delimiter) };
}

/**
 * @typedef {object} WorkspacePackage
 * @property {string} folder absolute
 * @property {string} name
 * @property {boolean} isPublished
 */

/**
 * The packages of the workspace and its apps, each by folder name.
 *
 * @returns {WorkspacePackage[]}
 */
export function workspacePackages() {
  const folders = ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(ROOT, parent))
      .sort()
      .map((name) => join(ROOT, parent, name)),
  );
  return folders.map((folder) => {
    const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return { folder, name: manifest.name, isPublished: manifest.private !== true };
  });
}
