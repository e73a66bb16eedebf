import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, toolScript } from "./repository.mjs";
import { ensureVendor } from "./vendors.mjs";

const CONFIG = join(ROOT, "packages", "adapter-subprocess", "test-dialects", "vitest.config.ts");
const VENDORS = /** @type {const} */ (["claude-agent-acp", "codex-acp"]);

// The subprocess adapter with the real agents of its larger dialects, each in a folder that git does not see.
await main(async () => {
  await prepare();
  for (const vendor of VENDORS) await ensureVendor(vendor);
  return runNode([toolScript("vitest"), "run", "--config", CONFIG, ...process.argv.slice(2)], { stdout: "inherit" });
});
