import type { Writable } from "node:stream";

/** So much may wait for the client, in bytes, before the agent is no longer read. */
const HIGH_WATER_BYTES = 256 * 1024;

/** The lines that the client reads. */
export class ClientOutput {
  readonly #output: Writable;
  #isFull = false;

  /** @param full called when too much waits for the client, and when it has read all of that */
  constructor(output: Writable, full: (isFull: boolean) => void) {
    this.#output = output;
    output.on("drain", () => {
      if (!this.#isFull) return;
      this.#isFull = false;
      full(false);
    });
    this.#full = full;
  }

  readonly #full: (isFull: boolean) => void;

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Writes are gathered until `flush`. */
  gather(): void {
    this.#output.cork();
  }

  flush(): void {
    this.#output.uncork();
    this.#look();
  }

  /** Whole lines, with their LF. */
  writeLines(lines: Buffer): void {
    this.#output.write(lines);
  }

  writeLine(line: Buffer): void {
    this.#output.cork();
    this.#output.write(line);
    this.#output.write("\n");
    this.#output.uncork();
    this.#look();
  }

  /** Resolves when the client has been given all of it, or is gone. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#output.destroyed || this.#output.writableEnded) return resolve();
      this.#output.once("close", resolve);
      this.#output.write("", () => resolve());
    });
  }

  #look(): void {
    if (this.#isFull || this.#output.writableLength < HIGH_WATER_BYTES) return;
    this.#isFull = true;
    this.#full(true);
  }
}
