import type { Steerable, WireMessage } from "../../src/index.js";
import type { MessageStream, RpcError } from "../../src/protocol.js";
import { type AgentConnector, type SteeringOptions, steeringWith } from "../../src/steering.js";
import { ManualClock } from "./clock.js";

export type Message = WireMessage & { params?: Record<string, unknown>; result?: Record<string, unknown> };

/** One end of a connection, driven message by message. */
export class Peer {
  readonly received: Message[] = [];
  private readonly writer: WritableStreamDefaultWriter<WireMessage>;

  constructor(stream: MessageStream) {
    this.writer = stream.writable.getWriter();
    void this.read(stream.readable.getReader());
  }

  private async read(reader: ReadableStreamDefaultReader<Message>): Promise<void> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) this.received.push(next.value);
  }

  send(message: Omit<WireMessage, "jsonrpc">): void {
    this.sendAny({ jsonrpc: "2.0", ...message });
  }

  /** Anything at all, also what is no message. */
  sendAny(message: unknown): void {
    this.writer.write(message as WireMessage).catch(() => {});
  }

  request(id: string | number, method: string, params: unknown): void {
    this.send({ id, method, params });
  }

  notify(method: string, params: unknown): void {
    this.send({ method, params });
  }

  end(): void {
    void this.writer.close();
  }

  /** The responses to a request; more than one is a fault. */
  answers(id: string | number | null): Message[] {
    return this.received.filter((message) => message.id === id && message.method === undefined);
  }

  /** What arrived of a method. */
  of(method: string): Message[] {
    return this.received.filter((message) => message.method === method);
  }

  /** The receipts, as they arrived. */
  get receipts(): Record<string, unknown>[] {
    return this.of("_session/steering/update").map(({ params = {} }) => params);
  }

  /** The updates of one kind that arrived. */
  updates(kind: string): Record<string, unknown>[] {
    const updates = this.of("session/update").map(({ params }) => params?.["update"] as Record<string, unknown>);
    return updates.filter((update) => update?.["sessionUpdate"] === kind);
  }

  /** The kinds of all updates that arrived, in order. */
  get updateKinds(): unknown[] {
    return this.of("session/update").map(({ params }) => (params?.["update"] as Message["params"])?.["sessionUpdate"]);
  }

  /** The stop reasons a prompt was answered with; more than one is a fault. */
  stops(id: string | number): unknown[] {
    return this.answers(id).map(({ result, error }) => result?.["stopReason"] ?? error);
  }

  /** The one result of a request. */
  result(id: string | number): Record<string, unknown> {
    return this.only(id).result ?? {};
  }

  /** The one error of a request. */
  error(id: string | number): (RpcError & { readonly data?: Record<string, unknown> }) | undefined {
    return this.only(id).error as RpcError & { readonly data?: Record<string, unknown> };
  }

  private only(id: string | number): Message {
    const [answer, ...more] = this.answers(id);
    if (!answer || more.length > 0) throw new Error(`Request ${id} has ${more.length + (answer ? 1 : 0)} answers.`);
    return answer;
  }

  /** What the answer to a steer or to an owner says under `_meta.steering`. */
  meta(id: string | number): Record<string, unknown> {
    return (this.result(id)["_meta"] as { steering: Record<string, unknown> }).steering;
  }
}

/** Two streams that are each other's other end. */
export function streamPair(): [MessageStream, MessageStream] {
  const there = new TransformStream<WireMessage, WireMessage>();
  const back = new TransformStream<WireMessage, WireMessage>();
  return [
    { readable: back.readable, writable: there.writable },
    { readable: there.readable, writable: back.writable },
  ];
}

/** Lets every promise that can settle settle; no timer of the layer fires. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export const textBlock = (text: string): { type: "text"; text: string } => ({ type: "text", text });

interface AnyBlock {
  readonly type: string;
  readonly text?: string;
}

/** The blocks of a prompt. */
export const blocksOf = (params: Record<string, unknown> | undefined): AnyBlock[] =>
  (params?.["prompt"] ?? []) as AnyBlock[];

/** The texts of the blocks of a prompt; of other blocks their type. */
export const textsOf = (params: Record<string, unknown> | undefined): string[] =>
  blocksOf(params).map(({ type, text }) => text ?? type);

/** A layer between a client and an agent that the test plays by hand, after `initialize` and `session/new`. */
export class Rig {
  readonly clock = new ManualClock();
  readonly steerable: Steerable;
  readonly agents: Peer[] = [];
  readonly clients: Peer[] = [];
  /** What each connection's agent side resolves `closed` with. */
  readonly closers: (() => void)[] = [];
  readonly closed: Promise<void>[] = [];
  private readonly entrance: Steerable;

