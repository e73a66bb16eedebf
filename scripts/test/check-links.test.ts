import { expect, test } from "vitest";
import { anchorsOf, linksOf } from "../check-links.mjs";

test("links are found in prose, and not in code", () => {
  const page = "[a](a.md) `[b](b.md)` [c](https://example.org)\n```md\n[d](d.md)\n```\n[e]: e.md#f\n[`g`](g.md#h-1)\n";
  expect(linksOf(page).sort()).toEqual(["a.md", "e.md#f", "g.md#h-1"]);
});

test("anchors are those of GitHub", () => {
  const page = "# A `code` title, and more!\n## Twice\n## Twice\n### [Linked](x.md) & _so_\n```sh\n# no heading\n```\n";
  expect([...anchorsOf(page)]).toEqual(["a-code-title-and-more", "twice", "twice-1", "linked--_so_"]);
});
