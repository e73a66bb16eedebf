import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { prepare } from "./bootstrap.mjs";
import { main } from "./main.mjs";
import { runNode, say, toolScript } from "./repository.mjs";

await main(async () => {
  await prepare();
  // What it imports is there only now.
  const { SCHEMA_FOLDER, schemaFiles } = await import("./generate-schemas.mjs");
  const files = schemaFiles();
  rmSync(SCHEMA_FOLDER, { recursive: true, force: true });
  mkdirSync(SCHEMA_FOLDER, { recursive: true });
  for (const [name, schema] of files) {
    writeFileSync(join(SCHEMA_FOLDER, name), JSON.stringify(schema, null, 2));
  }
  const code = await runNode([toolScript("@biomejs/biome", "biome"), "format", "--write", SCHEMA_FOLDER]);
  say(`${files.size} schemas in packages/steering-core/schema.`);
  return code;
});
