import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
const PAGE = plain(read("docs/cases.md"));

test.each(["MoonshotAI/kimi-code#2370", "MoonshotAI/kimi-code#2514"])("report %s has its row", (report) => {
  expect(PAGE).toContain(`- **${report}**`);
});

const citations = [...PAGE.matchAll(/- `([^`]+)` › (.+?)(?= - [`*A-Z]| ## |$)/g)].map(([, file = "", title = ""]) => [
  file,
  title.trim(),
]);

test("the page names its tests", () => expect(citations.length).toBeGreaterThan(20));

test.each(citations)("%s has the test '%s'", (file, title) => {
  expect(plain(read(file))).toContain(`"${title}"`);
});
