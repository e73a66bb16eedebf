/** A tool call that the agent sent back as part of the history. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model had written them, which need not be JSON. */
  readonly arguments: string;
}

/** One message of a request, whatever the dialect it came in. */
export interface ModelMessage {
  readonly role: string;
  /** All text parts, joined with a line feed. */
  readonly text: string;
  /** How many images the message carries. */
  readonly images: number;
  readonly toolCalls?: readonly ModelToolCall[];
  /** For a tool's result: the call that it answers. */
  readonly toolCallId?: string;
}

/** The part of a request that each dialect reads out of the body in its own way. */
export interface ReadRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ModelMessage[];
}

/** One model request, as it was recorded. Requests that were refused (4xx by the server itself) are not recorded. */
export interface ModelRequest extends ReadRequest {
  /** Position in order of arrival, from 0. */
  readonly index: number;
  /** Time of arrival in milliseconds since the epoch. */
  readonly at: number;
  /** Name of the wire format, e.g. `chat-completions`. */
  readonly dialect: string;
  readonly path: string;
  /** The parsed JSON body, untouched. */
  readonly body: unknown;
  /** Whether the client went away before it had the whole answer. Set when it happens. */
  readonly aborted: boolean;
}
