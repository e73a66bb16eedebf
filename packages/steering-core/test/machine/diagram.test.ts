import { readFileSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { diagramOf, withDiagram } from "./diagram.js";
import { explore } from "./explore.js";
import { FEW } from "./families.js";

const FILE = new URL("../../../../ARCHITECTURE.md", import.meta.url);

it("the state diagram of ARCHITECTURE.md is the machine's (refresh it with `node scripts/state-diagram.mjs`)", () => {
  const explored = FEW.map(explore);
  // Where a guarantee is broken, not all was seen.
  expect(explored.flatMap(({ faults }) => faults)).toEqual([]);
  const edges = new Set(explored.flatMap((seen) => [...seen.edges]));
  const text = readFileSync(FILE, "utf8");
  const expected = withDiagram(text, diagramOf(edges));
  if (process.env["REFRESH_STATE_DIAGRAM"]) writeFileSync(FILE, expected);
  else expect(text).toBe(expected);
});
