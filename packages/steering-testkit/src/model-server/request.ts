import type { Reply } from "./reply.js";

/** A tool call that the agent sent back as part of the history. */
export interface ModelToolCall {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model had written them, which need not be JSON. */
  readonly arguments: string;
}

/** An image: its bytes in the request, or a reference (a URL, the id of a file) that the model server does not follow. */
export type ModelImage =
  | {
      readonly kind: "inline";
      readonly mimeType: string;
      readonly bytes: number;
      /** Of the decoded bytes, in hexadecimal. */
      readonly sha256: string;
    }
  | { readonly kind: "reference"; readonly reference: string };

/**
 * One message of a request, in the same form whatever the dialect it came in: instructions are a `system` message, each
 * tool's result is a `tool` message, tool calls stand in the `assistant` message that made them.
 */
export interface ModelMessage {
  /** `system`, `user`, `assistant` or `tool`; a role that no dialect knows is kept as it came. */
  readonly role: string;
  /** All text parts, joined with a line feed. */
  readonly text: string;
  /** How many images the message carries. */
  readonly images: number;
  /** What they are, where there are any. */
  readonly imageDetails?: readonly ModelImage[];
  readonly toolCalls?: readonly ModelToolCall[];
  /** For a tool's result: the call that it answers. */
  readonly toolCallId?: string;
}

/** A tool that the agent offers to the model. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema of its arguments; empty for a tool that takes free text. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

/** The part of a request that each dialect reads out of the body in its own way. */
export interface ReadRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
}

/** One model request, as it was recorded. Requests that were refused (4xx by the server itself) are not recorded. */
export interface ModelRequest extends ReadRequest {
  /** Position in order of arrival, from 0. */
  readonly index: number;
  /** Time of arrival in milliseconds since the epoch. */
  readonly at: number;
  /** Name of the wire format: `openai-chat`, `openai-responses` or `anthropic`. */
  readonly dialect: string;
  readonly path: string;
  /** The parsed JSON body, untouched. */
  readonly body: unknown;
  /** What the model answers; absent until the script has decided it. */
  readonly reply?: Reply;
  /** Whether the client went away before it had the whole answer. Set when it happens. */
  readonly aborted: boolean;
  /** True when the record was full and this request lost its body, messages, tools and reply. */
  readonly forgotten?: boolean;
}
