import { defineConfig } from "vitest/config";

// Tests read the packages' sources, so that unit tests need no build; the rest are Vite's own defaults for Node.
const conditions = ["@acp-steering/source", "module", "node", "development|production"];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["{packages,apps}/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
