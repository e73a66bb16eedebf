import { defineConfig } from "tsup";

export default defineConfig({
  entry: { index: "src/index.ts", "adapter/index": "src/adapter/index.ts", "process/index": "src/process/index.ts" },
  format: "esm",
  target: "node20",
  platform: "node",
  // The SDK and its schemas travel inside: one file starts faster than many packages.
  noExternal: [/^@agentclientprotocol\/sdk/, /^zod/],
  // Types come from scripts/bundle-types.mjs: tsup leaves those of a bundled package behind.
  dts: false,
  // third-party-notices.mjs reads from it whose code was bundled, then removes it.
  metafile: true,
  clean: true,
});
