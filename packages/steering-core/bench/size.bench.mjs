// What core adds to a bundle: all of it, as it was built (minified), gzipped, and what it imports.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { row } from "../../../scripts/bench-row.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function run() {
  const entry = path("../dist/index.js");
  const bundle = { entryPoints: [entry], bundle: true, format: "esm", write: false, metafile: true };
  const { metafile } = await build({ ...bundle, platform: "neutral", target: "es2022" });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const { dependencies = {} } = JSON.parse(readFileSync(path("../package.json"), "utf8"));
  const built = readFileSync(entry);
  return [
    row(
      "core, minified and gzipped",
      gzipSync(built, { level: 9 }).length,
      "at most 8192",
      "bytes",
      `${built.length} bytes before gzip`,
    ),
    row("run-time dependencies and imports of core", imports.length + Object.keys(dependencies).length, "at most 0"),
  ];
}
