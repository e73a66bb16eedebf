/**
 * Every reachable world of the session machine, to the point where nothing new comes, held against every guarantee of
 * `guarantees.ts` at every step. What is bounded is how many prompts wait and how many steers of a turn are open at one
 * time, not how many come one after the other.
 */
import { afterAll, describe, expect, it } from "vitest";
import { diagramOf } from "./diagram.js";
import { explore } from "./explore.js";
import { FAMILIES, FEW } from "./families.js";

const edges = new Set<string>();
const rows: string[] = [];

afterAll(() => console.log(rows.join("\n")));

describe("G1-G8 in every reachable world", { timeout: 300_000 }, () => {
  for (const family of FAMILIES)
    it(`G1-G8: ${family.name}`, () => {
      const { worlds, transitions, faults, edges: seen } = explore(family);
      rows.push(`${worlds} worlds, ${transitions} transitions: ${family.name}`);
      for (const edge of seen) edges.add(edge);
      expect(faults.join("\n\n")).toBe("");
      // A change of the machine shows here. If it was meant, write the new numbers down in families.ts.
      expect([worlds, transitions]).toEqual([family.worlds, family.transitions]);
    });

  it("the few families that the diagram is drawn from take every way that the others take", () => {
    const few = new Set(FEW.flatMap((family) => [...explore(family).edges]));
    expect(diagramOf(few)).toBe(diagramOf(edges));
  });
});
