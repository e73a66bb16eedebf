import type { Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
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

interface HeldSteer {
  readonly message: SteerMessage;
  readonly settle: (verdict: Verdict | Promise<Verdict>) => void;
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
  #state: "held" | "open" | "closed" = "held";
  #held: HeldSteer[] = [];
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

  steer(message: SteerMessage): Promise<Verdict> {
    if (this.#state === "closed") return Promise.resolve("tooLate");
    return this.#state === "held" ? this.#hold(message) : this.#send(message);
  }

  /** Pi's run has begun: what was held back goes to it. */
  open(): void {
    if (this.#state !== "held") return;
    this.#state = "open";
    for (const { message, settle } of this.#held.splice(0)) settle(this.#send(message));
  }

  /** No more steers: Pi's run is over or being stopped. Resolves when Pi has answered for every steer it was given. */
  async close(): Promise<void> {
    this.#state = "closed";
    for (const { settle } of this.#held.splice(0)) settle("tooLate");
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
    if (this.#state === "closed") {
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

  #hold(message: SteerMessage): Promise<Verdict> {
    return new Promise((resolve) => {
      const held: HeldSteer = { message, settle: resolve };
      this.#held.push(held);
      message.signal.addEventListener("abort", () => this.#release(held), { once: true });
    });
  }

  #release(held: HeldSteer): void {
    if (!this.#held.includes(held)) return;
    this.#held = this.#held.filter((other) => other !== held);
    held.settle("tooLate");
  }

  #send(message: SteerMessage): Promise<Verdict> {
    const verdict = new Promise<Verdict>((resolve) => {
      const piMessage = toPiMessage(message.prompt);
      const steer: Steer = { message, text: piMessage.message, settle: resolve, accepted: false };
      this.#queued.push(steer);
      const answered = this.#commands.send("steer", { ...piMessage }).then(
        () => this.#accept(steer),
        (error: unknown) => this.#refuse(steer, error),
      );
      this.#inFlight.add(answered);
      void answered.finally(() => this.#inFlight.delete(answered));
    });
    return verdict;
  }

  #accept(steer: Steer): void {
    steer.accepted = true;
    steer.settle("accepted");
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
