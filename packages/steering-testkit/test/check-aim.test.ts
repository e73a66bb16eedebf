import { describe, expect, test } from "vitest";
import { Aim, type Hit } from "../src/check/boundary/aim.js";

/** The same numbers every time. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Shoots at an agent of which `hitAt` says how it answers. */
function shoot(
  trials: number,
  hitAt: (offset: number) => Hit,
  isOdd: (offset: number) => boolean = () => false,
): number[] {
  const aim = new Aim(trials, seeded(7));
  return Array.from({ length: trials }, () => {
    const offset = aim.next();
    aim.note(offset, hitAt(offset), isOdd(offset));
    return offset;
  });
}

const share = (offsets: readonly number[], low: number, high: number): number =>
  offsets.filter((offset) => offset >= low && offset <= high).length / offsets.length;

describe("where trials aim", () => {
  test("the sweep reaches from 50 ms before to 50 ms after the last byte", () => {
    const swept = shoot(200, () => "other").slice(0, 32);
    expect([Math.min(...swept), Math.max(...swept)]).toEqual([-50, 50]);
  });

  test("most of them go where injected turns to promptRequired", () => {
    const offsets = shoot(200, (offset) => (offset < 17 ? "injected" : "promptRequired"));
    expect(share(offsets, 12, 22)).toBeGreaterThan(0.5);
  });

  test("one straggler does not stretch what is aimed at", () => {
    const offsets = shoot(200, (offset) => (offset < 2 || offset === 50 ? "injected" : "promptRequired"));
    expect(share(offsets, -6, 10)).toBeGreaterThan(0.5);
  });

  test("some go around whatever was odd", () => {
    const isOdd = (offset: number): boolean => Math.abs(offset + 30) < 2;
    const hitAt = (offset: number): Hit => (offset < 17 ? "injected" : "promptRequired");
    expect(share(shoot(200, hitAt, isOdd), -34, -26)).toBeGreaterThan(share(shoot(200, hitAt), -34, -26) + 0.05);
  });

  test("an agent that is still injected at 50 ms is aimed at farther away", () => {
    const offsets = shoot(200, (offset) => (offset < 180 ? "injected" : "promptRequired"));
    expect(Math.max(...offsets)).toBeGreaterThan(180);
    expect(share(offsets, 160, 200)).toBeGreaterThan(0.2);
  });

  test.each(["injected", "promptRequired", "other"] as const)(
    "an agent that always answers %s is aimed at too",
    (hit) => {
      const offsets = shoot(50, () => hit);
      expect(offsets).toHaveLength(50);
      expect(Math.max(...offsets)).toBeLessThanOrEqual(800);
      expect(Math.min(...offsets)).toBeGreaterThanOrEqual(-50);
    },
  );

  test("two trials are enough for a sweep", () => {
    expect(shoot(2, () => "other").sort((one, other) => one - other)).toEqual([-50, 50]);
  });
});
