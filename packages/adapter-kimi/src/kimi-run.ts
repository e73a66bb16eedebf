import type { ContentBlock, Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { isSubAgent, type KimiConversation, type KimiEvent, type KimiMessage } from "./kimi-conversation.js";
import { endsTurn } from "./kimi-outcome.js";
import { KimiSteers } from "./kimi-steers.js";

/** How Kimi's last turn of a run ended. */
export interface KimiEnd {
  readonly reason: "completed" | "cancelled" | "failed" | "blocked";
  /** Kimi's own code and message, where it failed. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** How many tell Kimi at once; each waits for its answer. */
const PRESSERS = 3;

export interface KimiRunOptions {
  readonly conversation: KimiConversation;
  readonly prompt: KimiMessage;
  /** How the content of a steer is put for Kimi. */
  readonly toParts: (prompt: readonly ContentBlock[]) => KimiMessage["content"];
}

/**
 * One ACP run in Kimi: the turn of its prompt, and every further turn that Kimi makes of its steers.
 *
 * Kimi's idea of a turn is not ours. A steer that came too late runs as a turn of its own, and one that Kimi had accepted
 * but not read when its turn was cancelled or failed begins a turn by itself (a ghost). So a run is over when every message
 * that it gave to Kimi is: read, or ended with the turn that it began. After a cancel or a failure, a turn that begins is
 * cancelled, before the run's answer is given: nothing of it runs afterwards.
 */
export class KimiRun {
  readonly #conversation: KimiConversation;
  readonly #prompt: KimiMessage;
  readonly #steers: KimiSteers;
  /** The turns of ours that Kimi runs, and the message that began each. */
  readonly #turns = new Map<unknown, string>();
  #promptState: "unsent" | "sent" | "running" | "over" = "unsent";
  #cancelled = false;
  /** Cancelled or failed: what Kimi begins from now on is ended. */
  #stopped = false;
  #lost = false;
  #cancelling: Promise<void> | undefined;
  /** A turn began, or the user insists, since Kimi was told last. */
  #cancelWanted = false;
  #settled = false;
  #end: KimiEnd = { reason: "completed", error: undefined };
  #settle: () => void = () => {};
  #fail: (error: Error) => void = () => {};

  constructor({ conversation, prompt, toParts }: KimiRunOptions) {
    this.#conversation = conversation;
    this.#prompt = prompt;
    this.#steers = new KimiSteers(conversation, toParts, () => this.#settleWhenOver());
  }

  /**
   * Resolves when nothing of the run is left in Kimi. Rejects with Kimi's refusal of the prompt, or when Kimi is lost.
   */
  async settled(): Promise<KimiEnd> {
    const over = new Promise<void>((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    const stop = this.#conversation.onEvent((event) => this.#event(event));
    this.#begin().catch(this.#fail);
    try {
      await over;
      return this.#cancelled ? { reason: "cancelled", error: undefined } : this.#end;
    } finally {
      stop();
      this.#settled = true;
      this.#promptState = "over";
      await this.#steers.end();
      if (this.#lost) this.#steers.handBack();
      // A cancel that arrives late would end the next turn.
      await this.#cancelling;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#steers.steer(message);
  }

  /** Resolves when no steer is on its way to Kimi. */
  steersGiven(): Promise<void> {
    return this.#steers.quiet();
  }

  /** May be called again and again: Kimi ends tools the harder the more often it is told. */
  interrupt(): void {
    this.#cancelled = true;
    this.#stop();
  }

  /** True when Kimi has failed: what it still begins with a steer that it had not read is not the user's business. */
  get failed(): boolean {
    return this.#stopped && !this.#cancelled;
  }

  /** Kimi is gone, and all that it had not read with it. */
  lost(error: Error): void {
    this.#lost = true;
    this.#fail(error);
  }

  #stop(): void {
    this.#stopped = true;
    this.#steers.close();
    if (this.#promptState === "unsent") return this.#settle();
    this.#cancelWanted = true;
    this.#cancelling ??= this.#cancel().finally(() => {
      this.#cancelling = undefined;
      if (this.#cancelWanted && !this.#settled) this.#stop();
    });
  }

  async #begin(): Promise<void> {
    if (this.#cancelled) return this.#settle();
    this.#promptState = "sent";
    await this.#conversation.prompt(this.#prompt);
    if (this.#cancelled) this.interrupt();
  }

  async #cancel(): Promise<void> {
    await this.#steers.answered();
    await this.#tellKimi();
    if (this.#steers.joined) await Promise.all(Array.from({ length: PRESSERS }, () => this.#press()));
    if (this.#cancelWanted && !this.#settled) await this.#tellKimi();
  }

  /**
   * Kimi's events are some milliseconds behind it. So while it has steers that it would begin a turn with, it is told
   * again and again: a turn of theirs that begins is over before it reaches the model.
   */
  async #press(): Promise<void> {
    while (this.#steers.joined && !this.#settled) await this.#tellKimi();
  }

  async #tellKimi(): Promise<void> {
    this.#cancelWanted = false;
    const waiting = [...(this.#promptState === "sent" ? [this.#prompt.id] : []), ...this.#steers.queued];
    await this.#conversation.cancel(waiting).catch(this.#fail);
  }

  #event(event: KimiEvent): void {
    if (isSubAgent(event)) return;
    switch (event.type) {
      case "turn.started":
        this.#turnStarted(event);
        break;
      case "turn.steer":
        this.#steers.delivered(listOf(event["promptIds"]).map(textOf));
        break;
      case "steer.dropped":
        this.#steers.dropped(listOf(event["promptIds"]).map(textOf));
        break;
      case "turn.ended":
        this.#turnEnded(event);
        break;
      case "prompt.completed":
      case "prompt.aborted":
        this.#messageOver(event);
        break;
    }
    this.#settleWhenOver();
  }

  #turnStarted({ turnId, promptId }: JsonRecord): void {
    const id = textOf(promptId);
    if (id === this.#prompt.id) this.#promptState = "running";
    else if (!this.#steers.began(id, this.#stopped)) return;
    this.#turns.set(turnId, id);
    if (this.#stopped) this.#stop();
    else this.#steers.open();
  }

  #turnEnded({ turnId, reason, error }: JsonRecord): void {
    const id = this.#turns.get(turnId);
    if (id === undefined) return;
    this.#turns.delete(turnId);
    this.#over(id, { reason: endReason(reason), error: readError(error) });
  }

  /** A hook can stop a message before it begins a turn, and a cancel can take it back. */
  #messageOver({ type, promptId, reason }: JsonRecord): void {
    const id = textOf(promptId);
    if ([...this.#turns.values()].includes(id) || !this.#owns(id)) return;
    this.#over(id, type === "prompt.completed" ? { reason: endReason(reason), error: undefined } : this.#end);
  }

  #owns(id: string): boolean {
    return (id === this.#prompt.id && this.#promptState !== "over") || this.#steers.queued.includes(id);
  }

  #over(id: string, end: KimiEnd): void {
    if (id === this.#prompt.id) this.#promptState = "over";
    else this.#steers.over(id);
    if (this.#stopped) return;
    this.#end = end;
    if (endsTurn(end) && this.#steers.pending) this.#stop();
  }

  #settleWhenOver(): void {
    if (this.#promptState === "over" && this.#turns.size === 0 && !this.#steers.pending) this.#settle();
  }
}

function endReason(reason: unknown): KimiEnd["reason"] {
  return reason === "cancelled" || reason === "failed" || reason === "blocked" ? reason : "completed";
}

function readError(error: unknown): KimiEnd["error"] {
  const { code, message } = recordOf(error);
  return error === undefined || error === null ? undefined : { code: textOf(code), message: textOf(message) };
}
