/** A line longer than the reader's limit. What follows on the stream cannot be trusted. */
export class LineTooLongError extends Error {
  readonly code = "lineTooLong";
  readonly limit: number;

  constructor(limit: number) {
    super(`a line of more than ${limit} bytes`);
    this.name = "LineTooLongError";
    this.limit = limit;
  }
}

const LINE_FEED = 0x0a;
const DEFAULT_LIMIT = 128 * 1024 * 1024;

/**
 * Cuts a byte stream into lines at LF and nowhere else. U+2028 and U+2029 are legal inside a JSON string, so Node's
 * `readline`, which cuts there too, would tear records apart.
 */
export class LineReader {
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(limit: number = DEFAULT_LIMIT) {
    this.#limit = limit;
  }

  /**
   * The lines that `chunk` completes, without their LF or CRLF.
   * @throws LineTooLongError when a line, complete or not, exceeds the limit in bytes.
   */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#keep(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
    return lines;
  }

  /** What is left when the stream has ended without a last LF. */
  end(): string[] {
    return this.#length > 0 ? [this.#take()] : [];
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length > this.#limit) throw new LineTooLongError(this.#limit);
    if (piece.length > 0) this.#pieces.push(piece);
  }

  #take(): string {
    const line = Buffer.concat(this.#pieces).toString("utf8");
    this.#pieces = [];
    this.#length = 0;
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }
}
