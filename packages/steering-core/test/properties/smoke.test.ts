import fc from "fast-check";
import { it } from "vitest";
import { scenario } from "./scenario.js";
import { play } from "./world.js";
import { violations } from "./model.js";
it("smoke", async () => {
  let n = 0;
  const start = performance.now();
  const counts: Record<string, number> = {};
  const example: Record<string, unknown> = {};
  const flavour = JSON.parse(process.env["FLAVOUR"] ?? '{"actors":1,"actions":6,"sessions":1,"driver":"sometimes","weights":{"steer":6,"prompt":4,"cancel":1}}');
  let size = 1e9;
  const only = process.env["ONLY"];
  await fc.assert(fc.asyncProperty(scenario(flavour), fc.scheduler(), async (sc, s) => {
    const played = await play(sc, s as never);
    n++;
    const v = violations(played);
    for (const x of new Set(v.map(y => y.replace(/m\d+|\d+/g, "#")))) { counts[x] = (counts[x] ?? 0) + 1; }
    if (only && v.some(x => x.includes(only)) && played.entries.length < size) { size = played.entries.length; example["e"] = [sc, played.labels.join(" | "), v, played.entries.filter(e=>e.step>0).map(e => JSON.stringify(e).slice(0,330)).join("\n")]; }
  }), {numRuns: Number(process.env["RUNS"] ?? 1000), seed: 5});
  console.log(counts);
  if (example["e"]) console.log(JSON.stringify((example["e"] as any)[0]), "\n", (example["e"] as any)[1], "\n", (example["e"] as any)[2], "\n", (example["e"] as any)[3]);
  console.log((performance.now()-start)/n);
});
