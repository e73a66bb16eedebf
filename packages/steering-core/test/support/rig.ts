import type { WireMessage } from "../../src/index.js";
import type { MessageStream } from "../../src/protocol.js";
import { type AgentConnector, type SteeringOptions, steeringWith } from "../../src/steering.js";
import type { Steerable } from "../../src/index.js";
import { ManualClock } from "./clock.js";

type Message = WireMessage & { params?: Record<string, unknown>; result?: Record<string, unknown> };

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
    void this.writer.write({ jsonrpc: "2.0", ...message });
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
  answers(id: string | number): Message[] {
    return this.received.filter((message) => message.id === id && message.method === undefined);
  }

  /** What arrived of a method. */
  of(method: string): Message[] {
    return this.received.filter((message) => message.method === method);
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

/** A layer between a client and an agent that the test plays by hand, after `initialize` and `session/new`. */
export class Rig {
  readonly clock = new ManualClock();
  readonly steerable: Steerable;
  readonly agents: Peer[] = [];
  readonly clients: Peer[] = [];
  /** What each connection's agent side resolves `closed` with. */
  readonly closers: (() => void)[] = [];
  readonly closed: Promise<void>[] = [];

  constructor(options: SteeringOptions = {}) {
    const app: AgentConnector = {
      connect: (stream) => {
        this.agents.push(new Peer(stream));
        return { closed: new Promise<void>((resolve) => this.closers.push(resolve)) };
      },
    };
    this.steerable = steeringWith(app, options, this.clock);
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
    this.closed.push(this.steerable.connect(agentEnd).closed);
    const client = new Peer(clientEnd);
    this.clients.push(client);
    return { client, agent: this.agents[this.agents.length - 1] as Peer };
  }

  /** One more connection, initialized. */
  async open(steering: object = { receipts: true }, result: object = { protocolVersion: 1, agentCapabilities: {} }): Promise<{ client: Peer; agent: Peer }> {
    const { client, agent } = this.connect();
    client.request("init", "initialize", { protocolVersion: 1, clientCapabilities: { _meta: { steering } } });
    await quiet();
    agent.send({ id: "init", result });
    await quiet();
    return { client, agent };
  }

  async session(sessionId = "s", { client, agent } = { client: this.client, agent: this.agent }): Promise<void> {
    client.request(`new-${sessionId}`, "session/new", { cwd: "/", mcpServers: [] });
    await quiet();
    agent.send({ id: `new-${sessionId}`, result: { sessionId } });
    await quiet();
  }

  /** A rig with one initialized connection and one session `s`. */
  static async start(options: SteeringOptions = {}, steering?: object, result?: object): Promise<Rig> {
    const rig = new Rig(options);
    await rig.open(steering, result);
    await rig.session();
    return rig;
  }

  prompt(id: string | number, text: string, sessionId = "s"): void {
    this.client.request(id, "session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  steer(id: string | number, text: string, steering?: object, sessionId = "s"): void {
    const meta = steering ? { _meta: { steering } } : {};
    this.client.request(id, "_session/steering", { sessionId, prompt: [{ type: "text", text }], ...meta });
  }

  /** The agent says something in the session. */
  say(text: string, sessionId = "s"): void {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } };
    this.agent.notify("session/update", { sessionId, update });
  }

  /** The prompts that reached the agent, in order. */
  get runs(): Message[] {
    return this.agent.of("session/prompt");
  }

  /** The agent answers its latest run. */
  endRun(outcome: Pick<WireMessage, "result" | "error"> = { result: { stopReason: "end_turn" } }): void {
    const run = this.runs[this.runs.length - 1];
    this.agent.send({ id: run?.id ?? null, ...outcome });
  }
}
