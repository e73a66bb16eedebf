import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { listedCases } from "./cases-page.js";
import { titlesIn } from "./test-titles.js";

/** The cases that are the core's to answer, by part. A number never changes its meaning. */
const PARTS: Readonly<Record<string, readonly number[]>> = {
  "Core state machine": [1, 2, 27, 29, 30, 33, 34, 35, 75, 93, 97, 115, 116, 121, 129, 162],
  "Idle policy": [13, 14, 15, 16, 17, 26, 141],
  Cancel: [32, 42, 44, 45, 47, 48, 49, 51, 56],
  Queue: [3, 24, 46, 58, 63, 94, 95, 96, 99, 103, 110, 140, 154, 159, 171],
  "Content blocks": [123, 124, 126, 131, 137],
  Advertisement: [71, 74, 79, 81, 82, 83, 85, 88, 90],
};
const TESTS = new URL("../", import.meta.url);

const titles = new Map<string, readonly string[]>();

/** The titles in a file of `packages/steering-core/test`; none where there is no such file. */
function titlesOf(file: string): readonly string[] {
  const path = new URL(file, TESTS);
  const known = titles.get(file) ?? (existsSync(path) ? titlesIn(readFileSync(path, "utf8")) : []);
  titles.set(file, known);
  return known;
}

describe("docs/cases.md", () => {
  const cases = listedCases();

  it("has 61 cases, each exactly once, in its part, and no other", () => {
    const listed = Object.keys(PARTS).map((part) => [
      part,
      cases.filter((one) => one.part === part).map(({ id }) => id),
    ]);
    expect(Object.fromEntries(listed)).toEqual(PARTS);
    expect(cases).toHaveLength(61);
  });

  it("says of each where it was seen, what happened and what is right", () => {
    const complete = /^\*\*\d+\*\* · [^.]+\. .+\. _Right:_ .+\.$/;
    expect(cases.filter(({ told }) => !complete.test(told))).toEqual([]);
  });

  it("names tests for each, and all of them are there", () => {
    const missing = cases.flatMap(({ id, shownBy }) =>
      shownBy.filter(({ file, title }) => !titlesOf(file).includes(title)).map((test) => ({ id, ...test })),
    );
    expect(missing).toEqual([]);
    expect(cases.filter(({ shownBy }) => shownBy.length === 0)).toEqual([]);
  });

  it("names every test that was written for a case", () => {
    const files = readdirSync(new URL("./", import.meta.url)).filter((name) => name.endsWith(".test.ts"));
    const written = files.flatMap((name) =>
      titlesOf(`cases/${name}`).flatMap((title) => {
        const id = /(?:^|› )case (\d+): /.exec(title)?.[1];
        return id === undefined ? [] : [{ id: Number(id), file: `cases/${name}`, title }];
      }),
    );
    const named = cases.flatMap(({ id, shownBy }) => shownBy.map((test) => ({ id, ...test })));
    expect(named).toEqual(expect.arrayContaining(written));
    expect(written.length).toBeGreaterThan(20);
  });
});

describe("the titles of tests", () => {
  it("are read with what is around them, as they are written", () => {
    const source = `
      describe.each([1])("a %i", (n) => {
        it("b", () => {});
        describe("c", () => void it.each([["x"]])("d %s", () => {}));
        it(\`e\`, () => expect("f").toBe("f"));
      });
      test.each(["g"])("h", () => {});
      const guarantee = { says: "i", other: "j" };
    `;
    expect(titlesIn(source)).toEqual(["a %i › b", "a %i › c › d %s", "a %i › e", "h", "i"]);
  });
});
