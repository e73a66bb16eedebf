import { mergeConfig } from "vitest/config";
import shared from "../../../vitest.config.js";

// The real agents of the larger dialects: installed when first needed, so not part of `npm test`. See `npm run test:dialects`.
export default mergeConfig(shared, {
  test: { dir: import.meta.dirname, include: ["**/*.test.ts"], maxWorkers: 1 },
});
