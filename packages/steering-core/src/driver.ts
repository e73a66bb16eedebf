import type { ContentBlock, ContentType } from "./protocol.js";

/**
 * What a vendor says of a steer it was handed (spec §3, G1-G3).
 *
 * - `delivered`: it is before the model.
 * - `accepted`: the vendor has it and will say `delivered()` or `undelivered()` before its run ends.
 * - `tooLate`: the run has no step left that would read it; core continues the turn with it.
 * - `unsupported`: this vendor cannot take this one; core continues the turn with it.
 */
export type Verdict = "delivered" | "accepted" | "tooLate" | "unsupported";

/** One steer on its way to the vendor. */
export interface InjectCall {
  readonly sessionId: string;
  readonly turnId: string;
  readonly messageId: string;
  readonly prompt: readonly ContentBlock[];
  /** Aborts when the run ends, is cancelled, or the steer is revoked. The verdict is still awaited, up to `cancelGraceMs`. */
  readonly signal: AbortSignal;
  /** After `accepted`: the vendor has put it before the model. A second report is dropped. */
  delivered(): void;
  /** After `accepted`: the vendor hands it back, unread. It returns to its place and falls to the continuation. */
  undelivered(): void;
}

/**
 * The adapter's side of road 2: how a steer reaches the vendor's own `steer()`.
 *
 * `inject` is called for one steer of a session at a time, in order of arrival. Ordinary races are verdicts, not
 * exceptions; a driver that throws or rejects loses that steer to the continuation, not the turn. A driver whose run has
 * not begun keeps the promise pending. Leftovers of a run are reported before the vendor's prompt resolves.
 *
 * @example
 * const driver: SteeringDriver = {
 *   spec: "steering-driver-1",
 *   supports: { content: ["text"], boundary: "afterTool" },
 *   inject: async (call) => ((await vendor.steer(call.sessionId, call.prompt)) ? "delivered" : "tooLate"),
 * };
 */
export interface SteeringDriver {
  readonly spec: "steering-driver-1";
  readonly supports: {
    /** The content types `inject` takes; a steer with another one goes into a continuation. */
    readonly content: readonly ContentType[];
    /** When the vendor reads a steer: at once, after the tool that runs, or before the next step. */
    readonly boundary: "now" | "afterTool" | "nextStep";
    /** `assumed` where the vendor never says what became of a steer. Default `confirmed`. */
    readonly delivery?: "confirmed" | "assumed";
  };
  inject(call: InjectCall): PromiseLike<Verdict>;
}
