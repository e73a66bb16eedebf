import type { WriteStream } from "node:tty";
import type { CheckEvent } from "@acp-steering/testkit";
import { type Style, styleOf } from "../style.js";

const CLEAR_LINE = "\r\x1b[2K";
const TRIALS_IN_A_LINE = 50;

/** Shows on stderr what a check is doing: one line that changes for a person, a few lines for a pipe. */
export class Progress {
  readonly #stream: Pick<WriteStream, "isTTY" | "columns" | "write">;
  readonly #style: Style;

  constructor(stream: Pick<WriteStream, "isTTY" | "columns" | "write">) {
    this.#stream = stream;
    this.#style = styleOf(stream);
  }

  onEvent(event: CheckEvent): void {
    const { colors } = this.#style;
    switch (event.type) {
      case "agent": {
        const { name, version, command } = event.agent;
        return this.#line(`Checking ${[name ?? command.join(" "), version].filter(Boolean).join(" ")}`);
      }
      case "case":
        return this.#transient(`${event.number}/${event.of}  ${event.requirement}  ${event.title}`);
      case "caseDone":
        if (event.report.verdict !== "fail") return;
        return this.#line(`${colors.red("FAIL")} ${event.report.requirement}: ${event.report.title}`);
      case "trial":
        return this.#trial(event.number, event.of);
      case "done":
        return this.end();
    }
  }

  /** Leaves a clean line behind. */
  end(): void {
    if (this.#stream.isTTY === true) this.#stream.write(CLEAR_LINE);
  }

  #trial(number: number, of: number): void {
    if (this.#stream.isTTY === true) this.#transient(`steering around the end of a turn  ${number}/${of}`);
    else if (number % TRIALS_IN_A_LINE === 0) this.#line(`trial ${number}/${of}`);
  }

  #transient(text: string): void {
    if (this.#stream.isTTY !== true) return;
    this.#stream.write(`${CLEAR_LINE}${this.#style.colors.dim(text.slice(0, this.#style.width - 1))}`);
  }

  #line(text: string): void {
    this.end();
    this.#stream.write(`${text}\n`);
  }
}
