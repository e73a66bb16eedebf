import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    "model-server/index": "src/model-server/index.ts",
    "scripted-model-cli": "src/scripted-model-cli.ts",
    "scene-cli": "src/scene-cli.ts",
    "reference-agent-cli": "src/reference/cli.ts",
  },
  format: "esm",
  target: "node20",
  platform: "node",
  dts: { entry: { index: "src/index.ts", "model-server/index": "src/model-server/index.ts" } },
  clean: true,
});
