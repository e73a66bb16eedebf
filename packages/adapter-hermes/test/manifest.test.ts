import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (name: string) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), "utf8"));

test("the registry manifest names this version of the package", () => {
  const { name, version, license } = read("package.json");
  expect(read("agent.json")).toMatchObject({
    id: expect.stringMatching(/^[a-z][a-z0-9-]*$/),
    version,
    license,
    distribution: { npx: { package: `${name}@${version}` } },
  });
});
