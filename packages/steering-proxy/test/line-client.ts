import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { WireMessage } from "@acp-steering/core";
import { onTestFinished } from "vitest";
import type { Flow, ProxyOptions } from "../src/options.js";
import { createProxy, type RunningProxy } from "../src/proxy.js";

const LINE_AGENT = fileURLToPath(new URL("fixtures/line-agent.mjs", import.meta.url));

/** A line as the client read it, without its LF. */
export interface SeenLine {
  readonly line: Buffer;
  readonly message: WireMessage;
}

type Params = Record<string, unknown>;

/** A client that writes and reads lines, with the agent of `fixtures/line-agent.mjs` behind the proxy. */
export class LineClient {
  readonly seen: SeenLine[] = [];
  readonly log: string[] = [];
  readonly tapped: { readonly flow: Flow; readonly line: string }[] = [];
  readonly input: PassThrough = new PassThrough();
  readonly output: PassThrough = new PassThrough();
  readonly proxy: RunningProxy;
  readonly #watchers = new Set<() => void>();
  #nextId = 1;

  static async start(
    settings: object = {},
    options: Partial<Omit<ProxyOptions, "input" | "output">> = {},
  ): Promise<LineClient> {
    const client = new LineClient();
    const command = { command: process.execPath, args: [LINE_AGENT, JSON.stringify(settings)] };
    const { input, output } = client;
    const log = (line: string): void => {
      client.log.push(line);
      client.#wake();
    };
    const proxy = await createProxy({ ...command, ...options, input, output, log });
    onTestFinished(() => proxy.stop());
    (client as { proxy: RunningProxy }).proxy = proxy;
    client.read();
    return client;
  }

  private constructor() {
    this.proxy = undefined as unknown as RunningProxy;
  }

  read(): void {
    let rest = Buffer.alloc(0);
    this.output.on("data", (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
        const line = rest.subarray(0, end);
        rest = rest.subarray(end + 1);
        this.seen.push({ line, message: parse(line) });
      }
      this.#wake();
    });
  }

  write(line: string | Buffer): void {
    this.input.write(Buffer.concat([Buffer.from(line), Buffer.from("\n")]));
  }

  notify(method: string, params: Params = {}): void {
    this.write(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  /** @returns the request's id */
  ask(method: string, params: Params = {}): number {
    const id = this.#nextId++;
    this.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  }

  async request(method: string, params: Params = {}): Promise<WireMessage> {
    return (await this.answer(this.ask(method, params))).message;
  }

  answer(id: number | string): Promise<SeenLine> {
    return this.see(({ message }) => message.method === undefined && message.id === id);
  }

  /** Resolves with the first line of which that holds, counted from the beginning. */
  see(holds: (seen: SeenLine) => boolean): Promise<SeenLine> {
    return this.when(() => this.seen.find(holds));
  }

  /** Resolves as soon as there is a value. */
  when<Value>(find: () => Value | undefined): Promise<Value> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.#watchers.delete(look);
        resolve(found);
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** `initialize` and `session/new`. */
  async open(clientCapabilities: object = {}): Promise<string> {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities });
    const { result } = await this.request("session/new", { cwd: process.cwd(), mcpServers: [] });
    return (result as { sessionId: string }).sessionId;
  }

  /** A prompt that tells the agent what to do. @returns the request's id */
  prompt(sessionId: string, deed: object): number {
    return this.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: JSON.stringify(deed) }] });
  }

  /** Resolves when the agent has been given that line. */
  async reached(line: string | Buffer): Promise<void> {
    const base64 = Buffer.from(line).toString("base64");
    await this.see(({ message }) => message.method === "_received" && paramsOf(message)["base64"] === base64);
  }

  /** Has the agent write these bytes. */
  tell(bytes: string | Buffer): number {
    return this.ask("_write", { base64: Buffer.from(bytes).toString("base64") });
  }

  readonly #wake = (): void => {
    for (const look of [...this.#watchers]) look();
  };
}

export const paramsOf = ({ params }: WireMessage): Params => (params ?? {}) as Params;

function parse(line: Buffer): WireMessage {
  try {
    return JSON.parse(line.toString("utf8")) as WireMessage;
  } catch {
    return { jsonrpc: "2.0", method: "(no JSON)" };
  }
}
