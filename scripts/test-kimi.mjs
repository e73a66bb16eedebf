import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, toolScript } from "./repository.mjs";
import { ensureVendor } from "./vendors.mjs";

const CONFIG = join(ROOT, "packages", "adapter-kimi", "test-kimi", "vitest.config.ts");

// The tests against the real Kimi Code, and the Node.js that it needs, each in a folder that git does not see.
await main(async () => {
  await prepare();
  await ensureVendor("node24");
  await ensureVendor("kimi");
  return runNode([toolScript("vitest"), "run", "--config", CONFIG, ...process.argv.slice(2)], { stdout: "inherit" });
});
