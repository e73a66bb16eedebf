import { mergeConfig } from "vitest/config";
import shared from "../../../vitest.config.js";

// Real agents: installed when first needed, so not part of `npm test`. See `npm run test:proxy`.
export default mergeConfig(shared, {
  test: { dir: import.meta.dirname, include: ["**/*.test.ts"], maxWorkers: 1 },
});
