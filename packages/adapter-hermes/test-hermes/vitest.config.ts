import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig } from "vitest/config";
import shared from "../../../vitest.config.js";

// The tests against the real Hermes: `npm run test:hermes` installs it and says where its interpreter is.
export default mergeConfig(
  { ...shared, test: { ...shared.test, include: [] } },
  defineConfig({
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    test: { include: ["packages/adapter-hermes/test-hermes/**/*.test.ts"] },
  }),
);
