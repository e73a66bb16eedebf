import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";

const BRIDGE = fileURLToPath(new URL("../../bridge/bridge.py", import.meta.url));

/** The interpreter whose "Hermes" is the stand-in. */
export const STAND_IN_PYTHON = fileURLToPath(new URL("python", import.meta.url));

/** One line of the bridge. */
export interface Line {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A request that the bridge answered with an error. */
class BridgeError extends Error {
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor({ code, message, data = {} }: { code: string; message: string; data?: Record<string, unknown> }) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface Waiting {
  readonly matches: (line: Line) => boolean;
  readonly resolve: (line: Line) => void;
  readonly reject: (error: Error) => void;
}

/** The real bridge as a process, and nothing of the adapter: what it writes is kept as it came. */
export class BridgeProcess {
  /** Everything the bridge has written, in order. */
  readonly lines: Line[] = [];
  /** What came out of Python's own standard error. */
  noise = "";
  /** What came out of its standard output: nothing ever should. */
  output = "";
  readonly #child: ChildProcess;
  readonly #input: Writable;
  readonly #taken = new Set<Line>();
  readonly #waiting = new Set<Waiting>();
  #lastId = 0;

  constructor(env: NodeJS.ProcessEnv, python = STAND_IN_PYTHON) {
    const stdio = ["pipe", "pipe", "pipe", "pipe", "pipe"] as const;
    this.#child = spawn(python, [BRIDGE], { env, stdio: [...stdio] });
    this.#input = this.#child.stdio[3] as Writable;
    // A bridge that has ended is noticed by its exit.
    this.#input.on("error", () => {});
    this.#child.stdin?.on("error", () => {});
    this.#child.stdin?.write("typed by nobody\n");
    this.#child.stdout?.on("data", (data: Buffer) => {
      this.output += data.toString();
    });
    this.#child.stderr?.on("data", (data: Buffer) => {
      this.noise += data.toString();
    });
    createInterface({ input: this.#child.stdio[4] as Readable }).on("line", (text) => this.#take(JSON.parse(text)));
    this.#child.once("exit", () => this.#end());
  }

  get pid(): number {
    return this.#child.pid ?? Number.NaN;
  }

  /** Resolves with the exit code when the process has ended. */
  async exited(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
    return this.#child.exitCode;
  }

  send(message: Readonly<Record<string, unknown>>): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  write(text: string): void {
    this.#input.write(text);
  }

  /** Both greetings; the `ready` line, or the `failed` one. */
  async greet(protocol = 1): Promise<Line> {
    await this.next("hello");
    this.send({ type: "hello", protocol });
    return this.match(({ type }) => type === "ready" || type === "failed");
  }

  /** A request and its answer; what its caller does not await yet runs meanwhile. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results as they are
  async request(type: string, fields: Readonly<Record<string, unknown>> = {}): Promise<any> {
    this.#lastId += 1;
    const id = this.#lastId;
    const reply = this.match((line) => line.type === "reply" && line["id"] === id);
    this.send({ type, id, ...fields });
    const { error, result } = (await reply) as unknown as {
      error?: { code: string; message: string };
      result: unknown;
    };
    if (error) throw new BridgeError(error);
    return result;
  }

  /** The first line of this type that no one has taken, here already or still to come. */
  next(type: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Line> {
    const wanted = Object.entries(fields);
    return this.match((line) => line.type === type && wanted.every(([key, value]) => line[key] === value));
  }

  match(matches: (line: Line) => boolean): Promise<Line> {
    const here = this.lines.find((line) => !this.#taken.has(line) && matches(line));
    if (here) {
      this.#taken.add(here);
      return Promise.resolve(here);
    }
    return new Promise((resolve, reject) => this.#waiting.add({ matches, resolve, reject }));
  }

  /** All lines so far of this type. */
  all(type: string): readonly Line[] {
    return this.lines.filter((line) => line.type === type);
  }

  /** The text that was streamed, of one turn or of all. */
  text(turn?: string): string {
    return this.all("text")
      .filter((line) => turn === undefined || line["turn"] === turn)
      .map((line) => line["text"])
      .join("");
  }

  /** Ends the lifeline, as the end of Node does. */
  letGo(): void {
    this.#input.destroy();
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #take(line: Line): void {
    this.lines.push(line);
    for (const waiting of this.#waiting) {
      if (!waiting.matches(line)) continue;
      this.#taken.add(line);
      this.#waiting.delete(waiting);
      waiting.resolve(line);
      return;
    }
  }

  #end(): void {
    for (const { reject } of this.#waiting) reject(new Error(`The bridge has ended. It said: ${this.noise}`));
    this.#waiting.clear();
  }
}
