import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";
import type { AnswerFacts } from "./scene-event.js";

interface Entry {
  readonly method: string;
  readonly modelRequestsBefore: number;
  modelRequestsAfter: number;
  answers: number;
  result?: Readonly<Record<string, unknown>>;
  error?: { readonly code: number | undefined; readonly message: string };
}

/** Keeps, from what stands on the wire, how often and with what each request of the client was answered. */
export class Ledger {
  readonly #entries: Entry[] = [];
  readonly #byId = new Map<unknown, Entry>();
  readonly #countModelRequests: () => number;

  constructor(countModelRequests: () => number) {
    this.#countModelRequests = countModelRequests;
  }

  /** Takes down a message from the client. */
  sent(message: AnyMessage): void {
    if (!("method" in message) || !("id" in message)) return;
    const modelRequests = this.#countModelRequests();
    const entry: Entry = {
      method: message.method,
      modelRequestsBefore: modelRequests,
      modelRequestsAfter: modelRequests,
      answers: 0,
    };
    this.#entries.push(entry);
    this.#byId.set(message.id, entry);
  }

  /** Takes down a message from the agent; for an answer it gives the method of the request that it answers. */
  received(message: AnyMessage): string | undefined {
    if ("method" in message) return undefined;
    const entry = this.#byId.get(message.id);
    if (entry === undefined) return undefined;
    entry.answers += 1;
    if (entry.answers === 1) this.#keepAnswer(entry, message);
    return entry.method;
  }

  /** What became of the n-th request of that method, counted from 0. */
  answer(method: string, nth: number): AnswerFacts {
    const entry = this.#entries.filter((candidate) => candidate.method === method)[nth];
    if (entry === undefined) return { answers: 0, modelRequestsBefore: 0, modelRequestsAfter: 0 };
    const { method: _, ...facts } = entry;
    return facts;
  }

  #keepAnswer(entry: Entry, message: AnyMessage): void {
    entry.modelRequestsAfter = this.#countModelRequests();
    if ("error" in message) entry.error = { code: message.error.code, message: message.error.message };
    else if ("result" in message) entry.result = message.result as Record<string, unknown>;
  }
}
