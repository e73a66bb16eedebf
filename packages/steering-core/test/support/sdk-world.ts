import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { createWebSocketStream, type WebSocketConstructor } from "@agentclientprotocol/sdk/experimental/ws-client";
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";
import { WebSocket, WebSocketServer } from "ws";
import type { AgentConnector, Receipt } from "../../src/index.js";
import { streamPair, textBlock } from "./rig.js";

/** What arrives, and whoever waits for it. */
class Arrivals<T> {
  private readonly arrived: T[] = [];
  private readonly waiting: ((item: T) => void)[] = [];

  push(item: T): void {
    const next = this.waiting.shift();
    if (next) next(item);
    else this.arrived.push(item);
  }

  next(): Promise<T> {
    const item = this.arrived.shift();
    return item === undefined ? new Promise((resolve) => this.waiting.push(resolve)) : Promise.resolve(item);
  }

  get length(): number {
    return this.arrived.length;
  }
}

type StopReason = "end_turn" | "cancelled" | "refusal";

/** One `session/prompt` at the agent, which ends when the test says. */
export interface OpenRun {
  readonly sessionId: string;
  readonly texts: string[];
  say(text: string): Promise<void>;
  end(stopReason: StopReason): void;
  fail(error: Error): void;
}

/** An agent made with the SDK whose runs the test ends by hand. */
export class SdkAgent {
  readonly runs = new Arrivals<OpenRun>();
  readonly cancels = new Arrivals<string>();
  /** Prompts and cancels, in the order in which the SDK gave them to the agent. */
  readonly seen: ("prompt" | "cancel")[] = [];
  readonly app: AgentApp;
  private sessions = 0;

  constructor() {
    this.app = agent()
      .onRequest(methods.agent.initialize, () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
      .onRequest(methods.agent.session.new, () => {
        this.sessions += 1;
        return { sessionId: `s${this.sessions}` };
      })
      .onRequest(methods.agent.session.load, () => ({}))
      .onRequest(methods.agent.session.close, () => ({}))
      .onNotification(methods.agent.session.cancel, ({ params }) => {
        this.seen.push("cancel");
        this.cancels.push(params.sessionId);
      })
      .onRequest(methods.agent.session.prompt, ({ params, client: context }) => this.run(params, context));
  }

  private run(
    params: { sessionId: string; prompt: { type: string }[] },
    context: AgentContext,
  ): Promise<{ stopReason: StopReason }> {
    const { sessionId } = params;
    this.seen.push("prompt");
    const texts = params.prompt.map((block) => ("text" in block ? String(block.text) : block.type));
    return new Promise((resolve, reject) => {
      this.runs.push({
        sessionId,
        texts,
        say: (text) =>
          context.notify(methods.client.session.update, {
            sessionId,
            update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
          }),
        end: (stopReason) => resolve({ stopReason }),
        fail: reject,
      });
    });
  }
}

interface SteerAnswer {
  readonly outcome: string;
  readonly _meta: { readonly steering: Record<string, unknown> };
}

/** A client made with the SDK. */
export class SdkClient {
  readonly receipts = new Arrivals<Receipt>();
  readonly updates: unknown[] = [];
  readonly connection: ClientConnection;
  private readonly whole: Receipt[] = [];

  constructor(stream: Stream) {
    this.connection = client()
      .onNotification(methods.client.session.update, ({ params }) => void this.updates.push(params.update))
      .onNotification(
        "_session/steering/update",
        (params) => params as Receipt,
        ({ params }) => {
          this.whole.push(params);
          this.receipts.push(params);
        },
      )
      .connect(stream);
  }

  get states(): string[] {
    return this.whole.map(({ state }) => state);
  }

  async initialize(): Promise<Record<string, unknown>> {
    const clientCapabilities = { _meta: { steering: { receipts: true } } };
    const params = { protocolVersion: 1, clientCapabilities };
    const { _meta } = await this.connection.agent.request<{ _meta: { steering: Record<string, unknown> } }>(
      "initialize",
      params,
    );
    return _meta.steering;
  }

  async newSession(): Promise<string> {
    return (await this.connection.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })).sessionId;
  }

  async load(sessionId: string): Promise<void> {
    await this.connection.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] });
  }

  prompt(sessionId: string, text: string): Promise<{ stopReason: string; _meta?: { steering?: object } }> {
    return this.connection.agent.request("session/prompt", { sessionId, prompt: [textBlock(text)] });
  }

  steer(sessionId: string, text: string): Promise<SteerAnswer> {
    return this.connection.agent.request("_session/steering", { sessionId, prompt: [textBlock(text)] });
  }

  cancel(sessionId: string): Promise<void> {
    return this.connection.agent.notify(methods.agent.session.cancel, { sessionId });
  }
}

/** A way for clients to reach an agent. */
export interface Transport {
  connect(): Stream;
  close(): Promise<void>;
}

/** Messages handed over as they are. */
export const inProcess = (connector: AgentConnector): Transport => ({
  connect: () => {
    const [mine, theirs] = streamPair();
    connector.connect(theirs);
    return mine;
  },
  close: async () => {},
});

/** JSON lines over byte streams, as over stdio. */
export const overLines = (connector: AgentConnector): Transport => ({
  connect: () => {
    const there = new TransformStream<Uint8Array, Uint8Array>();
    const back = new TransformStream<Uint8Array, Uint8Array>();
    connector.connect(ndJsonStream(back.writable, there.readable));
    return ndJsonStream(there.writable, back.readable);
  },
  close: async () => {},
});

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)));

const shut = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.closeAllConnections();
    server.close(() => resolve());
  });

/** The SDK's server over Streamable HTTP, on loopback. */
export async function overHttp(connector: AgentConnector): Promise<Transport> {
  const acp = new AcpServer({ agent: connector });
  const server = createServer(createNodeHttpHandler(acp));
  const port = await listen(server);
  return {
    connect: () => createHttpStream(`http://127.0.0.1:${port}/acp`),
    close: async () => {
      await acp.close();
      await shut(server);
    },
  };
}

/** The SDK's server over WebSocket, on loopback. */
export async function overWebSocket(connector: AgentConnector): Promise<Transport> {
  const acp = new AcpServer({ agent: connector });
  const server = createServer(createNodeHttpHandler(acp));
  server.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true })));
  const port = await listen(server);
  return {
    connect: () =>
      createWebSocketStream(`ws://127.0.0.1:${port}/acp`, { WebSocket: WebSocket as unknown as WebSocketConstructor }),
    close: async () => {
      await acp.close();
      await shut(server);
    },
  };
}
