/** One hunk of a unified diff, as the text before and after it. */
export interface Hunk {
  readonly oldText: string;
  readonly newText: string;
  /** Where it begins in the new text, from 1. */
  readonly line: number;
}

const HEADER = /^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The hunks of one file's unified diff. The lines that both sides have stand in both texts. */
export function hunksOf(diff: string): Hunk[] {
  const hunks: { oldLines: string[]; newLines: string[]; line: number }[] = [];
  for (const line of diff.split("\n")) {
    const header = HEADER.exec(line);
    if (header) hunks.push({ oldLines: [], newLines: [], line: Number(header[1]) });
    else addLine(hunks.at(-1), line);
  }
  return hunks.map(({ oldLines, newLines, line }) => ({
    oldText: oldLines.join("\n"),
    newText: newLines.join("\n"),
    line,
  }));
}

function addLine(hunk: { oldLines: string[]; newLines: string[] } | undefined, line: string): void {
  const text = line.slice(1);
  if (line.startsWith("-") || line.startsWith(" ")) hunk?.oldLines.push(text);
  if (line.startsWith("+") || line.startsWith(" ")) hunk?.newLines.push(text);
}
