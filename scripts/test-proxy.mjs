import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, toolScript } from "./repository.mjs";
import { ensureVendor } from "./vendors.mjs";

const CONFIG = join(ROOT, "packages", "steering-proxy", "test-real", "vitest.config.ts");

// The proxy in front of real agents, each in a folder that git does not see, with the Node.js that they need.
await main(async () => {
  await prepare();
  for (const vendor of /** @type {const} */ (["node24", "kimi", "pi", "claude-agent-acp", "codex-acp"]))
    await ensureVendor(vendor);
  return runNode([toolScript("vitest"), "run", "--config", CONFIG, ...process.argv.slice(2)], { stdout: "inherit" });
});
