import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT, runNode, toolScript } from "./repository.mjs";

const TEST = join("packages", "steering-core", "test", "machine", "diagram.test.ts");

// The diagram is drawn from steps of the machine, which the test takes anyway; here it writes what it would compare.
await main(async () => {
  await prepare();
  return runNode([toolScript("vitest"), "run", "--root", ROOT, TEST], {
    env: { ...process.env, REFRESH_STATE_DIAGRAM: "1" },
  });
});
