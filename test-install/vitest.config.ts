import { mergeConfig } from "vitest/config";
import shared from "../vitest.config.js";

// A registry on loopback, and every package published to it once: installed when first needed, see `npm run test:install`.
export default mergeConfig(shared, {
  test: {
    dir: import.meta.dirname,
    include: ["**/*.test.ts"],
    globalSetup: "./test-install/publish-all.ts",
    // They publish to one registry; the releases come after what looks at the first versions.
    maxWorkers: 1,
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
