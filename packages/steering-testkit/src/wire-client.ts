import { inProcessTransport, type ProcessOptions, processTransport, type Transport } from "./transport.js";
import {
  type AgentExit,
  asBlocks,
  type ContentBlockLike,
  type ParsedMessage,
  parseLine,
  type RequestHandler,
  type RequestId,
  type SentRequest,
  type SessionUpdateParams,
  WireError,
  type WireRecord,
} from "./wire-record.js";

/** How to start the agent that a {@link WireClient} talks to. */
export interface WireClientOptions extends ProcessOptions {
  /** How long `close()` waits after the end of the input before the agent is ended, in milliseconds. Default 5,000. */
  readonly graceMs?: number;
}

type Listener = (record: WireRecord) => void;
interface Waiter {
  readonly accepts: (record: WireRecord) => boolean;
  readonly resolve: (record: WireRecord) => void;
  readonly reject: (error: Error) => void;
}

interface PendingRequest {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const GRACE_MS = 5_000;

/**
 * A small ACP client for tests that talks raw JSON-RPC to an agent, a process or one in this process, and records every
 * message.
 *
 * It deliberately does not use the SDK: it can send what no SDK would ({@link sendRaw}), shows exactly what was on the
 * wire and in which order ({@link log}), and never hides a second answer to a request ({@link answersTo}).
 *
 * Errors: a request rejects with a {@link WireError} that carries the answer's `code` and `data`; when the agent ends
 * first, `code` is `"agentExited"` and the message holds the exit code and the end of its stderr.
 *
 * @example
 * ```ts
 * const client = await WireClient.spawn({ command: "node", args: ["agent.mjs"] });
 * await client.initialize();
 * const sessionId = await client.newSession(process.cwd());
 * const turn = client.prompt(sessionId, "Fix the test");
 * await client.waitFor((record) => record.direction === "in" && record.message?.method === "session/update");
 * const { outcome } = await client.steer(sessionId, "not that file");
 * await turn.answer; // { stopReason: "end_turn" }
 * await client.close();
 * ```
 */
export class WireClient {
  /** Starts the agent process. Rejects with an ExecutableNotFoundError where the command cannot be found. */
  static async spawn(options: WireClientOptions): Promise<WireClient> {
    return new WireClient(await processTransport(options), options.graceMs);
  }

  /** Connects to an agent in this process: a steerable, or anything else with `connect(stream)`. */
  static connect(agent: Parameters<typeof inProcessTransport>[0]): WireClient {
    return new WireClient(inProcessTransport(agent));
  }

  /** Resolves when the agent has ended and all its output was read. */
  readonly exited: Promise<AgentExit>;

  /** Answers `session/request_permission`; default: the first option that allows. */
  permission: RequestHandler = allowFirst;

  readonly #transport: Transport;
  readonly #graceMs: number;
  readonly #log: WireRecord[] = [];
  readonly #pending = new Map<RequestId, PendingRequest>();
  readonly #handlers = new Map<string, RequestHandler>();
  readonly #listeners = new Set<Listener>();
  readonly #waiters = new Set<Waiter>();
  #nextId = 1;
  #ended: WireError | undefined;

