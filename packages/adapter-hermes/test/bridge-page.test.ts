import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
const plain = (text: string): string => text.replaceAll(/\s+/g, " ");
const PAGE = plain(read("docs/cases.md"));

/** The reports that concern this adapter. */
const REPORTS =
  `18258 56624 55183 50461 94597 64471 86798 100800 79196 79215 79216 88730 73409 39245 31658 60543 107234 73128
  80810 63764 66506 97371 58599 104442 99569 106317 117137 75335 41051 44212 44222 59552 30170 13043 136087 106108 106110 54466
  21611 21640 89166 33023 13525 55569 63538 73403 108488 112764 112774 1126 54 91 132 144 145 164`.split(/\s+/);

test.each(REPORTS)("report %s has its row", (report) => {
  const rows = [...PAGE.matchAll(/- \*\*([^*]+)\*\* ·/g)].map(([, numbers]) => numbers?.split(/, | /) ?? []);
  expect(rows.flat()).toContain(report);
});

const citations = [...PAGE.matchAll(/- `([^`]+)` › (.+?)(?= - [`*]| ## |$)/g)].map(([, file = "", title = ""]) => [
  file,
  title.trim(),
]);

test.each(citations)("%s has the test '%s'", (file, title) => {
  expect(plain(read(file)).replaceAll('\\"', '"')).toContain(`"${title}"`);
});
