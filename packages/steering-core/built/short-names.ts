import { readdirSync, readFileSync } from "node:fs";
import { FAMILIES, NAMES } from "./internal-names.js";

/** In the order in which the minifier gives them to local names: what is alike compresses well. */
const LETTERS = "etrasniodlucpmfghvIbywxjMkqRCBTSAOUPNDGzLEHFJWKQVXYZ";

const SOURCES = new URL("../src/", import.meta.url);

/**
 * A letter for each internal name, no two in one family alike. The names that are used most choose first.
 *
 * @returns letters by name
 */
export function shortNames(): Record<string, string> {
  const source = readdirSync(SOURCES)
    .map((file) => readFileSync(new URL(file, SOURCES), "utf8"))
    .join("\n")
    .replace(/\/\*[\s\S]*?\*\//g, "");
  const uses = new Map(NAMES.map((name) => [name, source.split(new RegExp(`\\b${name}\\b`)).length]));
  const short: Record<string, string> = {};
  for (const name of [...NAMES].sort((one, other) => (uses.get(other) ?? 0) - (uses.get(one) ?? 0))) {
    const relatives = FAMILIES.filter((family) => family.includes(name)).flat();
    const taken = relatives.map((relative) => short[relative]);
    short[name] = [...LETTERS].find((letter) => !taken.includes(letter)) ?? name;
  }
  return short;
}