  private constructor(transport: Transport, graceMs = GRACE_MS) {
    this.#transport = transport;
    this.#graceMs = graceMs;
    transport.listen((line) => this.#receive(line));
    this.exited = transport.ended.then((exit) => {
      const how = exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`;
      const why = transport.fault ?? how;
      this.#rejectAll(new WireError("agentExited", `${transport.name} ${why}${this.#lastStderrLines()}`));
      return exit;
    });
  }

  /** The process id; `undefined` for an agent in this process. */
  get pid(): number | undefined {
    return this.#transport.pid;
  }

  /** Every line both ways, in the order in which this client wrote and read them. */
  get log(): readonly WireRecord[] {
    return this.#log;
  }

  /** How the agent ended, with its last words; missing while it is there. */
  get ended(): WireError | undefined {
    return this.#ended;
  }

  /** The methods of the requests that the agent still owes an answer, in the order in which they were sent. */
  get unanswered(): readonly string[] {
    return [...this.#pending.values()].map(({ method }) => method);
  }

  /** What the agent has written to stderr so far (the last MiB). */
  get stderr(): string {
    return this.#transport.stderr;
  }

  /** Sends a request; the promise settles with its first answer. */
  request<Result = unknown>(method: string, params?: unknown): Promise<Result> {
    return this.send<Result>(method, params).answer;
  }

  /** Sends a request and also gives its id, for {@link answersTo} and `$/cancel_request`. */
  send<Result = unknown>(method: string, params?: unknown): SentRequest<Result> {
    const id = this.#nextId++;
    const answer = new Promise<Result>((resolve, reject) => {
      if (this.#ended !== undefined) return reject(this.#ended);
      this.#pending.set(id, { method, resolve: resolve as (value: unknown) => void, reject });
    });
    // A test that kills the agent need not also catch what that rejects.
    answer.catch(() => {});
    this.#write({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
    return { id, answer };
  }

  /** Sends a notification. */
  notify(method: string, params?: unknown): void {
    this.#write({ jsonrpc: "2.0", method, ...(params !== undefined && { params }) });
  }

  /** Writes one or several lines as they are: for input that no SDK would send. An agent in this process takes JSON only. */
  sendRaw(text: string): void {
    for (const line of text.replace(/\n$/, "").split("\n")) this.#record("out", line);
    this.#transport.write(text.replace(/\n$/, ""));
  }

  /** `initialize` with protocol version 1; `clientCapabilities` are passed on. */
  initialize(clientCapabilities: Record<string, unknown> = {}): Promise<Record<string, unknown>> {
    return this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities,
      clientInfo: { name: "wire-client", version: "1.0.0" },
    });
  }

  /** `session/new` without MCP servers; gives the session id. */
  async newSession(cwd: string): Promise<string> {
    const result = await this.request<{ sessionId: string }>("session/new", { cwd, mcpServers: [] });
    return result.sessionId;
  }

  /** `session/prompt`; a string stands for one text block. */
  prompt(
    sessionId: string,
    prompt: string | readonly ContentBlockLike[],
    meta?: Record<string, unknown>,
  ): SentRequest<{ stopReason: string; _meta?: Record<string, unknown> }> {
    return this.send("session/prompt", { sessionId, prompt: asBlocks(prompt), ...(meta && { _meta: meta }) });
  }

  /** `_session/steering`; a string stands for one text block, `meta` is `_meta.steering` of the request. */
  steer(
    sessionId: string,
    prompt: string | readonly ContentBlockLike[],
    meta?: Record<string, unknown>,
  ): Promise<{ outcome: string; reason?: string; _meta?: { steering?: Record<string, unknown> } }> {
    return this.request("_session/steering", {
      sessionId,
      prompt: asBlocks(prompt),
      ...(meta && { _meta: { steering: meta } }),
    });
  }

  /** `session/cancel`, a notification. */
  cancel(sessionId: string): void {
    this.notify("session/cancel", { sessionId });
  }

  /** The updates of one session received so far, in order. */
  updates(sessionId: string): Record<string, unknown>[] {
    return this.#log
      .map((record) => updateOf(record))
      .filter((params) => params !== undefined && params.sessionId === sessionId)
      .map((params) => (params as SessionUpdateParams).update);
  }

  /** The text of the agent's messages in one session so far, joined. */
  agentText(sessionId: string): string {
    return this.updates(sessionId)
      .filter((update) => update["sessionUpdate"] === "agent_message_chunk")
      .map((update) => (update["content"] as { text?: string }).text ?? "")
      .join("");
  }

  /** Every answer to a request of ours, in order: a correct agent gives exactly one. */
  answersTo(id: RequestId): WireRecord[] {
    return this.#log.filter((record) => isAnswer(record) && record.message?.id === id);
  }

  /** Calls the listener for every `session/update` from now on; returns how to stop that. */
  onUpdate(listener: (params: SessionUpdateParams) => void): () => void {
    return this.onRecord((record) => {
      const params = updateOf(record);
      if (params !== undefined) listener(params);
    });
  }

  /** Calls the listener for every recorded line from now on; returns how to stop that. */
  onRecord(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Answers the agent's requests of that method; without a handler they get -32601. */
  handle(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler);
  }

  /**
   * The first record that fits, already received or still to come.
   *
   * @param from the order number at which to begin to look; default: the start of the log
   */
  waitFor(accepts: (record: WireRecord) => boolean, from = 0): Promise<WireRecord> {
    const found = this.#log.find((record) => record.order >= from && accepts(record));
    if (found !== undefined) return Promise.resolve(found);
    if (this.#ended !== undefined) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => this.#waiters.add({ accepts, resolve, reject }));
  }

  /** Waits for an update of that kind, e.g. `"tool_call"`, that also fits `accepts`. */
  async waitForUpdate(
    sessionUpdate: string,
    accepts: (update: Record<string, unknown>) => boolean = () => true,
    from = 0,
  ): Promise<Record<string, unknown>> {
    const record = await this.waitFor((candidate) => {
      const update = updateOf(candidate)?.update;
      return update?.["sessionUpdate"] === sessionUpdate && accepts(update);
    }, from);
    return (updateOf(record) as SessionUpdateParams).update;
  }

  /** Sends a signal to the agent process. */
  kill(signal: NodeJS.Signals): void {
    this.#transport.kill(signal);
  }

  /** Ends the agent with everything it has started, without asking it first. */
  async stop(): Promise<AgentExit> {
    // An agent in this process has nothing that could be ended by force.
    await this.#transport.stop();
    return this.exited;
  }

  /** Ends the agent's input and waits for its exit; after the grace it is ended, with everything it has started. */
  async close(): Promise<AgentExit> {
    this.#transport.endInput();
    const timer = setTimeout(() => void this.#transport.stop(), this.#graceMs);
    try {
      return await this.exited;
    } finally {
      clearTimeout(timer);
    }
  }

  #write(message: Record<string, unknown>): void {
    this.sendRaw(JSON.stringify(message));
  }

  #rejectAll(error: WireError): void {
    this.#ended ??= error;
    for (const { reject } of [...this.#pending.values(), ...this.#waiters]) reject(error);
    this.#pending.clear();
    this.#waiters.clear();
  }

  #lastStderrLines(): string {
    const lines = this.stderr.trimEnd().split("\n").slice(-5).join("\n");
    return lines === "" ? "" : `; its stderr ends with:\n${lines}`;
  }

  #receive(line: string): void {
    const message = this.#record("in", line).message;
    if (message === undefined) return;
    if (message.method !== undefined) {
      if (message.id !== undefined) void this.#answer(message.id, message.method, message.params);
      return;
    }
    this.#settle(message);
  }

  #settle(message: ParsedMessage): void {
    const id = message.id;
    if (id === undefined || id === null) return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (message.error !== undefined) {
      pending?.reject(new WireError(message.error.code, message.error.message, message.error.data));
    } else pending?.resolve(message.result);
  }

  async #answer(id: RequestId | null, method: string, params: unknown): Promise<void> {
    const handler = method === "session/request_permission" ? this.permission : this.#handlers.get(method);
    if (handler === undefined) {
      this.#write({ jsonrpc: "2.0", id, error: { code: -32601, message: `Method not found: ${method}` } });
      return;
    }
    try {
      this.#write({ jsonrpc: "2.0", id, result: await handler(params) });
    } catch (error) {
      const { code, message, data } = error as Partial<WireError>;
      const known = typeof code === "number" ? code : -32603;
      this.#write({ jsonrpc: "2.0", id, error: { code: known, message: message ?? String(error), data } });
    }
  }

