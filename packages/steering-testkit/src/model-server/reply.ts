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
  /** The error's code, which OpenAI's formats have beside the type, e.g. `content_policy_violation`. */
  readonly code?: string;
  /** Sent as the header `retry-after`. */
  readonly retryAfterSeconds?: number;
}

/**
 * Where a reply waits for its release. `start`: not even the response headers are sent. `afterHeaders`: they are, and
 * nothing else: a model that is open and silent. `afterFirstChunk`, `beforeLastChunk`: of the content, in which a tool
 * call is a chunk for its name and two for its arguments. `afterText`: before the tool calls and the end. `beforeEnd`: all
 * content is out, the end is not. An answer that is not streamed has only its headers to send before the rest.
 */
export type HoldPoint = "start" | "afterHeaders" | "afterFirstChunk" | "afterText" | "beforeLastChunk" | "beforeEnd";

/** Which requests a reply is for; every condition that is given has to hold. */
export interface ReplyCondition {
  /** Whether the request offers tools. Agents ask without tools for titles and the like. */
  readonly tools?: boolean;
  /** A text that stands in a user message of the request. */
  readonly user?: string;
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
  /** In a script that is an array, and in the queue: the reply waits for such a request and lets others pass. */
  readonly when?: ReplyCondition;
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
  /** Default `start`. */
  readonly holdAt?: HoldPoint;
  /** Stands alone, or with `delayMs` and a `hold` at the start. */
  readonly error?: ReplyError;
  /**
   * `true`: the connection is destroyed where the end would have been sent, in the middle of the last tool call where
   * there is one; an answer that is not streamed breaks off in the middle of its body. `start`: it is destroyed before
   * the response headers, as by a server that is not there.
   */
  readonly cut?: boolean | "start";
  /** The provider's error event in place of the end; an answer that is not streamed is that error and nothing else. */
  readonly streamError?: ReplyError;
  /** After the first chunk comes one whose data is not JSON, then the rest; not streamed, the body is not JSON. */
  readonly malformed?: boolean;
  /** Streamed only to a client that asked for it, as the providers do. */
  readonly usage?: ReplyUsage;
  /**
   * Why the model stopped, in the dialect's own word: `stop`, `tool_calls`, `length`, `content_filter`, or `refusal`, by
   * which the text becomes a refusal where the dialect tells the two apart. Any other text is sent as it is by the
   * dialects that have such a field. Default: `tool_calls` where there are some, otherwise `stop`.
   */
  readonly finishReason?: string;
}

/**
 * Replies in order, one for each request that they are for, or a function that is asked for each request. A request for
 * which none is left is answered with the text `Done.`
 */
export type Script = readonly Reply[] | ((request: ModelRequest, index: number) => Reply | Promise<Reply>);
