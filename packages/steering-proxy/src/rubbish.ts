/** What an agent writes to stdout beside its messages. It costs a line of the log the first time, and whenever it has doubled. */
export class Rubbish {
  readonly #log: (line: string) => void;
  readonly #logContent: boolean;
  #count = 0;
  #nextLogged = 1;

  constructor(log: (line: string) => void, logContent: boolean) {
    this.#log = log;
    this.#logContent = logContent;
  }

  found(line: Buffer): void {
    this.#count += 1;
    if (this.#logContent) return this.#log(`not a message, and not passed on: ${line.toString("utf8")}`);
    if (this.#count < this.#nextLogged) return;
    this.#nextLogged = this.#count * 2;
    const many = this.#count === 1 ? "" : ` (${this.#count} such lines so far)`;
    this.#log(
      `the agent wrote a line of ${line.length} bytes to stdout that is no message; it is not passed on${many}`,
    );
  }
}
