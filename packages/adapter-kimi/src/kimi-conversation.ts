import type { JsonRecord } from "@acp-steering/kit/adapter";

/** A part of a message, as Kimi's server takes it. */
export type KimiPart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "image";
      readonly source:
        | { readonly kind: "base64"; readonly media_type: string; readonly data: string }
        | { readonly kind: "url"; readonly url: string };
    };

/** A message for Kimi. Kimi's events name it by its id. */
export interface KimiMessage {
  readonly id: string;
  readonly content: readonly KimiPart[];
  /** Start this skill of Kimi's in place of the content. */
  readonly skill?: { readonly name: string; readonly args: string };
}

/**
 * What became of a steer that was given to Kimi.
 *
 * - `joined`: Kimi has it for the turn that runs, and tells of its delivery by an event
 * - `queued`: Kimi was between turns, and runs it as a turn of its own
 * - `withdrawn`: Kimi has it no more, and has not read it
 */
export type SteerOutcome = "joined" | "queued" | "withdrawn";

/**
 * What Kimi tells of a conversation, by the names of its engine. These decide over a run; all others are shown to the user.
 *
 * - `turn.started`: `turnId`, and `promptId` where a message of ours began it
 * - `turn.steer`: the messages `promptIds` stand before the model, in the turn that runs
 * - `steer.dropped`: Kimi has let go of the messages `promptIds` without reading them
 * - `turn.ended`: `turnId`, `reason` (`completed`, `cancelled`, `failed`), `error`
 * - `prompt.completed`, `prompt.aborted`: `promptId` is over, also where it never began a turn
 */
export type KimiEvent = JsonRecord & { readonly type: string };

/** Sub-agents have turns and tool calls too, numbered like those of the conversation's own agent, which Kimi calls "main". */
export function isSubAgent({ agentId }: JsonRecord): boolean {
  return agentId !== undefined && agentId !== "main";
}

/**
 * One conversation with Kimi, wherever Kimi runs. It is all that prompting, steering and interrupting depend on, so
 * that Kimi in this process can take the place of Kimi's server.
 *
 * @example
 * ```ts
 * const session = kimiSession("session-1", sdkConversation(sdkSession));
 * ```
 */
export interface KimiConversation {
  /** Gives Kimi a prompt. Resolves when Kimi has taken it; rejects with why it has not. */
  prompt(message: KimiMessage): Promise<void>;
  /** Gives Kimi a steer for the turn that runs. When `signal` aborts, Kimi need not have it any more. */
  steer(message: KimiMessage, signal: AbortSignal): Promise<SteerOutcome>;
  /** Ends the turn that runs, and takes back the messages `waiting`, whose turn has not begun. Harmless when nothing runs. */
  cancel(waiting: readonly string[]): Promise<void>;
  /** Calls the listener for every event from now on, in order; returns how to stop that. */
  onEvent(listener: (event: KimiEvent) => void): () => void;
}
