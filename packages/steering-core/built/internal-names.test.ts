import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { FAMILIES, NAMES, WORDS } from "./internal-names.js";
import { shortNames } from "./short-names.js";

const MAX_BYTES = 8_192;
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\//g, "");
const readAll = (folder: string): string =>
  readdirSync(new URL(folder, import.meta.url))
    .map((name) => read(`${folder}${name}`))
    .join("\n");

const outside = (): string =>
  withoutComments(`${read("../dist/index.d.ts")}${read("../dist/protocol.d.ts")}${readAll("../schema/")}`);

it("no member of what the core exports, reads or writes is an internal name", () => {
  expect(NAMES.filter((name) => new RegExp(`\\b${name}"?[?]?[:(]`).test(outside()))).toEqual([]);
});

it("no string that the core exports, reads or writes is an internal word", () => {
  expect(WORDS.filter((word) => outside().includes(`"${word}"`))).toEqual([]);
});

it("no member of what the platform gives the core is an internal name", () => {
  const kinds = [Array, Map, Set, Promise, String, Number, RegExp, Object, Function, JSON, Math, globalThis];
  const streams = [ReadableStream, ReadableStreamDefaultReader, WritableStream, WritableStreamDefaultWriter];
  const others = [AbortController, AbortSignal, crypto, setTimeout(() => {}), async function* () {}.prototype];
  const all: object[] = [...kinds, ...streams, ...others];
  const names = new Set(["value", "done"]);
  for (const one of all.flatMap((kind) => [kind, (kind as { prototype?: object }).prototype ?? kind]))
    for (let at: object | null = one; at; at = Object.getPrototypeOf(at))
      for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  // String.prototype.link makes markup; nobody calls it.
  expect(NAMES.filter((name) => names.has(name))).toEqual(["link"]);
});

it("names that can meet are different when they are short", () => {
  const short = shortNames();
  for (const family of FAMILIES) expect(new Set(family.map((name) => short[name])).size).toBe(family.length);
  expect(Object.keys(short).sort()).toEqual([...NAMES].sort());
});

it("every internal name is one of the core's", () => {
  const sources = readAll("../src/");
  expect(NAMES.filter((name) => !new RegExp(`\\b${name}\\b`).test(sources))).toEqual([]);
});

it("what was built has none of them left", () => {
  const built = read("../dist/index.js");
  expect(NAMES.filter((name) => new RegExp(`[.]${name}\\b|[{,]${name}:`).test(built))).toEqual([]);
});

it("what an agent's author bundles is at most 8 kB, minified and gzipped", () => {
  expect(gzipSync(read("../dist/index.js"), { level: 9 }).length).toBeLessThanOrEqual(MAX_BYTES);
});
