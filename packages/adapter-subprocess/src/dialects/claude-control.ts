import { randomUUID } from "node:crypto";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Listener } from "../dialect.js";

/** Claude Code answered a request with an error. */
class ClaudeRefusal extends Error {
  constructor(message: string) {
    super(message || "Claude Code gave no reason");
    this.name = "ClaudeRefusal";
  }
}

/** What Claude Code says by itself. */
export interface ClaudeHearer {
  said(record: JsonRecord): void;
  /** Claude Code waits for the answer. Never rejects: what it resolves with goes back, `undefined` as a refusal. */
  asked(id: string, request: JsonRecord): Promise<JsonRecord | undefined>;
  /** It does not wait for that answer any more. */
  withdrawn(id: string): void;
}

interface PendingRequest {
  resolve(response: JsonRecord): void;
  reject(error: Error): void;
}

/** The requests that go both ways beside the messages: `control_request` and `control_response`. */
export class ClaudeControl implements Listener {
  readonly #channel: Channel;
  readonly #hearer: ClaudeHearer | undefined;
  readonly #pending = new Map<string, PendingRequest>();
  #ended: Error | undefined;

  /** @param hearer absent in a talk of questions only */
  constructor(channel: Channel, hearer?: ClaudeHearer) {
    this.#channel = channel;
    this.#hearer = hearer;
  }

  /** Rejects with {@link ClaudeRefusal}, or with the reason why the child is gone. */
  request(subtype: string, params: JsonRecord = {}): Promise<JsonRecord> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      void this.send({ type: "control_request", request_id: id, request: { subtype, ...params } });
    });
  }

  send(record: JsonRecord): Promise<void> {
    return this.#channel.send(record);
  }

  receive(record: JsonRecord): void {
    const id = textOf(record["request_id"]);
    switch (record["type"]) {
      case "control_response":
        this.#answered(recordOf(record["response"]));
        break;
      case "control_request":
        void this.#answer(id, recordOf(record["request"]));
        break;
      case "control_cancel_request":
        this.#hearer?.withdrawn(id);
        break;
      default:
        this.#hearer?.said(record);
    }
  }

  ended(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #answered({ subtype, request_id, response, error }: JsonRecord): void {
    const id = textOf(request_id);
    const request = this.#pending.get(id);
    this.#pending.delete(id);
    if (subtype === "success") request?.resolve(recordOf(response));
    else request?.reject(new ClaudeRefusal(textOf(error)));
  }

  async #answer(id: string, request: JsonRecord): Promise<void> {
    const response = await this.#hearer?.asked(id, request);
    const refusal = { subtype: "error", error: `This client does not serve ${textOf(request["subtype"])}` };
    const answer = response ? { subtype: "success", response } : refusal;
    void this.send({ type: "control_response", response: { ...answer, request_id: id } });
  }
}
