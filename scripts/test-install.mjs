import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, toolScript } from "./repository.mjs";
import { ensureVendor } from "./vendors.mjs";

const CONFIG = join(ROOT, "test-install", "vitest.config.ts");

// The tests of what users get: a registry, every package published to it, and installed from it with plain npm.
await main(async () => {
  await prepare();
  await ensureVendor("verdaccio");
  return runNode([toolScript("vitest"), "run", "--config", CONFIG, ...process.argv.slice(2)], { stdout: "inherit" });
});
