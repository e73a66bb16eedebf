import type { Reply, ReplyError } from "./reply.js";
import type { ModelRequest, ReadRequest } from "./request.js";

/** The body as a dialect understands it, or the field at fault and why. */
export type Reading =
  | { readonly ok: true; readonly request: ReadRequest }
  | { readonly ok: false; readonly path: string; readonly reason: string; readonly code?: string };

/** A piece of an answer, in the order in which models send them. */
export type ReplyPart =
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "toolCall"; readonly position: number; readonly id: string; readonly name: string }
  | { readonly kind: "toolArguments"; readonly position: number; readonly fragment: string };

/** Everything that a dialect needs to write one answer. */
export interface Answer {
  readonly request: ModelRequest;
  readonly reply: Reply;
  readonly parts: readonly ReplyPart[];
}

/** Turns one answer into server-sent events; may keep state, such as the number of the open content block. */
export interface StreamWriter {
  open(): string;
  part(part: ReplyPart): string;
  end(): string;
  /** What the provider sends in place of the end when it fails in mid-stream. */
  fail(error: ReplyError): string;
}

/** A request beside the generation of an answer, such as one that counts tokens. */
export interface SideRequest {
  /** Whether the path, without its query, is the dialect's. */
  matches(path: string): boolean;
  answer(body: unknown): unknown;
}

/**
 * One wire format of a model provider. It translates and nothing else: time, holds, faults and connections are the same
 * for all dialects and live in `play.ts`.
 */
export interface Dialect {
  readonly name: DialectName;
  /** Whether the path, without its query, is the dialect's; a base path in front of it is the client's own business. */
  matches(path: string): boolean;
  /** @param earlier the requests before this one, for a dialect in which one may refer to another */
  read(body: unknown, earlier: readonly ModelRequest[]): Reading;
  /** The JSON body of an answer that is not streamed. */
  whole(answer: Answer): unknown;
  stream(answer: Answer): StreamWriter;
  error(error: ReplyError): unknown;
  readonly side?: SideRequest;
}

/** The wire formats that every model server speaks at the same time, each on its own paths. */
export const DIALECT_NAMES = ["openai-chat", "openai-responses", "anthropic"] as const;

/** The name of one of them. */
export type DialectName = (typeof DIALECT_NAMES)[number];
