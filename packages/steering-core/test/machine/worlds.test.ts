import { expect, it } from "vitest";
import { explore } from "./explore.js";
import { FAMILIES } from "./families.js";

for (const family of FAMILIES)
  it(family.name, () => {
    const begun = performance.now();
    const { worlds, transitions, faults } = explore(family);
    console.log(family.name, worlds, transitions, Math.round(performance.now() - begun), "ms", Math.round(process.memoryUsage().rss / 1e6), "MB");
    expect(faults.join("\n\n")).toBe("");
  }, 600_000);
