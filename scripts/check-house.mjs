import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./repository.mjs";

const MAXIMUM_LINES = 420;
const SOURCE = /^((packages|apps)\/[^/]+\/(src|test|bench)|scripts)\/.*\.m?[jt]s$/;
const BINARY = /\.(png|jpe?g|gif|webp|ico|woff2?|tgz)$/;

/** Lines that must not be in a repository that others clone. Written so that this file does not match itself. */
const UNWANTED = /** @type {const} */ ([
  [/(?<![\w.~-])\/(work|tmp|root)\//, "a path of one machine"],
  [/(?<![\w.~-])\/(home|Users)\/[a-z]/, "a path of one machine"],
  [/registry\.(npmjs|yarnpkg|npmmirror)\.|npm\.pkg\.github/, "the host of a package registry"],
  [/\b(TO[D]O|FIX[M]E)\b/, "an unfinished note"],
]);

/**
 * @returns {string[]} one line per fault: file, line, what
 */
export function houseFaults() {
  return repositoryFiles().flatMap((path) => faultsOf(path, readFileSync(join(ROOT, path), "utf8")));
}

/**
 * @param {string} path relative to the repository, with `/`
 * @param {string} text
 * @returns {string[]}
 */
export function faultsOf(path, text) {
  const lines = text.split("\n");
  const faults = lines.flatMap((line, index) =>
    UNWANTED.filter(([pattern]) => pattern.test(line)).map(([, what]) => `${path}:${index + 1}: ${what}`),
  );
  // The last line ends with a line feed.
  const count = lines.length - 1;
  if (SOURCE.test(path) && count > MAXIMUM_LINES) {
    faults.push(`${path}: ${count} lines, more than ${MAXIMUM_LINES}: split it by what it is about`);
  }
  return faults;
}

/** @returns {string[]} tracked files and those about to be */
export function repositoryFiles() {
  const listing = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return listing.split("\0").filter((path) => path !== "" && !BINARY.test(path) && existsSync(join(ROOT, path)));
}
