import { fork } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join, relative } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, say, workspacePackages } from "./repository.mjs";

await main(async () => {
  await prepare();
  const wanted = process.argv.slice(2);
  const files = benchFiles().filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)));
  const benches = [];
  for (const file of files) {
    say(`${relative(ROOT, file)} …`);
    benches.push({ file: relative(ROOT, file).replaceAll("\\", "/"), rows: await runBench(file) });
  }
  save(benches);
});

/** @returns {string[]} */
function benchFiles() {
  return workspacePackages()
    .map(({ folder }) => join(folder, "bench"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
    .filter((path) => path.endsWith(".bench.mjs"))
    .sort();
}

/**
 * Each bench has a process of its own, so that none measures the garbage of the one before.
 *
 * @param {string} file
 * @returns {Promise<unknown>} its rows
 */
function runBench(file) {
  const child = fork(join(ROOT, "scripts", "bench-process.mjs"), [file], { cwd: ROOT });
  return new Promise((resolve, reject) => {
    /** @type {unknown} */
    let rows;
    child.once("message", (message) => {
      rows = message;
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      if (code === 0 && Array.isArray(rows)) {
        resolve(rows);
      } else {
        reject(
          new Error(
            `${relative(ROOT, file)} ended with exit code ${code} and ${rows === undefined ? "no" : "its"} rows.`,
          ),
        );
      }
    });
  });
}

/** @param {readonly unknown[]} benches */
function save(benches) {
  const folder = join(ROOT, "bench");
  mkdirSync(folder, { recursive: true });
  const machine = { node: process.version, platform: `${process.platform}-${process.arch}`, processors: cpus().length };
  writeFileSync(join(folder, "results.json"), `${JSON.stringify({ machine, benches }, null, 2)}\n`);
  say(`${benches.length} benches, results in bench/results.json.`);
}
