import { prepare } from "./bootstrap.mjs";
import { houseFaults } from "./check-house.mjs";
import { linkFaults } from "./check-links.mjs";
import { checkPackages } from "./check-packages.mjs";
import { checkSnippets } from "./check-snippets.mjs";
import { main } from "./main.mjs";
import { runNode, say, toolScript, workspacePackages } from "./repository.mjs";

/** @type {[name: string, hasPassed: () => boolean | Promise<boolean>][]} */
const STEPS = [
  ["types", checkTypes],
  ["lint and format", () => passes("@biomejs/biome", ["check", "--error-on-warnings"], "biome")],
  ["unused code", () => passes("knip", ["--no-progress", "--no-config-hints"])],
  ["packages", checkPackages],
  ["snippets of the READMEs and docs", checkSnippets],
  ["links of all pages", () => none(linkFaults())],
  ["house rules", () => none(houseFaults())],
  ["every branch of core", checkBranches],
  ["the core as it was built", checkBuilt],
];

await main(async () => {
  await prepare();
  const failed = [];
  for (const [name, hasPassed] of STEPS) {
    say(`check: ${name} …`);
    if (!(await hasPassed())) {
      failed.push(name);
    }
  }
  say(failed.length === 0 ? "check: all passed" : `check: FAILED: ${failed.join(", ")}`);
  return failed.length === 0 ? 0 : 1;
});

/** The root sees tests and scripts too; each package alone has the narrower world its sources may use. */
async function checkTypes() {
  const projects = [".", ...workspacePackages().map(({ folder }) => folder)];
  const results = [];
  for (const project of projects) {
    results.push(await passes("typescript", ["-p", project], "tsc"));
  }
  return results.every(Boolean);
}

/** By the tests of single guarantees alone; the searches through worlds and schedules would hide what they leave out. */
function checkBranches() {
  const tests = ["packages/steering-core/test", "--exclude=**/properties/**", "--exclude=**/worlds.test.ts"];
  const sources = "--coverage.include=packages/steering-core/src/*.ts";
  const coverage = ["--coverage.enabled", "--coverage.reporter=text-summary", "--coverage.thresholds.branches=100"];
  return passes("vitest", ["run", "--silent=true", ...tests, ...coverage, sources]);
}

/** The build shortens the names that are the core's own: one too many, and what was built is not what was tested. */
function checkBuilt() {
  return passes("vitest", ["run", "--silent=true", "--config", "packages/steering-core/built/vitest.config.ts"]);
}

/**
 * @param {readonly string[]} faults
 * @returns {boolean} whether there are none; those that there are are said
 */
function none(faults) {
  for (const fault of faults) {
    say(fault);
  }
  return faults.length === 0;
}

/**
 * @param {string} packageName
 * @param {readonly string[]} argv
 * @param {string} [binary]
 */
async function passes(packageName, argv, binary) {
  return (await runNode([toolScript(packageName, binary), ...argv])) === 0;
}
