import type { Verdict } from "@acp-steering/core";
import type { SteerMessage } from "../vendor.js";

interface HeldSteer {
  readonly message: SteerMessage;
  readonly settle: (verdict: Verdict | Promise<Verdict>) => void;
}

/**
 * Holds the steers of a run back until the vendor's own run has begun: before, the vendor would make a run of each. A
 * driver keeps such a steer pending rather than answer `tooLate` (spec §4).
 *
 * @example
 * ```ts
 * const gate = new SteerGate((message) => vendor.steer(message));
 * const verdict = gate.steer(message); // waits
 * gate.open(); // now it goes to the vendor
 * ```
 */
export class SteerGate {
  readonly #give: (message: SteerMessage) => Promise<Verdict>;
  #state: "held" | "open" | "closed" = "held";
  #held: HeldSteer[] = [];

  /** @param give hands a steer to the vendor */
  constructor(give: (message: SteerMessage) => Promise<Verdict>) {
    this.#give = give;
  }

  get closed(): boolean {
    return this.#state === "closed";
  }

  steer(message: SteerMessage): Promise<Verdict> {
    if (this.#state === "closed") return Promise.resolve("tooLate");
    return this.#state === "held" ? this.#hold(message) : this.#give(message);
  }

  /** The vendor's run has begun: what was held back goes to it. */
  open(): void {
    if (this.#state !== "held") return;
    this.#state = "open";
    for (const { message, settle } of this.#held.splice(0)) settle(this.#give(message));
  }

  /** No more steers: what is still held is too late. */
  close(): void {
    this.#state = "closed";
    for (const { settle } of this.#held.splice(0)) settle("tooLate");
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
}
