// What core adds to a bundle: all of it, minified and gzipped, and what it imports.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { row } from "./support.mjs";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

export async function run() {
  const options = {
    entryPoints: [path("../dist/index.js")],
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    metafile: true,
  };
  const { outputFiles, metafile } = await build({ ...options, platform: "neutral", target: "es2022" });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
  const { dependencies = {} } = JSON.parse(readFileSync(path("../package.json"), "utf8"));
  const [{ contents }] = outputFiles;
  return [
    row(
      "core, minified and gzipped",
      gzipSync(contents, { level: 9 }).length,
      "at most 8192",
      "bytes",
      `${contents.length} bytes before gzip`,
    ),
    row("run-time dependencies and imports of core", imports.length + Object.keys(dependencies).length, "at most 0"),
  ];
}
