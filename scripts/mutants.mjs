import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { MUTANTS } from "../packages/steering-core/mutants/mutants.mjs";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, say, toolScript } from "./repository.mjs";

const CORE = join("packages", "steering-core");
const CONFIG = join(ROOT, CORE, "mutants", "vitest.config.ts");
const AT_ONCE = 2;
const MAXIMUM_MS = 300_000;
const MAXIMUM_BYTES = 67_108_864;
const SLOW = ["**/test/machine/**", "**/test/properties/**"];

/** The quick tests first: most mutants need no more. @type {readonly (readonly [name: string, argv: readonly string[]])[]} */
const STAGES = [
  ["tests", [join(CORE, "test"), ...SLOW.flatMap((pattern) => ["--exclude", pattern])]],
  ["machine", [join(CORE, "test", "machine", "worlds.test.ts")]],
  ["properties", [join(CORE, "test", "properties")]],
];

/** Threads end with their process, also where a mutant never gives one back. */
const OPTIONS = ["--bail", "1", "--maxWorkers", "1", "--pool", "threads", "--no-isolate", "--reporter", "dot"];

/** Runs the core's tests against each mutant, or against those whose number is given; every one of them must fail. */
await main(async () => {
  await prepare();
  const wanted = process.argv.slice(2).map(Number);
  const numbers = wanted.length > 0 ? wanted : [...MUTANTS.keys()];
  if ((await killerOf(undefined)) !== undefined) throw new Error("The tests fail without a mutant; repair them first.");
  const killers = await inTurns(numbers, async (number) => {
    const killer = await killerOf(number);
    say(lineOf(number, killer));
    return killer;
  });
  console.log(numbers.map((number, index) => lineOf(number, killers[index])).join("\n"));
  const alive = killers.filter((killer) => killer === undefined).length;
  console.log(`${numbers.length - alive} of ${numbers.length} mutants killed.`);
  return alive === 0 ? 0 : 1;
});

/**
 * @param {number} number
 * @param {string | undefined} killer
 */
function lineOf(number, killer) {
  const { file, breaks } = /** @type {import("../packages/steering-core/mutants/mutants.mjs").Mutant} */ (
    MUTANTS[number]
  );
  return [String(number).padStart(3), (killer ?? "SURVIVED").padEnd(10), file.padEnd(12), breaks].join("  ");
}

/**
 * @param {number | undefined} number of the mutant; none for the sources as they are
 * @returns {Promise<string | undefined>} the stage that fails
 */
async function killerOf(number) {
  const env = number === undefined ? process.env : { ...process.env, MUTANT: String(number) };
  for (const [name, argv] of STAGES) if (!(await passes(argv, env))) return name;
  return undefined;
}

/**
 * @param {readonly string[]} argv
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<boolean>} a mutant may never come to an end: that is noticed too
 */
async function passes(argv, env) {
  try {
    await promisify(execFile)(
      process.execPath,
      [toolScript("vitest"), "run", "--config", CONFIG, ...OPTIONS, ...argv],
      {
        cwd: ROOT,
        env,
        maxBuffer: MAXIMUM_BYTES,
        timeout: MAXIMUM_MS,
        killSignal: "SIGKILL",
      },
    );
    return true;
  } catch {
    return false;
  }
}

/**
 * @template Item, Result
 * @param {readonly Item[]} items
 * @param {(item: Item) => Promise<Result>} body
 * @returns {Promise<Result[]>} in the order of the items
 */
async function inTurns(items, body) {
  const results = /** @type {Result[]} */ ([]);
  const entries = items.entries();
  const worker = async () => {
    for (const [index, item] of entries) results[index] = await body(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}
