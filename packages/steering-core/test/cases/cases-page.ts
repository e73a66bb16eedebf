import { readFileSync } from "node:fs";

const PAGE = new URL("../../../../docs/cases.md", import.meta.url);

/** One case of `docs/cases.md`. */
interface ListedCase {
  readonly id: number;
  readonly part: string;
  /** What happened, where, and what is right. */
  readonly told: string;
  readonly shownBy: readonly { readonly file: string; readonly title: string }[];
}

/** A list item with the lines that its author broke it into. */
const joined = (lines: string): string => lines.trim().replaceAll(/\s*\n\s*/g, " ");

function caseOf(item: string, part: string): ListedCase {
  const [told = "", ...evidence] = item.split(/\n {2}- /).map(joined);
  const id = Number(/^\*\*(\d+)\*\* /.exec(told)?.[1]);
  const shownBy = evidence.map((line) => {
    const [, file = "", title = ""] = /^`([^`]+)` › (.+)$/.exec(line) ?? [];
    return { file, title };
  });
  return { id, part, told, shownBy };
}

/** Every case on the page, in its order. */
export function listedCases(): ListedCase[] {
  const sections = readFileSync(PAGE, "utf8").split(/^## /m).slice(1);
  return sections.flatMap((section) => {
    const [part = ""] = section.split("\n", 1);
    return section
      .split(/^- /m)
      .slice(1)
      .map((item) => caseOf(item, part));
  });
}
