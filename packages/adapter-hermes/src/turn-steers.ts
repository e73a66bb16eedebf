import type { Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import type { Bridge } from "./bridge.js";
import { toHermesContent } from "./content.js";

interface Steer {
  readonly message: SteerMessage;
  /** Ends the wait for the bridge's verdict with a delivery that came before it. */
  readonly settle: (verdict: Verdict) => void;
  accepted: boolean;
}

interface TurnAddress {
  readonly bridge: Bridge;
  readonly session: string;
  readonly turn: string;
  /** True where this Hermes can take a correction in the middle of a model request. */
  readonly redirect: boolean;
}

/** The steers of one run, from the hand-over to the bridge to its report on each. */
export class TurnSteers {
  readonly #address: TurnAddress;
  readonly #steers = new Map<string, Steer>();
  #closed = false;

  constructor(address: TurnAddress) {
    this.#address = address;
  }

  async steer(message: SteerMessage): Promise<Verdict> {
    const { content } = await toHermesContent(message.prompt);
    if (this.#closed || message.signal.aborted) return "tooLate";
    // Hermes steers with text alone; a continuation takes the images along.
    return typeof content === "string" ? this.#hand(message, content) : "unsupported";
  }

  delivered(ids: readonly string[]): void {
    for (const id of ids) {
      const steer = this.#taken(id);
      if (steer?.accepted) steer.message.delivered();
      else steer?.settle("delivered");
    }
  }

  /** The run is over. What nobody has said to be before the model, also of a process that died, is not. */
  close(delivered: readonly string[], undelivered: readonly string[]): void {
    this.#closed = true;
    this.delivered(delivered);
    for (const id of [...undelivered, ...this.#steers.keys()]) {
      const steer = this.#taken(id);
      if (steer?.accepted) steer.message.undelivered();
      else steer?.settle("tooLate");
    }
  }

  #hand(message: SteerMessage, text: string): Promise<Verdict> {
    const { bridge, session, turn, redirect } = this.#address;
    const id = message.messageId;
    return new Promise((resolve) => {
      const steer: Steer = { message, settle: resolve, accepted: false };
      this.#steers.set(id, steer);
      bridge.request("steer", { session, turn, steer: id, text, now: redirect }).then(
        ({ verdict }) => this.#verdict(id, steer, verdict),
        // A refusal is no verdict: the steer is not with Hermes. A process that is gone is reported by the run.
        () => bridge.alive && this.#verdict(id, steer, "tooLate"),
      );
    });
  }

  #verdict(id: string, steer: Steer, verdict: "accepted" | "tooLate" | "unsupported"): void {
    if (!this.#steers.has(id)) return;
    if (verdict === "accepted") steer.accepted = true;
    else this.#steers.delete(id);
    steer.settle(verdict);
  }

  #taken(id: string): Steer | undefined {
    const steer = this.#steers.get(id);
    this.#steers.delete(id);
    return steer;
  }
}
