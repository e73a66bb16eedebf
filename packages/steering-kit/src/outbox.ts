import { METHOD } from "@acp-steering/core/protocol";
import type { AgentContext, SessionUpdate } from "@agentclientprotocol/sdk/unstable";

/**
 * What one session says to one client, in order: updates, and between them the reports on steers.
 *
 * A report reaches core by a call, an update by the connection's write queue. Without this queue a report would
 * overtake the updates given before it, and the echo of a steer would stand at the wrong place.
 */
export class Outbox {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  #written: Promise<void> = Promise.resolve();
  #queue: Promise<void> = Promise.resolve();
  #queued = 0;

  constructor(client: AgentContext, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  update(update: SessionUpdate): void {
    if (this.#queued === 0) this.#write(update);
    else this.#enqueue(() => this.#write(update));
  }

  /** Runs `report` after everything given before it has been written and `ready` has settled. */
  report(ready: PromiseLike<unknown>, report: () => void): void {
    this.#enqueue(async () => {
      await Promise.allSettled([ready, this.#written]);
      // Core learns of a verdict by the same promise, subscribed after ours: one task later it has seen it.
      await new Promise((resolve) => setTimeout(resolve, 0));
      report();
    });
  }

  async flushed(): Promise<void> {
    while (this.#queued > 0) await this.#queue;
    await this.#written;
  }

  #enqueue(task: () => void | Promise<void>): void {
    this.#queued += 1;
    this.#queue = this.#queue.then(task).finally(() => {
      this.#queued -= 1;
    });
  }

  #write(update: SessionUpdate): void {
    // A failed write means that the client is gone; the end of the connection is handled where it is noticed.
    this.#written = this.#client.notify(METHOD.update, { sessionId: this.#sessionId, update }).catch(() => {});
  }
}
