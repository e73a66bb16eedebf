import { once } from "node:events";
import { type SpawnedChild, spawnChild } from "@acp-steering/kit/process";
import { readTextLines } from "./text-lines.js";
import type { AgentExit } from "./wire-record.js";

/** A pair of streams that carries the messages of one connection, as `connect` of a steerable takes it. */
type Connectable = { connect(stream: MessagePair): unknown };

interface Connection {
  readonly closed?: Promise<unknown>;
}

interface MessagePair {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's message union and what a test sends need not be one type.
  readonly readable: ReadableStream<any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly writable: WritableStream<any>;
}

/** What carries lines between a client and an agent. */
export interface Transport {
  /** How the agent is named in messages. */
  readonly name: string;
  readonly pid: number | undefined;
  /** What the agent has written to stderr so far (the last MiB). */
  readonly stderr: string;
  /** Resolves when the agent has ended and all its lines were given to the listener. */
  readonly ended: Promise<AgentExit>;
  /** Why the agent was ended from here, where it gave cause for that. */
  readonly fault: string | undefined;
  /** Called once, before anything is written. */
  listen(onLine: (line: string) => void): void;
  /** One line, or several in one write; without the last LF. */
  write(lines: string): void;
  /** Ends the agent's input. */
  endInput(): void;
  kill(signal: NodeJS.Signals): void;
  /** Ends the agent, whatever it does. */
  stop(): Promise<void>;
}

/** How to start an agent process. */
export interface ProcessOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** The whole environment of the agent; default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** An agent that has written more to stdout, in characters, is ended; each line counts for 256 more. Default: no limit. */
  readonly outputLimit?: number;
}

const STDERR_LIMIT = 1_048_576;
/** About what the record of a line takes beside its text. */
const LINE_COST = 256;
/** Processes that an agent leaves behind can hold its pipes open for ever. */
const DRAIN_MS = 500;

/**
 * An agent process over stdio, with everything it starts in its own process group. It does not outlive this process.
 *
 * @throws ExecutableNotFoundError, or an Error naming the command, where it cannot be started
 */
export async function processTransport(options: ProcessOptions): Promise<Transport> {
  return new ProcessTransport(await spawnChild(options), options);
}

class ProcessTransport implements Transport {
  readonly name: string;
  readonly ended: Promise<AgentExit>;
  readonly #child: SpawnedChild;
  readonly #drained: Promise<void>;
  readonly #outputLimit: number;
  #onLine: (line: string) => void = () => {};
  #stderr = "";
  #written = 0;
  #fault: string | undefined;

  constructor(child: SpawnedChild, { command, outputLimit = Number.POSITIVE_INFINITY }: ProcessOptions) {
    this.name = command;
    this.#child = child;
    this.#outputLimit = outputLimit;
    this.#drained = this.#readStdout();
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_LIMIT);
    });
    this.ended = this.#end();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get fault(): string | undefined {
    return this.#fault;
  }

  listen(onLine: (line: string) => void): void {
    this.#onLine = onLine;
  }

  write(lines: string): void {
    this.#child.stdin.write(`${lines}\n`);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  kill(signal: NodeJS.Signals): void {
    process.kill(this.#child.pid, signal);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }

  #readStdout(): Promise<void> {
    const { stdout } = this.#child;
    const pass = (line: string): void => {
      this.#count(LINE_COST);
      if (this.#fault === undefined) this.#onLine(line);
    };
    return new Promise((resolve) => {
      readTextLines(stdout, pass, (rest) => {
        if (rest !== "") pass(rest);
        resolve();
      });
      stdout.on("data", (chunk: string) => this.#count(chunk.length));
    });
  }

  #count(characters: number): void {
    this.#written += characters;
    if (this.#written <= this.#outputLimit || this.#fault !== undefined) return;
    this.#fault = `wrote more than ${this.#outputLimit} characters to stdout and was ended`;
    this.#child.stdout.destroy();
    void this.#child.stop();
  }

  async #end(): Promise<AgentExit> {
    const exit = await this.#child.exited;
    const pipes = [this.#child.stdout, this.#child.stderr];
    const timer = setTimeout(() => {
      for (const pipe of pipes) pipe.destroy();
    }, DRAIN_MS);
    await Promise.all([this.#drained, ...pipes.map((pipe) => pipe.closed || once(pipe, "close"))]);
    clearTimeout(timer);
    return exit;
  }
}

/** An agent in this process; what it is sent has to be JSON. */
export function inProcessTransport(agent: Connectable, name = "the agent"): Transport {
  const toAgent = new TransformStream<unknown, unknown>();
  const toClient = new TransformStream<unknown, unknown>();
  const writer = toAgent.writable.getWriter();
  let onLine: (line: string) => void = () => {};
  const read = async (): Promise<AgentExit> => {
    for await (const message of toClient.readable) onLine(JSON.stringify(message));
    return { code: 0, signal: null };
  };
  const ended = read().catch((): AgentExit => ({ code: 1, signal: null }));
  const { closed } = (agent.connect({ readable: toAgent.readable, writable: toClient.writable }) ?? {}) as Connection;
  // A connection that has ended lets go of its stream and need not end it.
  const end = (): void => void toClient.writable.close().catch(() => {});
  closed?.then(end, end);
  const endInput = (): void => {
    writer.close().catch(() => {});
  };
  return {
    name,
    pid: undefined,
    stderr: "",
    fault: undefined,
    ended,
    listen: (listener) => {
      onLine = listener;
    },
    write: (lines) => {
      for (const line of lines.split("\n")) writer.write(JSON.parse(line)).catch(() => {});
    },
    endInput,
    kill: endInput,
    stop: async () => endInput(),
  };
}
