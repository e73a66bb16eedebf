import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../../vitest.config.ts";
import { applyMutant, MUTANTS } from "./mutants.mjs";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const SOURCES = fileURLToPath(new URL("../src/", import.meta.url));
const mutant = MUTANTS[Number(process.env["MUTANT"] ?? Number.NaN)];

// The fault is put in while a source is loaded: the file on disk stays as it is.
export default mergeConfig(
  base,
  defineConfig({
    root: ROOT,
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        transform: (code: string, id: string) =>
          mutant && id === join(SOURCES, mutant.file) ? applyMutant(code, mutant) : undefined,
      },
    ],
  }),
);
