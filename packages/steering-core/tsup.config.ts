import { readFile } from "node:fs/promises";
import { defineConfig } from "tsup";
import { NAMES, WORDS } from "./built/internal-names.js";
import { shortNames } from "./built/short-names.js";

const anyOf = (names: readonly string[]): string => `(?:${names.join("|")})`;

export default defineConfig({
  entry: ["src/index.ts", "src/protocol.ts"],
  splitting: false,
  format: "esm",
  target: "es2022",
  platform: "neutral",
  dts: true,
  clean: true,
  minify: "terser",
  terserOptions: {
    ecma: 2020,
    module: true,
    compress: { passes: 4, unsafe: true, unsafe_arrows: true, pure_getters: true, inline: 1, lhs_constants: false },
  },
  esbuildOptions(options) {
    options.minifySyntax = true;
    options.mangleQuoted = true;
    options.mangleProps = new RegExp(`^${anyOf(NAMES)}$`);
    options.mangleCache = shortNames();
  },
  esbuildPlugins: [
    {
      // A string that names a member has to be shortened with it, which esbuild does for strings that say so.
      name: "words",
      setup: ({ onLoad }) => {
        const word = new RegExp(`"${anyOf(WORDS)}"`, "g");
        const marked = (line: string): string => line.replace(word, "/* @__KEY__ */ $&");
        onLoad({ filter: /src.\w+\.ts$/ }, async ({ path }) => ({
          contents: (await readFile(path, "utf8")).replace(/^(?! *\*).*$/gm, marked),
          loader: "ts",
        }));
      },
    },
  ],
});
