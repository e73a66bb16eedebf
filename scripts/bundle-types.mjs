// Run by a package's build, in its folder: one declaration file per export, with the types of bundled packages inside.
import { readFileSync } from "node:fs";
import { rollup } from "rollup";
import { dts } from "rollup-plugin-dts";

/** @type {{ exports: Record<string, Record<string, string>>, dependencies?: Record<string, string> }} */
const manifest = JSON.parse(readFileSync("package.json", "utf8"));
const entries = Object.values(manifest.exports).map((target) => [
  (target["types"] ?? "").replace("./dist/", "").replace(/\.d\.ts$/, ""),
  target["@acp-steering/source"] ?? "",
]);

const bundle = await rollup({
  input: Object.fromEntries(entries),
  // What the user installs stays an import; what is bundled is not there for the user.
  external: ["node:", ...Object.keys(manifest.dependencies ?? {})].map((name) => new RegExp(`^${name}`)),
  plugins: [dts({ tsconfig: "tsconfig.json", respectExternal: true })],
  onwarn(warning) {
    throw new Error(warning.message);
  },
});
await bundle.write({ dir: "dist", format: "es", entryFileNames: "[name].d.ts", chunkFileNames: "[name]-[hash].d.ts" });
await bundle.close();
