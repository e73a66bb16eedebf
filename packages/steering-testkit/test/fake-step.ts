import type { ModelStep } from "../src/cases/stage.js";

/** A request that nobody has made, for what only looks at its text. */
export const fakeStep = (...texts: readonly string[]): ModelStep => ({
  texts,
  images: 0,
  hasShell: false,
  abandoned: new Promise(() => {}),
  say: () => {},
  end: async () => {},
  run: () => {},
  fail: () => {},
});
