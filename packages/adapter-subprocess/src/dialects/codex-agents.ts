import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { CodexCalls } from "./codex-calls.js";
import { endCommands } from "./codex-commands.js";

interface Work {
  readonly turnId: string;
  readonly openItems: Set<string>;
}

/** The agents that Codex has started by itself: each has a thread of its own, and an interrupt of ours does not reach it. */
export class CodexAgents {
  readonly #calls: CodexCalls;
  readonly #works = new Map<string, Work>();

  constructor(calls: CodexCalls) {
    this.#calls = calls;
  }

  /** What a thread other than the session's own tells. */
  notified(method: string, params: JsonRecord): void {
    const threadId = textOf(params["threadId"]);
    const itemId = textOf(recordOf(params["item"])["id"]);
    switch (method) {
      case "turn/started":
        this.#works.set(threadId, { turnId: textOf(recordOf(params["turn"])["id"]), openItems: new Set() });
        break;
      case "turn/completed":
        this.#works.delete(threadId);
        break;
      case "item/started":
        this.#works.get(threadId)?.openItems.add(itemId);
        break;
      case "item/completed":
        this.#works.get(threadId)?.openItems.delete(itemId);
        break;
    }
  }

  /** Ends what they do, with their commands. Never rejects. */
  async interrupt(): Promise<void> {
    await Promise.all([...this.#works].map(([threadId, work]) => this.#interrupt(threadId, work)));
  }

  async #interrupt(threadId: string, { turnId, openItems }: Work): Promise<void> {
    // The answer comes when the turn has ended; a refusal means that it had.
    await this.#calls.request("turn/interrupt", { threadId, turnId }).catch(() => {});
    await endCommands(this.#calls, threadId, [...openItems]);
  }
}
