import { LineTooLongError } from "@acp-steering/kit/process";

/** What becomes of the lines of a stream. Called in the order of the lines. */
export interface LineSink {
  /** These lines come next, one character a byte. */
  scanning(text: string): void;
  /** Whether a line goes on unread. `text` has one character a byte; the line is `text.slice(start, end)`, without its LF. */
  passes(text: string, start: number, end: number): boolean;
  /** Whole lines that pass, with their LF: as many as stand together. */
  span(lines: Buffer): void;
  /** A line that has to be read, without its LF. */
  line(line: Buffer): void;
}

const LINE_FEED = "\n";
/** As large as the SDK lets a message be. */
const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Cuts a byte stream into lines. Each chunk becomes a string of one character a byte, in which searching costs a tenth of
 * what it costs in a buffer; the bytes that go on are always those of the chunk.
 */
export class LineScanner {
  readonly #sink: LineSink;
  readonly #limit: number;
  /** The beginning of a line whose end has not come. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(sink: LineSink, limit: number = MAX_LINE_BYTES) {
    this.#sink = sink;
    this.#limit = limit;
  }

  /** @throws LineTooLongError when a line, complete or not, exceeds the limit in bytes */
  push(chunk: Buffer): void {
    const text = chunk.toString("latin1");
    const start = this.#length === 0 ? 0 : this.#endCarried(chunk, text);
    this.#keep(chunk.subarray(this.#scan(chunk, text, start)));
  }

  /** The stream has ended. A last line without its LF is read in any case: it may have been cut off. */
  end(): void {
    const rest = this.#take();
    if (rest.length > 0) this.#sink.line(rest);
  }

  /** @returns where the line ends that earlier chunks began */
  #endCarried(chunk: Buffer, text: string): number {
    const end = text.indexOf(LINE_FEED) + 1;
    if (end === 0) return 0;
    this.#keep(chunk.subarray(0, end));
    const line = this.#take();
    this.#scan(line, line.toString("latin1"), 0);
    return end;
  }

  /** @returns where the last whole line ends */
  #scan(chunk: Buffer, text: string, from: number): number {
    const sink = this.#sink;
    sink.scanning(text);
    let start = from;
    let spanStart = from;
    const passSpan = (): void => {
      if (spanStart < start) sink.span(chunk.subarray(spanStart, start));
    };
    for (let end = text.indexOf(LINE_FEED, start); end !== -1; end = text.indexOf(LINE_FEED, start)) {
      if (!sink.passes(text, start, end)) {
        passSpan();
        this.#check(end - start);
        sink.line(chunk.subarray(start, end));
        spanStart = end + 1;
      }
      start = end + 1;
    }
    passSpan();
    return start;
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    this.#check(this.#length);
    if (piece.length > 0) this.#pieces.push(piece);
  }

  #check(length: number): void {
    if (length > this.#limit) throw new LineTooLongError(this.#limit);
  }

  #take(): Buffer {
    const [first] = this.#pieces;
    const line = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
