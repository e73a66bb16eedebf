import { LineReader } from "./line-reader.js";

const KEPT_LINES = 5;
const KEPT_CHARACTERS = 200;
const MAX_LINE_BYTES = 64 * 1024;

const SECRETS = [
  /\b(?:sk|pk|rk|ghp|gho|github_pat|xox[a-z]|AIza)[-_]?[\w-]{8,}/g,
  /\bBearer\s+\S+/gi,
  /((?:api[-_ ]?key|token|secret|password|authorization)["']?\s*[:=]\s*)\S+/gi,
];

/** The last lines that a child wrote to stderr, short and without what looks like a secret. */
export class StderrTail {
  #reader = new LineReader(MAX_LINE_BYTES);
  #lines: string[] = [];

  /** Keeps what is needed of `chunk` and returns the lines it completes. */
  push(chunk: Buffer): string[] {
    const lines = this.#cut(chunk).filter((line) => line.trim() !== "");
    this.#lines = [...this.#lines, ...lines.slice(-KEPT_LINES)].slice(-KEPT_LINES);
    return lines;
  }

  lines(): string[] {
    return this.#lines.map(presentable);
  }

  #cut(chunk: Buffer): string[] {
    try {
      return this.#reader.push(chunk);
    } catch {
      this.#reader = new LineReader(MAX_LINE_BYTES);
      return [];
    }
  }
}

function presentable(line: string): string {
  const safe = SECRETS.reduce((text, pattern) => text.replace(pattern, "[hidden]"), line.trim());
  return safe.length > KEPT_CHARACTERS ? `${safe.slice(0, KEPT_CHARACTERS)}…` : safe;
}
