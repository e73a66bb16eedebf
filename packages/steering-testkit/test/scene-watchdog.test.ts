import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Watchdog } from "../src/scene/watchdog.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watched(): { watchdog: Watchdog; expired: () => unknown } {
  let reason: unknown;
  const watchdog = new Watchdog(1_000, () => new Error("quiet for too long"));
  watchdog.expired.catch((error: unknown) => {
    reason = error;
  });
  return { watchdog, expired: () => reason };
}

test("it expires after the limit without any event, with the error of that moment", async () => {
  const { expired } = watched();
  await vi.advanceTimersByTimeAsync(999);
  expect(expired()).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(expired()).toMatchObject({ message: "quiet for too long" });
});

test("each event gives the whole limit again, however long all of it takes", async () => {
  const { watchdog, expired } = watched();
  for (let event = 0; event < 5; event += 1) {
    await vi.advanceTimersByTimeAsync(900);
    watchdog.touch();
  }
  expect(expired()).toBeUndefined();
});

test("stopped, it never expires", async () => {
  const { watchdog, expired } = watched();
  watchdog.stop();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(expired()).toBeUndefined();
});