  /** `outer` puts a second layer around the first. */
  constructor(options: SteeringOptions = {}, outer?: SteeringOptions) {
    const app: AgentConnector = {
      connect: (stream) => {
        this.agents.push(new Peer(stream));
        return { closed: new Promise<void>((resolve) => this.closers.push(resolve)) };
      },
    };
    this.steerable = steeringWith(app, options, this.clock);
    this.entrance = outer ? steeringWith(this.steerable, outer, this.clock) : this.steerable;
  }

  get agent(): Peer {
    return this.agents[0] as Peer;
  }

  get client(): Peer {
    return this.clients[0] as Peer;
  }

  /** One more connection, not initialized. */
  connect(): { client: Peer; agent: Peer } {
    const [clientEnd, agentEnd] = streamPair();
    this.closed.push(this.entrance.connect(agentEnd).closed);
    const client = new Peer(clientEnd);
    this.clients.push(client);
    return { client, agent: this.agents[this.agents.length - 1] as Peer };
  }

  /** One more connection, initialized. */
  async open(
    steering: object = { receipts: true },
    result: object = { protocolVersion: 1, agentCapabilities: {} },
  ): Promise<{ client: Peer; agent: Peer }> {
    const { client, agent } = this.connect();
    client.request("init", "initialize", { protocolVersion: 1, clientCapabilities: { _meta: { steering } } });
    await quiet();
    agent.send({ id: "init", result });
    await quiet();
    return { client, agent };
  }

  /** Asks for a session with `method` and has the agent grant it. */
  async session(
    sessionId = "s",
    ends = { client: this.client, agent: this.agent },
    method = "session/new",
  ): Promise<void> {
    const { client, agent } = ends;
    const id = `${method}-${sessionId}`;
    client.request(id, method, { cwd: "/", mcpServers: [], ...(method === "session/new" ? {} : { sessionId }) });
    await quiet();
    agent.send({ id, result: method === "session/new" ? { sessionId } : {} });
    await quiet();
  }

  /** A rig with one initialized connection and one session `s`. */
  static async start(options: SteeringOptions = {}, steering?: object, result?: object): Promise<Rig> {
    const rig = new Rig(options);
    await rig.open(steering, result);
    await rig.session();
    return rig;
  }

  /** The same, with the prompt `1`, "go", at the agent. */
  static async running(options: SteeringOptions = {}, steering?: object, result?: object): Promise<Rig> {
    const rig = await Rig.start(options, steering, result);
    rig.prompt(1, "go");
    await quiet();
    return rig;
  }

  prompt(id: string | number, text: string, sessionId = "s", client = this.client): void {
    client.request(id, "session/prompt", { sessionId, prompt: [textBlock(text)] });
  }

  steer(id: string | number, text: string, steering?: object, sessionId = "s", client = this.client): void {
    const meta = steering ? { _meta: { steering } } : {};
    client.request(id, "_session/steering", { sessionId, prompt: [textBlock(text)], ...meta });
  }

  revoke(id: string | number, messageId: unknown, sessionId = "s", client = this.client): void {
    client.request(id, "_session/steering/revoke", { sessionId, messageId });
  }

  cancel(sessionId = "s", client = this.client): void {
    client.notify("session/cancel", { sessionId });
  }

  /** Time passes, and what comes of it happens. */
  async pass(ms = 0): Promise<void> {
    await quiet();
    this.clock.advance(ms);
    await quiet();
  }

  /** The agent says something in the session. */
  say(text: string, sessionId = "s"): void {
    this.update("agent_message_chunk", { content: textBlock(text) }, sessionId);
  }

  /** The agent sends an update of any kind. */
  update(sessionUpdate: string, rest: object = {}, sessionId = "s"): void {
    this.agent.notify("session/update", { sessionId, update: { sessionUpdate, ...rest } });
  }

  /** The prompts that reached the agent, in order. */
  get runs(): Message[] {
    return this.agent.of("session/prompt");
  }

  /** The texts of the prompts that reached the agent. */
  get runTexts(): string[][] {
    return this.runs.map(({ params }) => textsOf(params));
  }

  /** The agent answers its latest run. */
  endRun(outcome: Pick<WireMessage, "result" | "error"> = { result: { stopReason: "end_turn" } }): void {
    const run = this.runs[this.runs.length - 1];
    this.agent.send({ id: run?.id ?? null, ...outcome });
  }

  /** The agent answers run after run with `end_turn`, until none follows. */
  async finish(): Promise<void> {
    let runs = 0;
    await quiet();
    while (this.runs.length > runs) {
      runs = this.runs.length;
      this.endRun();
      await quiet();
      await this.pass();
    }
  }
}
