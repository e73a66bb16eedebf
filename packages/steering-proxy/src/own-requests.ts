import type { WireMessage } from "@acp-steering/core";
import type { AgentAnswer } from "./vendor-steering.js";

interface OwnRequest {
  readonly method: string;
  settle(answer: AgentAnswer): void;
  fail(error: Error): void;
}

/** Requests of the proxy itself at the agent; the client sees neither them nor their answers. */
export class OwnRequests {
  readonly #prefix: string;
  readonly #open = new Map<WireMessage["id"], OwnRequest>();
  #count = 0;

  /** @param prefix random, so that no client has such ids */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /**
   * @param timeoutMs in milliseconds; `Infinity`: as long as the agent is there
   * @param write called with the message, at once
   */
  send(
    method: string,
    params: unknown,
    timeoutMs: number,
    write: (message: WireMessage) => void,
  ): Promise<AgentAnswer> {
    this.#count += 1;
    const id = `${this.#prefix}${this.#count}`;
    return new Promise((resolve, reject) => {
      const late = (): void => {
        this.#open.delete(id);
        reject(new Error(`the agent has not answered ${method} within ${timeoutMs / 1_000} s`));
      };
      const timer = timeoutMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(late, timeoutMs);
      const settle = (answer: AgentAnswer): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
      };
      this.#open.set(id, { method, settle, fail });
      write({ jsonrpc: "2.0", id, method, params });
    });
  }

  /** Whether the agent's answer was to a request of ours. One that comes too late is, too. */
  take({ id, result, error }: WireMessage): boolean {
    if (typeof id !== "string" || !id.startsWith(this.#prefix)) return false;
    const request = this.#open.get(id);
    this.#open.delete(id);
    request?.settle({ ...(error === undefined ? { result } : { error }) });
    return true;
  }

  /** The agent is gone. */
  failAll(why: string): void {
    const requests = [...this.#open.values()];
    this.#open.clear();
    for (const request of requests) request.fail(new Error(why));
  }
}
