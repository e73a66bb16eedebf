import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { ROOT } from "./repository.mjs";

await main(async () => {
  await prepare();
  const scene = join(ROOT, "packages", "steering-testkit", "dist", "scene-cli.js");
  // In this process: signals and the exit code are the scene's own, and it reads the arguments as if started directly.
  process.argv[1] = scene;
  await import(pathToFileURL(scene).href);
});
