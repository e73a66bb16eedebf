import fc from "fast-check";
import { it } from "vitest";
import { violations } from "./model.js";
import { scenario } from "./scenario.js";
import { traceOf } from "./trace.js";
import { play } from "./world.js";

it("smoke", async () => {
  let n = 0,
    tp = 0,
    tv = 0,
    steps = 0;
  const start = performance.now();
  const counts: Record<string, [number, number, string]> = {};
  const flavour = JSON.parse(
    process.env["FLAVOUR"] ??
      '{"actors":1,"actions":6,"sessions":1,"driver":"sometimes","weights":{"steer":6,"prompt":4,"cancel":1}}',
  );
  await fc.assert(
    fc.asyncProperty(scenario(flavour), fc.scheduler(), async (sc, s) => {
      const t0 = performance.now();
      const played = await play(sc, s as never);
      tp += performance.now() - t0;
      steps += played.labels.length;
      n++;
      const t1 = performance.now();
      const v = violations(played);
      tv += performance.now() - t1;
      for (const x of new Set(v.map((y) => y.replace(/m\d+|\b\d+\b/g, "#")))) {
        const c = (counts[x] ??= [0, 1e9, ""]);
        c[0]++;
        if (played.entries.length < c[1]) {
          c[1] = played.entries.length;
          c[2] =
            `${JSON.stringify(sc)}\n${v.join("\n")}\n${traceOf(played.entries)}` +
            (process.env["RAW"]
              ? played.entries
                  .filter((e) => JSON.stringify(e).includes("user_message_chunk"))
                  .map((e) => JSON.stringify(e))
                  .join("\n")
              : "");
        }
      }
    }),
    { numRuns: Number(process.env["RUNS"] ?? 1000), seed: Number(process.env["SEED"] ?? 5) },
  );
  for (const [k, [c, , t]] of Object.entries(counts)) console.log("#####", k, c, "\n", process.env["QUIET"] ? "" : t);
  console.log(
    Object.entries(counts)
      .map(([k, c]) => `${c[0]} ${k}`)
      .join("\n"),
    (performance.now() - start) / n,
  );
});
