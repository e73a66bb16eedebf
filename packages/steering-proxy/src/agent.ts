import type { RpcError, WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { recordOf, textOf } from "@acp-steering/kit/adapter";
import {
  type AgentCommand,
  type AgentDeath,
  AgentProcess,
  type RunningAgent,
  type StartProcess,
} from "./agent-process.js";
import { AgentRequests } from "./agent-requests.js";
import { agentExited, agentUnavailable, describeDeath, sessionLost } from "./errors.js";
import { type Originals, readLine } from "./json-lines.js";
import { OwnRequests } from "./own-requests.js";
import { Sessions } from "./sessions.js";
import type { AgentAnswer } from "./vendor-steering.js";

/** What happens when the agent's process has ended. */
export type Restart = "never" | "on-demand";

export interface AgentSettings {
  readonly agent: AgentCommand;
  readonly restart: Restart;
  /** How long the agent may take to answer `initialize`, and to bring a session back, in milliseconds. */
  readonly startTimeoutMs: number;
  readonly maxLineBytes?: number | undefined;
  readonly originals: Originals;
  /** How a process is started; for tests that play one. */
  readonly startProcess?: StartProcess | undefined;
}

/** What the agent has to say. */
export interface AgentEvents {
  /** Whether a line goes to the client unread, and those that do: see {@link LineSink}. */
  scanning(text: string): void;
  passes(text: string, start: number, end: number): boolean;
  span(lines: Buffer): void;
  chunk(stage: "begins" | "ends"): void;
  /** A message for the client. */
  message(message: WireMessage, line: Buffer): void;
  /** A batch for the client, as it is. */
  batch(line: Buffer): void;
  /** A line that was read, whatever it says. */
  read(line: Buffer): void;
  /** A line that was written. */
  wrote(line: Buffer): void;
  /** A line on stdout that is no message. */
  rubbish(line: Buffer): void;
  stderr(chunk: Buffer): void;
  /** Another process has taken the place of the one that ended. */
  restarted(): void;
  /** It is gone, and everything that it owed was answered. `isFinal`: no other process will take its place. */
  died(death: AgentDeath, isFinal: boolean): void;
}

/** So many processes in a row may end without having answered anything but `initialize`. */
const MAX_DEATHS = 3;
const VENDOR_TIMEOUT_MS = 30_000;

/**
 * The agent, over the processes that it is one after the other. Whatever becomes of a process, each request that was
 * written to it is answered, and the client is not left with a question of it.
 */
export class Agent {
  readonly #settings: AgentSettings;
  readonly #events: AgentEvents;
  readonly #sessions = new Sessions();
  readonly #prefix = `steering-proxy-${crypto.randomUUID()}-`;
  readonly #own = new OwnRequests(this.#prefix);
  /** Requests of the client that the process owes an answer. */
  readonly #owed = new Map<WireMessage["id"], WireMessage>();
  #process: RunningAgent | undefined;
  #requests = new AgentRequests();
  #generation = 0;
  /** Processes in a row that ended without having done anything. */
  #deaths = 0;
  #lastDeath: AgentDeath | undefined;
  /** The client's request, and what the agent answered. */
  #initialize: WireMessage | undefined;
  #initialized: unknown;
  /** The session whose history is not for the client, which has seen it. */
  #reopening: string | undefined;
  #closing = false;
  #suspended: Buffer[] | undefined;

  constructor(settings: AgentSettings, events: AgentEvents) {
    this.#settings = settings;
    this.#events = events;
  }

  /** Whether a process is there. */
  get alive(): boolean {
    return this.#process !== undefined;
  }

  get stderr(): readonly string[] {
    return this.#process?.stderr ?? this.#lastDeath?.stderr ?? [];
  }

  /** @throws Error where the command cannot be started */
  async start(): Promise<void> {
    const { agent, maxLineBytes, startProcess = AgentProcess.start } = this.#settings;
    const { scanning, passes, span, chunk, stderr } = this.#events;
    const started = await startProcess(
      agent,
      {
        scanning,
        passes,
        span,
        chunk,
        stderr,
        line: (line) => this.#handle(line),
        died: (death) => this.#died(death),
      },
      maxLineBytes,
    );
    this.#process = started;
    if (this.#closing) void started.stop();
  }

  /** A message of the client, or of the layer. The next one is to come when what this returns is settled. */
  send(message: WireMessage): Promise<void> | undefined {
    if (message.method === undefined) {
      const answer = this.#requests.answered(message);
      return answer && this.#write(answer);
    }
    if (message.id === undefined) return this.#write(message);
    const isReady = this.#process && this.#sessions.missing(message, this.#generation) === undefined;
    return isReady ? this.#ask(message) : this.#askAnew(message);
  }

  /** What is no message: it goes on as it is. */
  sendOther(line: Buffer): Promise<void> | undefined {
    return this.#writeLine(line);
  }

  /** A request of the proxy itself. */
  request(method: string, params: unknown, timeoutMs: number = VENDOR_TIMEOUT_MS): Promise<AgentAnswer> {
    if (!this.#process) return Promise.reject(new Error("the agent is gone"));
    return this.#own.send(method, params, timeoutMs, (message) => void this.#write(message));
  }

  /** What the agent answered to the client's `initialize`. */
  meet(request: WireMessage, answer: WireMessage): void {
    this.#initialize = request;
    this.#initialized = answer.result;
  }

  /** Lines wait until `resume`. */
  suspend(): void {
    this.#suspended ??= [];
    this.pause();
  }

  continue(): void {
    const lines = this.#suspended ?? [];
    this.#suspended = undefined;
    for (const line of lines) this.#handle(line);
    this.resume();
  }

  pause(): void {
    this.#process?.pause();
  }

  resume(): void {
    if (!this.#suspended) this.#process?.resume();
  }

  /** The client is gone: the agent may end. */
  endInput(): void {
    this.#closing = true;
    this.#process?.endInput();
  }

  async stop(): Promise<void> {
    this.#closing = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    await this.#process?.stop();
  }

  // --- To the agent -----------------------------------------------------------------------------------------------------

  #ask(message: WireMessage): Promise<void> | undefined {
    this.#owed.set(message.id, message);
    return this.#write(message);
  }

  /** A request that needs a process, or a session, that is not there. */
  async #askAnew(message: WireMessage): Promise<void> {
    const error = (await this.#revive()) ?? (await this.#reopen(message));
    if (error) this.#pass({ jsonrpc: "2.0", id: message.id as string, error });
    else await this.#ask(message);
  }

  /** @returns why there is no process */
  async #revive(): Promise<RpcError | undefined> {
    if (this.#process) return undefined;
    const death = this.#lastDeath;
    if (death && this.#isFinal()) return agentExited(death, "It is not started again.");
    try {
      await this.start();
      if (this.#initialize) await this.#introduce(this.#initialize);
    } catch (error) {
      await this.#end();
      return this.#lastDeath === death
        ? agentUnavailable((error as Error).message)
        : agentExited(this.#lastDeath as AgentDeath, "It was started again and ended at once.");
    }
    this.#events.restarted();
    return undefined;
  }

  async #introduce({ params }: WireMessage): Promise<void> {
    const { result, error } = await this.request(METHOD.initialize, params, this.#settings.startTimeoutMs);
    if (error) throw new Error(`it answered initialize with "${error.message}".`);
    this.#initialized = result;
  }

  /** @returns why the session of a request is not there */
  async #reopen(message: WireMessage): Promise<RpcError | undefined> {
    const sessionId = this.#sessions.missing(message, this.#generation);
    if (sessionId === undefined) return undefined;
    const reopening = this.#sessions.reopening(sessionId, this.#initialized);
    if (!reopening) return sessionLost(sessionId, "the agent can neither resume nor load one");
    this.#reopening = sessionId;
    try {
      const { error } = await this.request(reopening.method, reopening.params, this.#settings.startTimeoutMs);
      if (error) return sessionLost(sessionId, `it answered ${reopening.method} with "${error.message}"`);
      this.#sessions.reopened(sessionId, this.#generation);
      return undefined;
    } catch (error) {
      return sessionLost(sessionId, (error as Error).message);
    } finally {
      this.#reopening = undefined;
    }
  }

  #write(message: WireMessage): Promise<void> | undefined {
    return this.#writeLine(this.#settings.originals.lineOf(message));
  }

  #writeLine(line: Buffer): Promise<void> | undefined {
    if (!this.#process) return undefined;
    this.#events.wrote(line);
    return this.#process.write(line);
  }

  // --- From the agent ---------------------------------------------------------------------------------------------------

  #handle(line: Buffer): void {
    if (this.#suspended) return void this.#suspended.push(line);
    this.#events.read(line);
    const read = readLine(line);
    if (read.kind === "message") this.#receive(read.message, line);
    else if (read.kind === "batch") this.#events.batch(line);
    else if (read.kind === "other") this.#events.rubbish(line);
  }

  #receive(message: WireMessage, line: Buffer): void {
    const { method, id } = message;
    if (method === undefined) {
      if (this.#own.take(message)) return;
      const request = this.#owed.get(id);
      this.#owed.delete(id);
      if (request) this.#sessions.answered(request, message, this.#generation);
      if (request && request.method !== METHOD.initialize) this.#deaths = 0;
    }
    if (method === METHOD.update && this.#isReplay(message)) return;
    this.#settings.originals.remember(message, line);
    this.#pass(message, line);
  }

  #isReplay({ params }: WireMessage): boolean {
    return this.#reopening !== undefined && textOf(recordOf(params)["sessionId"]) === this.#reopening;
  }

  #pass(message: WireMessage, line: Buffer = Buffer.alloc(0)): void {
    const { method, id } = message;
    if (method === undefined) return this.#events.message(message, line);
    const isRequest = id !== undefined && method !== METHOD.update;
    this.#events.message(isRequest ? this.#requests.asked(message) : this.#requests.withdrawn(message), line);
  }

  // --- The end of a process ---------------------------------------------------------------------------------------------

  #isFinal(): boolean {
    const { restart } = this.#settings;
    return this.#closing || restart === "never" || !this.#initialize || this.#deaths >= MAX_DEATHS;
  }

  #died(death: AgentDeath): void {
    if (this.#suspended) this.continue();
    this.#process = undefined;
    this.#lastDeath = death;
    this.#deaths += 1;
    this.#generation += 1;
    this.#own.failAll(describeDeath(death));
    const withdrawn = this.#requests.open;
    this.#requests = new AgentRequests(`${this.#prefix}${this.#generation}-`);
    for (const requestId of withdrawn)
      this.#events.message({ jsonrpc: "2.0", method: METHOD.cancelRequest, params: { requestId } }, Buffer.alloc(0));
    const isFinal = this.#isFinal();
    const next = isFinal ? "It is not started again." : "The next request starts it again.";
    const owed = [...this.#owed.keys()];
    this.#owed.clear();
    for (const id of owed) this.#pass({ jsonrpc: "2.0", id: id as string, error: agentExited(death, next) });
    this.#events.died(death, isFinal);
  }
}
