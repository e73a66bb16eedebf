import { once } from "node:events";
import { LineTooLongError, type SpawnedChild, StderrTail, spawnChild, whenMute } from "@acp-steering/kit/process";
import { LineScanner, type LineSink } from "./line-scanner.js";

/** How the agent's process ended. */
export interface AgentDeath {
  readonly command: string;
  /** As a sentence goes on after the command. */
  readonly how: string;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines that it wrote to stderr, short, without what looks like a secret. */
  readonly stderr: readonly string[];
}

/** How to start an agent. */
export interface AgentCommand {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** What a process reports. */
export interface AgentProcessSink extends LineSink {
  /** A chunk is about to be handled, or was. */
  chunk(stage: "begins" | "ends"): void;
  stderr(chunk: Buffer): void;
  /** It is gone, and all that it wrote was handled. */
  died(death: AgentDeath): void;
}

/** A process of the agent, while it runs. */
export interface RunningAgent {
  /** The last lines that it wrote to stderr. */
  readonly stderr: readonly string[];
  /** @returns what to wait for before the next write, where its pipe is full */
  write(line: Buffer): Promise<void> | undefined;
  /** Reads no more of its stdout, so that it has to wait. */
  pause(): void;
  resume(): void;
  endInput(): void;
  stop(): Promise<void>;
}

/** @throws ExecutableNotFoundError, or an Error naming the command, where it cannot be started */
export type StartProcess = (agent: AgentCommand, sink: AgentProcessSink, limit?: number) => Promise<RunningAgent>;

/** What else holds the pipes of an agent that has ended is not waited for. */
const DRAIN_MS = 500;

/** One process of the agent. */
export class AgentProcess implements RunningAgent {
  readonly #command: string;
  readonly #child: SpawnedChild;
  readonly #sink: AgentProcessSink;
  readonly #scanner: LineScanner;
  readonly #tail = new StderrTail();
  #fault: string | undefined;
  #chunks = 0;

  /** As {@link StartProcess}. */
  static async start(agent: AgentCommand, sink: AgentProcessSink, limit?: number): Promise<AgentProcess> {
    const { command, args = [], cwd, env } = agent;
    const child = await spawnChild({ command, args, ...(cwd !== undefined && { cwd }), ...(env && { env }) });
    return new AgentProcess(command, child, sink, limit);
  }

  private constructor(command: string, child: SpawnedChild, sink: AgentProcessSink, limit: number | undefined) {
    this.#command = command;
    this.#child = child;
    this.#sink = sink;
    this.#scanner = new LineScanner(sink, limit);
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      this.#tail.push(chunk);
      sink.stderr(chunk);
    });
    whenMute(child, () => this.#endWith("closed its output and was ended"));
    void this.#watch();
  }

  get stderr(): readonly string[] {
    return this.#tail.lines();
  }

  write(line: Buffer): Promise<void> | undefined {
    const { stdin } = this.#child;
    if (stdin.destroyed) return undefined;
    stdin.cork();
    stdin.write(line);
    const free = stdin.write("\n");
    stdin.uncork();
    return free ? undefined : this.#drained();
  }

  pause(): void {
    this.#child.stdout.pause();
  }

  resume(): void {
    this.#child.stdout.resume();
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }

  #read(chunk: Buffer): void {
    this.#chunks += 1;
    this.#sink.chunk("begins");
    try {
      this.#scanner.push(chunk);
    } catch (error) {
      if (!(error instanceof LineTooLongError)) throw error;
      this.#endWith(`wrote a line of more than ${error.limit} bytes and was ended`);
    } finally {
      this.#sink.chunk("ends");
    }
  }

  #endWith(fault: string): void {
    this.#fault = fault;
    this.#child.stdout.destroy();
    void this.#child.stop();
  }

  async #drained(): Promise<void> {
    const waiting = new AbortController();
    const { signal } = waiting;
    const drained = once(this.#child.stdin, "drain", { signal }).catch(() => {});
    await Promise.race([drained, this.#child.exited]);
    waiting.abort();
  }

  async #watch(): Promise<void> {
    const { code, signal } = await this.#child.exited;
    await this.#drain();
    if (this.#fault === undefined) this.#scanner.end();
    const ended = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    const how = this.#fault ?? ended;
    this.#sink.died({ command: this.#command, how, code, signal, stderr: this.#tail.lines() });
  }

  /** Waits for the end of its pipes, or until nothing has come for a while that was not held back by us. */
  async #drain(): Promise<void> {
    const { stdout, stderr } = this.#child;
    const ends = Promise.all([stdout, stderr].map((pipe) => pipe.closed || once(pipe, "close")));
    const ended = ends.then(() => true);
    for (let chunks = -1; chunks !== this.#chunks || stdout.isPaused(); ) {
      chunks = this.#chunks;
      if (await Promise.race([ended, pauseFor(DRAIN_MS)])) return;
    }
    stdout.destroy();
    stderr.destroy();
  }
}

const pauseFor = (milliseconds: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), milliseconds));
