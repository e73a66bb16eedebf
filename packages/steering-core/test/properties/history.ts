/**
 * What was seen at the edges of the layer, in order: every message in and out, every hand-over, every tick of the clock.
 * Everything that one arrival causes has the same `step`.
 */
import type { PendingSteer, Verdict, WireMessage } from "../../src/index.js";

/** A message with members that tests may look into. */
export interface Message extends Omit<WireMessage, "params" | "result" | "error"> {
  // biome-ignore lint/suspicious/noExplicitAny: whatever is on the wire; the model asks for what it expects.
  readonly params?: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly result?: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly error?: any;
}

interface Carried<Kind extends string> {
  readonly kind: Kind;
  readonly link: number;
  readonly message: Message;
}

/** One thing that was seen. `link` numbers the connections. */
export type Fact =
  | Carried<"clientSent">
  | Carried<"clientGot">
  | Carried<"agentSent">
  | Carried<"agentGot">
  | { readonly kind: "clientLeft"; readonly link: number }
  | { readonly kind: "agentLeft"; readonly link: number }
  | {
      readonly kind: "injected";
      readonly sessionId: string;
      readonly turnId: string;
      readonly messageId: string;
      readonly text: string;
    }
  | { readonly kind: "aborted"; readonly messageId: string }
  | { readonly kind: "verdict"; readonly messageId: string; readonly verdict: Verdict | "thrown" }
  | { readonly kind: "reported"; readonly messageId: string; readonly report: "delivered" | "undelivered" }
  | { readonly kind: "took"; readonly sessionId: string; readonly steers: readonly PendingSteer[] }
  | { readonly kind: "tick" };

/** A fact and its place: position in the history, step, and the time on the layer's clock in milliseconds. */
export type Entry = Fact & { readonly at: number; readonly step: number; readonly now: number };

type Placed = Fact & { at: number; step: number; now: number };

export class History {
  private readonly placed: Placed[] = [];
  private step = 0;
  now = 0;

  /** What follows is caused by something new. */
  next(): void {
    this.step += 1;
  }

  /**
   * The agent reads its messages one microtask after the layer wrote them, the driver is called at once: what the agent
   * got is put before the hand-overs of the same step, where the layer wrote it.
   */
  record(fact: Fact): void {
    const entry: Placed = { ...fact, at: 0, step: this.step, now: this.now };
    const first =
      fact.kind === "agentGot"
        ? this.placed.findLastIndex(({ kind, step }) => !(kind === "injected" && step === this.step)) + 1
        : this.placed.length;
    this.placed.splice(first, 0, entry);
  }

  get entries(): readonly Entry[] {
    for (const [index, entry] of this.placed.entries()) entry.at = index;
    return this.placed;
  }
}
