import type { Readable } from "node:stream";

/**
 * Calls `onLine` for every LF-ended line of a byte stream, and `onEnd` with what stood after the last LF.
 *
 * Only LF ends a line: U+2028 and U+2029 are legal inside a JSON string, and `node:readline` would split there.
 *
 * @param stream the bytes, UTF-8
 * @param onLine receives the line without its LF
 * @param onEnd receives the unfinished rest, possibly empty, once
 */
export function readTextLines(
  stream: Readable,
  onLine: (line: string) => void,
  onEnd: (rest: string) => void = () => {},
): void {
  // Kept as parts, since joining a long unfinished line again for each chunk would cost its square.
  let unfinished: string[] = [];
  stream.setEncoding("utf8");
  stream.on("data", (chunk: string) => {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end !== -1; end = chunk.indexOf("\n", start)) {
      unfinished.push(chunk.slice(start, end));
      const line = unfinished.join("");
      unfinished = [];
      start = end + 1;
      onLine(line);
    }
    if (start < chunk.length) unfinished.push(chunk.slice(start));
  });
  stream.once("close", () => onEnd(unfinished.join("")));
}
