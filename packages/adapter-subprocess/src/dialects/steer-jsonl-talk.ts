import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Listener } from "../dialect.js";
import { type Hello, readHello } from "./steer-jsonl-hello.js";

interface Awaited {
  readonly type: string;
  resolve(record: JsonRecord): void;
  reject(error: Error): void;
}

/** What is said outside of prompts: the hello, and questions that the agent answers with a record of one type. */
export class SteerJsonlTalk implements Listener {
  readonly #channel: Channel;
  readonly #hello: Promise<JsonRecord>;
  #awaited: Awaited[] = [];
  #ended: Error | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#hello = this.#next("hello");
    // Whoever waits for it is told.
    this.#hello.catch(() => {});
  }

  /** @throws VendorError where the agent speaks another version */
  async hello(): Promise<Hello> {
    return readHello(await this.#hello);
  }

  /**
   * Asks the agent something.
   *
   * @param answer the type of the record that answers
   * @throws VendorError with the agent's own words where it answers with `error`
   */
  ask(question: string, answer: string, fields: JsonRecord = {}): Promise<JsonRecord> {
    const record = this.#next(answer);
    void this.#channel.send({ type: question, ...fields });
    return record;
  }

  /** Whether somebody waited for it. */
  receive(record: JsonRecord): boolean {
    const isError = record["type"] === "error";
    const awaited = this.#awaited.find(({ type }) => isError || type === record["type"]);
    if (!awaited) return false;
    this.#awaited = this.#awaited.filter((other) => other !== awaited);
    if (isError) awaited.reject(refusal(awaited, textOf(record["message"])));
    else awaited.resolve(record);
    return true;
  }

  ended(error: Error): void {
    this.#ended = error;
    for (const { reject } of this.#awaited.splice(0)) reject(error);
  }

  #next(type: string): Promise<JsonRecord> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      this.#awaited.push({ type, resolve, reject });
    });
  }
}

function refusal({ type }: Awaited, message: string): VendorError {
  return new VendorError(`The agent wrote an error in place of \`${type}\`: ${message || "it gave no reason"}.`, {
    data: { reason: "agentRefused" },
  });
}
