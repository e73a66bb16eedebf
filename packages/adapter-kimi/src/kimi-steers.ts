import type { ContentBlock, Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import { SteerGate } from "@acp-steering/kit/adapter";
import type { KimiConversation, KimiMessage } from "./kimi-conversation.js";
import { newMessageId } from "./kimi-message.js";

/**
 * Where a steer stands.
 *
 * - `given`: Kimi has not answered for it
 * - `joined`: Kimi has it, for the turn that runs or for a ghost
 * - `queued`: Kimi will make a turn of it
 * - `running`: Kimi has begun a turn with it
 */
type Place = "given" | "joined" | "queued" | "running";

interface Steer {
  readonly id: string;
  readonly message: SteerMessage;
  /** Ends the wait for Kimi's answer with a delivery that came before it. */
  readonly settle: (verdict: Verdict) => void;
  place: Place;
  reported: boolean;
}

/** The steers of one run, from the hand-over to Kimi until Kimi has read them. */
export class KimiSteers {
  readonly #conversation: KimiConversation;
  readonly #toParts: (prompt: readonly ContentBlock[]) => KimiMessage["content"];
  readonly #changed: () => void;
  readonly #steers = new Map<string, Steer>();
  readonly #inFlight = new Set<Promise<unknown>>();
  /** Calls back what is on its way when no more steers are taken. */
  readonly #closing = new AbortController();
  readonly #gate: SteerGate = new SteerGate((message) => this.#give(message));

  constructor(
    conversation: KimiConversation,
    toParts: (prompt: readonly ContentBlock[]) => KimiMessage["content"],
    changed: () => void,
  ) {
    this.#conversation = conversation;
    this.#toParts = toParts;
    this.#changed = changed;
  }

  /** True while Kimi has, or may have, steers that it has not read, or runs a turn with one. */
  get pending(): boolean {
    return this.#steers.size > 0;
  }

  /** True while there are steers that would begin a ghost turn when this one is cancelled or fails. */
  get joined(): boolean {
    return [...this.#steers.values()].some(({ place }) => place === "joined");
  }

  /** The steers that Kimi has not begun the turn of. */
  get queued(): readonly string[] {
    return [...this.#steers.values()].filter(({ place }) => place === "queued").map(({ id }) => id);
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return message.signal.aborted ? Promise.resolve("tooLate") : this.#gate.steer(message);
  }

  /** Kimi's turn has begun: what was held back goes to it. Before, Kimi would make a turn of it. */
  open(): void {
    this.#gate.open();
  }

  /** No more steers. */
  close(): void {
    this.#gate.close();
    this.#closing.abort();
  }

  /** Resolves when Kimi has answered for every steer that it was given. */
  async answered(): Promise<void> {
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  /** Resolves when no steer is on its way to Kimi, those included that core hands over now. */
  async quiet(): Promise<void> {
    do {
      await this.answered();
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#inFlight.size > 0);
  }

  /** The run is over. */
  async end(): Promise<void> {
    this.close();
    await this.answered();
  }

  /** Kimi is gone: what it had not read went with it. */
  handBack(): void {
    for (const steer of this.#steers.values()) steer.message.undelivered();
    this.#steers.clear();
  }

  /** These stand before the model, in a turn that was not begun with them. */
  delivered(ids: readonly string[]): void {
    for (const id of ids) {
      this.#report(id);
      this.#remove(id);
    }
  }

  /**
   * Kimi has begun a turn with a message; false where it is no steer of this run. A ghost that is being cancelled may never
   * reach the model, and cannot be handed back: Kimi writes its text into the conversation as the turn begins, where the
   * next prompt has the model read it. So nothing is reported then.
   */
  began(id: string, ghost: boolean): boolean {
    const steer = this.#steers.get(id);
    if (!steer) return false;
    if (!ghost) this.#report(id);
    steer.place = "running";
    return true;
  }

  /** Kimi has them no more, and has not read them. */
  dropped(ids: readonly string[]): void {
    for (const id of ids) {
      const steer = this.#steers.get(id);
      if (!steer) continue;
      // One that Kimi has not answered for yet is answered by this.
      if (steer.place === "given") steer.settle("tooLate");
      else steer.message.undelivered();
      this.#remove(id);
    }
  }

  /** The turn that this one began has ended, or it was taken back before. */
  over(id: string): void {
    const steer = this.#steers.get(id);
    if (steer?.place === "queued") steer.message.undelivered();
    this.#remove(id);
  }

  #give(message: SteerMessage): Promise<Verdict> {
    return new Promise((resolve) => {
      const steer: Steer = { id: newMessageId(), message, settle: resolve, place: "given", reported: false };
      this.#steers.set(steer.id, steer);
      const answered = this.#hand(steer);
      this.#inFlight.add(answered);
      void answered.finally(() => this.#inFlight.delete(answered));
    });
  }

  async #hand(steer: Steer): Promise<void> {
    const { id, message, settle } = steer;
    try {
      const signal = AbortSignal.any([message.signal, this.#closing.signal]);
      const outcome = await this.#conversation.steer({ id, content: this.#toParts(message.prompt) }, signal);
      if (outcome === "withdrawn") this.#remove(id);
      // Kimi's events are faster than its answers at times: it may have read the steer, or begun a turn with it.
      else if (steer.place === "given") steer.place = outcome;
      settle(outcome === "withdrawn" ? "tooLate" : "accepted");
    } catch {
      this.#remove(id);
      settle("tooLate");
    }
    this.#changed();
  }

  #report(id: string): void {
    const steer = this.#steers.get(id);
    if (!steer || steer.reported) return;
    steer.reported = true;
    if (steer.place === "given") steer.settle("delivered");
    else steer.message.delivered();
  }

  #remove(id: string): void {
    this.#steers.delete(id);
  }
}
