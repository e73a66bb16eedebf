import type { Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import { recordOf, SteerGate } from "@acp-steering/kit/adapter";
import { type PiCommands, PiRefusal } from "./pi-commands.js";
import { toPiMessage } from "./pi-content.js";

interface Steer {
  readonly message: SteerMessage;
  /** As Pi queued it: a skill or a template stands there expanded. */
  text: string;
  /** Ends the wait for Pi's response with a delivery that came before it. */
  readonly settle: (verdict: Verdict) => void;
  accepted: boolean;
}

/**
 * The steers of one run, from the hand-over to Pi to the message in which Pi puts them before its model.
 *
 * Pi does not name the steer that a user message came from. Its text says it, as Pi queued it; of two alike the first
 * one, since Pi delivers in order. A user message that fits none is taken for the first: reporting a delivery that was
 * not yet is harmless, keeping a steer that Pi has used would bring it before the model twice.
 */
export class PiSteers {
  readonly #commands: PiCommands;
  readonly #gate: SteerGate = new SteerGate((message) => this.#send(message));
  #queued: Steer[] = [];
  #inFlight = new Set<Promise<unknown>>();
  #piQueue: readonly string[] = [];

  constructor(commands: PiCommands) {
    this.#commands = commands;
  }

  /**
   * How many steers Pi put into its history while it was being stopped. No model request followed, so none is delivered,
   * but the next prompt would bring them along.
   */
  strays = 0;

  /** True while Pi has steers that it has not put before its model. */
  get pending(): boolean {
    return this.#queued.length > 0;
  }

  /** True while Pi has not answered for a steer that it was given. */
  get isTaking(): boolean {
    return this.#inFlight.size > 0;
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#gate.steer(message);
  }

  /** Pi's run has begun: what was held back goes to it. */
  open(): void {
    this.#gate.open();
  }

  /** No more steers: Pi's run is over or being stopped. Resolves when Pi has answered for every steer it was given. */
  async close(): Promise<void> {
    this.#gate.close();
    while (this.#inFlight.size > 0) await Promise.allSettled(this.#inFlight);
  }

  /** Pi's list of waiting steers changed. A new last entry is the steer just given to it, as Pi understood it. */
  queueChanged(texts: readonly string[]): void {
    const unanswered = this.#queued.find((steer) => !steer.accepted);
    const added = texts.length > this.#piQueue.length ? texts.at(-1) : undefined;
    this.#piQueue = texts;
    if (unanswered && added !== undefined) unanswered.text = added;
  }

  /** A user message that is not the prompt stands before Pi's model. */
  userMessage(text: string): void {
    const steer = this.#queued.find((candidate) => candidate.text === text) ?? this.#queued[0];
    if (!steer) return;
    if (this.#gate.closed) {
      this.strays += 1;
      return;
    }
    this.#remove(steer);
    if (steer.accepted) steer.message.delivered();
    else steer.settle("delivered");
  }

  /** Hands everything back that Pi has not used. Only after Pi cannot use it any more. */
  handBack(): void {
    for (const { message } of this.#queued.splice(0)) message.undelivered();
  }

  #send(message: SteerMessage): Promise<Verdict> {
    const verdict = new Promise<Verdict>((resolve) => {
      const piMessage = toPiMessage(message.prompt);
      const steer: Steer = { message, text: piMessage.message, settle: resolve, accepted: false };
      this.#queued.push(steer);
      const answered = this.#commands.send("steer", { ...piMessage }).then(
        (data) => this.#accept(steer, data),
        (error: unknown) => this.#refuse(steer, error),
      );
      this.#inFlight.add(answered);
      void answered.finally(() => this.#inFlight.delete(answered));
    });
    return verdict;
  }

  /** An extension may have dealt with a steer by itself: nothing else will become of it. */
  #accept(steer: Steer, data: unknown): void {
    const isHandled = recordOf(data)["disposition"] === "handled";
    if (isHandled) this.#remove(steer);
    steer.accepted = true;
    steer.settle(isHandled ? "delivered" : "accepted");
  }

  #refuse(steer: Steer, error: unknown): void {
    this.#remove(steer);
    // Pi takes no extension command as a steer, but as a prompt. A child that is gone will not use anything either.
    steer.settle(error instanceof PiRefusal ? "unsupported" : "tooLate");
  }

  #remove(steer: Steer): void {
    this.#queued = this.#queued.filter((other) => other !== steer);
  }
}
