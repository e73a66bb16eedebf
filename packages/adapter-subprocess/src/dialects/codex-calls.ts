import { isRecord, type JsonRecord, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Listener } from "../dialect.js";

type Id = string | number;

/** Codex answered a request with an error. */
export class CodexRefusal extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor({ message, code, data }: JsonRecord) {
    super(textOf(message) || "Codex gave no reason");
    this.name = "CodexRefusal";
    this.code = numberOf(code);
    this.data = data;
  }
}

/** What Codex says by itself. */
export interface CodexHearer {
  notified(method: string, params: JsonRecord): void;
  /** Codex waits for the answer. Never rejects: what it resolves with goes back, `undefined` as a refusal. */
  asked(id: Id, method: string, params: JsonRecord): Promise<JsonRecord | undefined>;
}

interface PendingRequest {
  resolve(result: JsonRecord): void;
  reject(error: Error): void;
}

/** Codex' JSON-RPC, which leaves the member `jsonrpc` out: our requests with their answers, and what it says by itself. */
export class CodexCalls implements Listener {
  readonly #channel: Channel;
  readonly #hearer: CodexHearer | undefined;
  readonly #pending = new Map<unknown, PendingRequest>();
  #count = 0;
  #ended: Error | undefined;

  /** @param hearer absent in a talk of questions only */
  constructor(channel: Channel, hearer?: CodexHearer) {
    this.#channel = channel;
    this.#hearer = hearer;
  }

  /** The handshake, before anything else. */
  async introduce(): Promise<void> {
    const clientInfo = { name: "acp-steering", title: "ACP steering", version: "1" };
    // Commands that outlive an interrupted turn can be ended with a request that Codex calls experimental.
    await this.request("initialize", { clientInfo, capabilities: { experimentalApi: true } });
    void this.#channel.send({ method: "initialized" });
  }

  /**
   * Rejects with {@link CodexRefusal}, or with the reason why the child is gone.
   *
   * @param answered is given the result before anything that Codex has said behind it is heard; the promise may be later
   */
  request(method: string, params: JsonRecord = {}, answered?: (result: JsonRecord) => void): Promise<JsonRecord> {
    if (this.#ended) return Promise.reject(this.#ended);
    this.#count += 1;
    const id = this.#count;
    return new Promise((resolve, reject) => {
      const take = (result: JsonRecord): void => {
        answered?.(result);
        resolve(result);
      };
      this.#pending.set(id, { resolve: take, reject });
      void this.#channel.send({ id, method, params });
    });
  }

  receive(record: JsonRecord): void {
    const { id, method } = record;
    if (typeof method !== "string") this.#answered(record);
    else if (typeof id === "string" || typeof id === "number")
      void this.#answer(id, method, recordOf(record["params"]));
    else this.#hearer?.notified(method, recordOf(record["params"]));
  }

  ended(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #answered({ id, result, error }: JsonRecord): void {
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    if (isRecord(error)) request?.reject(new CodexRefusal(error));
    else request?.resolve(recordOf(result));
  }

  async #answer(id: Id, method: string, params: JsonRecord): Promise<void> {
    const result = await this.#hearer?.asked(id, method, params);
    const refusal = { code: -32601, message: `This client does not serve ${method}` };
    void this.#channel.send(result ? { id, result } : { id, error: refusal });
  }
}
