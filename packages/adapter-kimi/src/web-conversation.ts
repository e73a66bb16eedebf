import { recordOf, textOf } from "@acp-steering/kit/adapter";
import {
  isSubAgent,
  type KimiConversation,
  type KimiEvent,
  type KimiMessage,
  type SteerOutcome,
} from "./kimi-conversation.js";
import { isRefusal, REFUSAL } from "./kimi-error.js";
import type { KimiConnection } from "./kimi-server.js";

/** A conversation in Kimi's server. */
export class WebConversation implements KimiConversation {
  readonly #connection: KimiConnection;
  readonly #path: string;
  readonly #listeners = new Set<(event: KimiEvent) => void>();
  /** The steers that Kimi has neither steered with nor let go of; whether it has begun a turn with one. */
  readonly #waiting = new Map<string, { begun: boolean; readonly over: () => void }>();
  /** Our ids of prompts that Kimi has named itself. */
  readonly #named = new Map<string, string>();
  /** The skill that was started and whose turn has not begun: Kimi names its prompt then. */
  #starting: KimiMessage | undefined;

  constructor(connection: KimiConnection, sessionId: string) {
    this.#connection = connection;
    this.#path = `/api/v1/sessions/${encodeURIComponent(sessionId)}`;
  }

  async prompt(message: KimiMessage): Promise<void> {
    const { skill } = message;
    if (!skill) {
      await this.#enqueue(message);
      return;
    }
    this.#starting = message;
    await this.#connection.api.post(`${this.#path}/skills/${encodeURIComponent(skill.name)}:activate`, {
      args: skill.args,
    });
  }

  /** Kimi steers with prompts that wait in its queue, so a steer is queued first, then moved into the turn by its id. */
  async steer(message: KimiMessage, signal: AbortSignal): Promise<SteerOutcome> {
    const { id } = message;
    const fate = this.#watch(id);
    // Nobody may wait for it.
    fate.catch(() => {});
    try {
      // Kimi had no turn any more, and has begun one.
      if ((await this.#enqueue(message)) !== "queued") return "queued";
      if (signal.aborted && (await this.#takeBack(id))) return await fate;
      return await this.#join(id);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /**
   * What became of a steer that is taken back. Kimi says that it has done so also where it had just begun a turn with it,
   * and has its text in the conversation then: what it told before decides.
   */
  #watch(id: string): Promise<SteerOutcome> {
    return new Promise((resolve, reject) => {
      const entry = { begun: false, over: () => resolve(entry.begun ? "queued" : "withdrawn") };
      this.#waiting.set(id, entry);
      void this.#connection.lost.then(reject);
    });
  }

  async #join(id: string): Promise<SteerOutcome> {
    try {
      await this.#connection.api.post(`${this.#path}/prompts/${encodeURIComponent(id)}:steer`);
      return "joined";
    } catch (error) {
      if (!isRefusal(error, REFUSAL.noPrompt)) throw error;
      return "queued";
    }
  }

  async cancel(waiting: readonly string[]): Promise<void> {
    for (const id of waiting) await this.#takeBack(id);
    await this.#connection.api.post(`${this.#path}:abort`);
  }

  onEvent(listener: (event: KimiEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Has Kimi write down what it holds back for a moment: a server that is killed right after a turn, or in one, would go on
   * without it.
   */
  async save(): Promise<void> {
    await this.#connection.api.post("/api/v1/debug/appendLogStore/flush", []).catch(() => {});
  }

  /** An event of the session, from Kimi's event stream. */
  receive(event: KimiEvent): void {
    if (event.type === "turn.step.started" && !isSubAgent(event)) void this.save();
    if (event.type === "turn.started") this.#nameSkill(event);
    this.#noteFate(event);
    const named = this.#named.get(textOf(event["promptId"]));
    const ours = named === undefined ? event : { ...event, promptId: named };
    for (const listener of [...this.#listeners]) listener(ours);
  }

  #noteFate({ type, promptId }: KimiEvent): void {
    const entry = this.#waiting.get(textOf(promptId));
    if (!entry) return;
    if (type === "turn.started") entry.begun = true;
    if (type === "prompt.aborted" || type === "prompt.completed") entry.over();
  }

  #nameSkill({ promptId, origin }: KimiEvent): void {
    if (!this.#starting || recordOf(origin)["kind"] !== "skill_activation") return;
    this.#named.clear();
    this.#named.set(textOf(promptId), this.#starting.id);
    this.#starting = undefined;
  }

  async #enqueue({ id, content }: KimiMessage): Promise<string> {
    return textOf(
      recordOf(await this.#connection.api.post(`${this.#path}/prompts`, { prompt_id: id, content }))["status"],
    );
  }

  /** False where there is nothing to take back: it has begun a turn, or was never there. */
  async #takeBack(id: string): Promise<boolean> {
    try {
      await this.#connection.api.post(`${this.#path}/prompts/${encodeURIComponent(id)}:abort`);
      return true;
    } catch (error) {
      if (isRefusal(error, REFUSAL.noPrompt)) return false;
      throw error;
    }
  }
}
