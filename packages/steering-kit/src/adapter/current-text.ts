import { readFileSync, statSync } from "node:fs";

const MAX_BYTES = 1024 * 1024;

/**
 * What stands in a file now, for the old side of a diff.
 *
 * @param path absolute
 * @returns `null` where there is no file, or one that cannot be read or is larger than 1 MiB
 * @example
 * ```ts
 * turn.update({ sessionUpdate: "tool_call", content: [{ type: "diff", path, oldText: currentText(path), newText }], … });
 * ```
 */
export function currentText(path: string): string | null {
  try {
    return statSync(path).size > MAX_BYTES ? null : readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
