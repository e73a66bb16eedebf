import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { applyMutant, MUTANTS } from "../../mutants/mutants.mjs";

const sourceOf = (file: string): string => readFileSync(new URL(`../../src/${file}`, import.meta.url), "utf8");

it.each(MUTANTS)("the mutant still fits $file: $breaks", (mutant) => {
  const source = sourceOf(mutant.file);
  expect(applyMutant(source, mutant)).not.toBe(source);
});

it("no mutant is listed twice", () => {
  expect(new Set(MUTANTS.map(({ file, search, replace }) => `${file} ${search} ${replace}`)).size).toBe(MUTANTS.length);
});
