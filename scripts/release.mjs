import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { runNode, say, toolScript } from "./repository.mjs";

// Publishes every package whose version is not in the registry yet, each with a tag; the others stay as they are. The
// versions come from `npx changeset version` before.
await main(async () => {
  await prepare();
  say("Publishing what the registry does not have …");
  return runNode([toolScript("@changesets/cli", "changeset"), "publish"], { stdout: "inherit" });
});