  #record(direction: "out" | "in", raw: string): WireRecord {
    const message = parseLine(raw);
    const record: WireRecord = { order: this.#log.length, at: Date.now(), direction, raw, ...(message && { message }) };
    this.#log.push(record);
    for (const waiter of this.#waiters) {
      if (!waiter.accepts(record)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(record);
    }
    for (const listener of this.#listeners) listener(record);
    return record;
  }
}

function isAnswer(record: WireRecord): boolean {
  return record.direction === "in" && record.message !== undefined && record.message.method === undefined;
}

function updateOf(record: WireRecord): SessionUpdateParams | undefined {
  if (record.direction !== "in" || record.message?.method !== "session/update") return undefined;
  const params = record.message.params as Partial<SessionUpdateParams> | null | undefined;
  // An agent may print anything; what is no update must not take the reader down.
  return typeof params?.update === "object" && params.update !== null ? (params as SessionUpdateParams) : undefined;
}

function allowFirst(params: unknown): unknown {
  const { options = [] } = params as { options?: { optionId: string; kind?: string }[] };
  const allowing = options.find((option) => option.kind?.startsWith("allow"));
  return allowing === undefined
    ? { outcome: { outcome: "cancelled" } }
    : { outcome: { outcome: "selected", optionId: allowing.optionId } };
}
