import type { ModelRequest } from "./request.js";

/** One tool call of a scripted reply. */
export interface ReplyToolCall {
  /** The call's id on the wire; by default `call_<request index>_<position>`. */
  readonly id?: string;
  readonly name: string;
  /** A string goes out verbatim, so that broken arguments can be scripted; anything else as its JSON. */
  readonly arguments: unknown;
}

/** Token counts as the model server reports them; a missing count is sent as 0. */
export interface ReplyUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
}

/** An HTTP error in place of an answer. */
export interface ReplyError {
  /** HTTP status, 400 to 599. */
  readonly status: number;
  readonly message?: string;
  /** The error's type as the provider names it; by default one that fits the status. */
  readonly type?: string;
}

/**
 * What the model answers to one request: reasoning, then text, then tool calls, in this order. An empty reply is a
 * complete answer without content.
 *
 * @example
 * ```ts
 * const reply: Reply = { text: ["I will ", "look."], toolCalls: [{ name: "read", arguments: { path: "a.txt" } }] };
 * ```
 */
export interface Reply {
  /** A string is one chunk of the stream, an array one chunk for each element. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly toolCalls?: readonly ReplyToolCall[];
  /** Milliseconds before anything is sent, after a hold at the start. */
  readonly delayMs?: number;
  /** Milliseconds before each streamed chunk but the first. An answer that is not streamed has no chunks. */
  readonly chunkDelayMs?: number;
  /** Nothing after the point of `holdAt` is sent until `release()` is called with this name. */
  readonly hold?: string;
  /** `start` (default): not even the response headers are sent. `afterText`: held before the tool calls and the end. */
  readonly holdAt?: "start" | "afterText";
  /** Stands alone, or with `delayMs` and a `hold` at the start. */
  readonly error?: ReplyError;
  /**
   * The connection is destroyed where the end would have been sent, in the middle of the last tool call where there is
   * one. An answer that is not streamed breaks off in the middle of its body.
   */
  readonly cut?: boolean;
  /** Streamed only to a client that asked for it, as the providers do. */
  readonly usage?: ReplyUsage;
  /** Sent as it is; by default the dialect's word for "finished", or for "wants its tools called". */
  readonly finishReason?: string;
}

/**
 * Replies in order, one for each request, or a function that is asked for each request. After the last one the server
 * answers with the text `Done.`
 */
export type Script = readonly Reply[] | ((request: ModelRequest, index: number) => Reply | Promise<Reply>);
