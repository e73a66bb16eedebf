/**
 * Which lines of an agent go on to the client unread. The layer itself shows it: where it has just let an update of one
 * kind and one session through, untouched and with nothing beside it, it would do the same with the next one, for as long
 * as nothing else happens on the connection. So the beginning of that line is learned, and everything else that happens
 * makes all beginnings forgotten. A line that begins otherwise is read, which is never wrong, only slower.
 */

/**
 * How an update begins that can be told by its beginning. User messages are left out: the layer compares their text with
 * the steers of the turn.
 */
const BEGINNING =
  /\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"method"\s*:\s*"session\/update"\s*,\s*"params"\s*:\s*\{\s*"sessionId"\s*:\s*"[^"\\]*"\s*,\s*"update"\s*:\s*\{\s*"sessionUpdate"\s*:\s*"(?!user_message_chunk")[^"\\]*"/y;
/** Longer beginnings are not learned. */
const MAX_BEGINNING_BYTES = 1_024;
/** About as many kinds of update as sessions have at work at one time. */
const MAX_BEGINNINGS = 16;
const CLOSING_BRACE = 0x7d;
const CARRIAGE_RETURN = 0x0d;

export class PassingLines {
  #beginnings: string[] = [];
  /** Texts whose lines somebody wants to see, and where each stands next in what is being scanned. */
  readonly #needles = new Map<string, number>();

  /** Lines with one of these texts never pass. */
  watch(needles: readonly string[]): void {
    this.#needles.clear();
    for (const needle of needles) this.#needles.set(needle, -1);
  }

  /** Lines of this text are asked about next. */
  scanning(text: string): void {
    for (const needle of this.#needles.keys()) this.#needles.set(needle, text.indexOf(needle));
  }

  /** The layer let this line through, alone and untouched. */
  learn(line: Buffer): void {
    BEGINNING.lastIndex = 0;
    const [beginning] = BEGINNING.exec(line.toString("latin1", 0, MAX_BEGINNING_BYTES)) ?? [];
    if (beginning === undefined || this.#beginnings.includes(beginning)) return;
    this.#beginnings = [beginning, ...this.#beginnings.slice(0, MAX_BEGINNINGS - 1)];
  }

  /** Something else happened. */
  forget(): void {
    if (this.#beginnings.length > 0) this.#beginnings = [];
  }

  /** Whether the line begins as one that was learned, and ends as an object does: what was cut off is to be noticed. */
  passes(text: string, start: number, end: number): boolean {
    const beginnings = this.#beginnings;
    for (let index = 0; index < beginnings.length; index += 1)
      if (text.startsWith(beginnings[index] as string, start))
        return endsAsObject(text, end) && !this.#isWatched(text, start, end);
    return false;
  }

  #isWatched(text: string, start: number, end: number): boolean {
    for (const [needle, found] of this.#needles) {
      const next = found !== -1 && found < start ? text.indexOf(needle, start) : found;
      if (next !== found) this.#needles.set(needle, next);
      if (next !== -1 && next < end) return true;
    }
    return false;
  }
}

function endsAsObject(text: string, end: number): boolean {
  const last = text.charCodeAt(end - 1);
  return last === CLOSING_BRACE || (last === CARRIAGE_RETURN && text.charCodeAt(end - 2) === CLOSING_BRACE);
}
