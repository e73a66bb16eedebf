import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import base from "../../../vitest.config.ts";

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

// What the tests know of the core from outside, they see of what was built; the machine and the parser have no outside.
const built = mergeConfig(
  base,
  defineConfig({
    root: path("../../../"),
    resolve: {
      alias: [
        { find: /^.*\/src\/index\.js$/, replacement: path("../dist/index.js") },
        { find: /^.*\/src\/steering\.js$/, replacement: path("./steering.ts") },
      ],
    },
  }),
);

export default {
  ...built,
  test: {
    ...built.test,
    include: ["packages/steering-core/{built,test}/**/*.test.ts"],
    exclude: ["**/test/machine/**", "**/test/{parse,schema*,machine-guards}.test.ts"],
  },
};
