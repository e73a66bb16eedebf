import type { Log } from "@acp-steering/kit/adapter";
import type { ChildExit, ChildWithChannel } from "@acp-steering/kit/process";
import { LineReader, StderrTail, spawnChild } from "@acp-steering/kit/process";
import { BridgeGone, BridgeRefusal } from "./bridge-error.js";
import {
  BRIDGE_PROTOCOL,
  type BridgeMessage,
  type BridgeReady,
  type BridgeRequests,
  type HistoryEntry,
  type PermissionChoice,
  type SessionEvent,
} from "./bridge-protocol.js";

export interface BridgeOptions {
  /** The interpreter. */
  readonly python: string;
  /** The bridge's file. */
  readonly script: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** One line of a session, in order. */
  readonly onEvent: (event: SessionEvent) => void;
  /** Resolves when the client has taken what it was given; the bridge is not read further before. Never rejects. */
  readonly drained: () => Promise<unknown>;
}

interface Pending {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
  readonly onHistory: ((entries: readonly HistoryEntry[]) => void) | undefined;
}

/** How long what the process wrote last may take to arrive after its end. */
const PIPE_GRACE_MS = 500;

/** One Python process with Hermes in it, and the requests it has not answered yet. */
export class Bridge {
  /** Resolves when Hermes is loaded; rejects when it cannot be, with the reason. */
  readonly ready: Promise<BridgeReady>;
  readonly #child: ChildWithChannel;
  readonly #options: BridgeOptions;
  readonly #stderr = new StderrTail();
  readonly #pending = new Map<number, Pending>();
  readonly #ended: Promise<void>;
  #settleReady: { resolve: (ready: BridgeReady) => void; reject: (error: Error) => void } | undefined;
  #lastId = 0;
  #gone: BridgeGone | undefined;
  #fault: string | undefined;

  /** @throws Error when the process cannot be started at all. */
  static async start(options: BridgeOptions): Promise<Bridge> {
    const { python, script, env } = options;
    const child = await spawnChild({ command: python, args: [script], env, channel: true });
    return new Bridge(child, options);
  }

  private constructor(child: ChildWithChannel, options: BridgeOptions) {
    this.#child = child;
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      this.#settleReady = { resolve, reject };
    });
    this.ready.catch(() => {});
    child.stdin.end();
    this.#ended = this.#follow();
  }

  get pid(): number {
    return this.#child.pid;
  }

  get alive(): boolean {
    return this.#gone === undefined;
  }

  /** Rejects with a BridgeRefusal, or with BridgeGone when the process ends first. */
  request<Type extends keyof BridgeRequests>(
    type: Type,
    fields: BridgeRequests[Type]["fields"],
    onHistory?: (entries: readonly HistoryEntry[]) => void,
  ): Promise<BridgeRequests[Type]["result"]> {
    if (this.#gone) return Promise.reject(this.#gone);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as Pending["resolve"], reject, onHistory });
      this.#send({ type, id, ...fields });
    });
  }

  answer(ask: string, choice: PermissionChoice): void {
    this.#send({ type: "answer", ask, choice });
  }

  /** Ends the process and what it has started. Resolves when all is gone. */
  async stop(): Promise<void> {
    this.#gone ??= new BridgeGone("it was stopped");
    await this.#child.stop();
    await this.#ended;
  }

  #send(message: object): void {
    const { input } = this.#child.channel;
    if (input.writable) input.write(`${JSON.stringify(message)}\n`);
  }

  async #follow(): Promise<void> {
    const { exited, stdout, stderr, channel } = this.#child;
    const streams = [stdout, stderr, channel.output];
    void exited.then(() => {
      // A descendant that left the process group can hold the pipes open for as long as it likes.
      setTimeout(() => streams.map((stream) => stream.destroy()), PIPE_GRACE_MS).unref();
    });
    stdout.resume();
    void this.#readStderr();
    const [exit] = await Promise.all([exited, this.#readMessages()]);
    this.#settleAll(this.#describeEnd(exit));
  }

  async #readMessages(): Promise<void> {
    const reader = new LineReader();
    try {
      for await (const chunk of this.#child.channel.output) {
        for (const line of reader.push(chunk as Buffer)) this.#receive(line);
        await this.#options.drained();
      }
    } catch (error) {
      this.#fault ??= `it could not be understood (${(error as Error).message}) and was stopped`;
      void this.#child.stop();
    }
  }

  /** Until Hermes is loaded it has not heard a word of the user; afterwards what it writes may hold some. */
  async #readStderr(): Promise<void> {
    try {
      for await (const chunk of this.#child.stderr) if (this.#settleReady) this.#stderr.push(chunk as Buffer);
    } catch {
      // Destroyed after the end, above: what it said until then is kept.
    }
  }

  #receive(line: string): void {
    const message = JSON.parse(line) as BridgeMessage;
    switch (message.type) {
      case "hello":
        return this.#greet(message.protocol);
      case "ready":
        return this.#beReady(message);
      case "failed":
        this.#fault = message.message;
        return;
      case "reply":
        return this.#settle(message);
      case "history":
        return this.#pending.get(message.id)?.onHistory?.(message.entries);
      case "log":
        return this.#options.log(`Hermes ${message.level}: ${message.text}`);
      default:
        return this.#options.onEvent(message);
    }
  }

  #greet(protocol: number): void {
    if (protocol === BRIDGE_PROTOCOL) return this.#send({ type: "hello", protocol: BRIDGE_PROTOCOL });
    this.#fault = `its bridge speaks version ${protocol} of the protocol, this adapter version ${BRIDGE_PROTOCOL}`;
    void this.#child.stop();
  }

  #beReady(message: BridgeReady): void {
    this.#settleReady?.resolve(message);
    this.#settleReady = undefined;
  }

  #settle(reply: Extract<BridgeMessage, { type: "reply" }>): void {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (reply.error) pending?.reject(new BridgeRefusal(reply.error));
    else pending?.resolve(reply.result as never);
  }

  #settleAll(how: string): void {
    this.#gone ??= new BridgeGone(how);
    this.#settleReady?.reject(new BridgeGone(how));
    for (const { reject } of this.#pending.values()) reject(this.#gone);
    this.#pending.clear();
  }

  #describeEnd(exit: ChildExit): string {
    if (this.#fault) return this.#fault;
    const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    const said = this.#settleReady ? this.#stderr.lines() : [];
    return said.length > 0 ? `its Python process ${how} and said: ${said.join(" | ")}` : `its Python process ${how}`;
  }
}
