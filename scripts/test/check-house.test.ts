import { expect, test } from "vitest";
import { faultsOf } from "../check-house.mjs";

test.each([
  ["/work" + "/main", "a path of one machine"],
  ["(/tmp" + "/x)", "a path of one machine"],
  ['"/home' + '/ann/x"', "a path of one machine"],
  ["https://registry" + ".npmjs.org/zod", "the host of a package registry"],
  ["// TO" + "DO later", "an unfinished note"],
])("a line with %s is a fault", (line, what) => {
  expect(faultsOf("README.md", `fine\n${line}\n`)).toEqual([`README.md:2: ${what}`]);
});

test.each(["src/work/main.ts", "./tmp/x", "~/tmp/x", "https://host.example/tmp/x", "mkdtemp"])(
  "%s is no fault",
  (line) => {
    expect(faultsOf("README.md", `${line}\n`)).toEqual([]);
  },
);

test("a source file may have 420 lines and no more", () => {
  const lines = (count: number) => "x;\n".repeat(count);
  expect(faultsOf("packages/a/src/b.ts", lines(420))).toEqual([]);
  expect(faultsOf("packages/a/src/b.ts", lines(421))).toEqual([expect.stringContaining("421 lines")]);
  expect(faultsOf("pnpm-lock.yaml", lines(421))).toEqual([]);
});
