import type { ReplyPart } from "./dialect.js";
import type { Reply, ReplyToolCall } from "./reply.js";

const asChunks = (value: string | readonly string[] | undefined): readonly string[] =>
  typeof value === "string" ? [value] : (value ?? []);

const encodeArguments = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Splits between code points: half a surrogate pair is an error to strict JSON parsers. */
const halves = (text: string): readonly string[] => {
  const characters = Array.from(text);
  const middle = Math.ceil(characters.length / 2);
  return [characters.slice(0, middle).join(""), characters.slice(middle).join("")].filter((half) => half !== "");
};

const partsOfToolCall = (call: ReplyToolCall, position: number, requestIndex: number): readonly ReplyPart[] => [
  { kind: "toolCall", position, id: call.id ?? `call_${requestIndex}_${position}`, name: call.name },
  ...halves(encodeArguments(call.arguments)).map(
    (fragment): ReplyPart => ({ kind: "toolArguments", position, fragment }),
  ),
];

/** The reply as the pieces that go over the wire; a tool call's arguments always come in more than one. */
export const partsOf = (reply: Reply, requestIndex: number): readonly ReplyPart[] => [
  ...asChunks(reply.reasoning).map((text): ReplyPart => ({ kind: "reasoning", text })),
  ...asChunks(reply.text).map((text): ReplyPart => ({ kind: "text", text })),
  ...(reply.toolCalls ?? []).flatMap((call, position) => partsOfToolCall(call, position, requestIndex)),
];

/** Whether the part belongs to what is sent before a hold `afterText`. */
export const isProse = (part: ReplyPart): boolean => part.kind === "reasoning" || part.kind === "text";

/** All text of one kind, as an answer that is not streamed carries it. */
export const textOf = (parts: readonly ReplyPart[], kind: "reasoning" | "text"): string =>
  parts.map((part) => (part.kind === kind ? part.text : "")).join("");

export interface WholeToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** The tool calls put together again, as an answer that is not streamed carries them. */
export const toolCallsOf = (parts: readonly ReplyPart[]): readonly WholeToolCall[] =>
  parts.flatMap((part) => {
    if (part.kind !== "toolCall") return [];
    const fragments = parts.map((other) =>
      other.kind === "toolArguments" && other.position === part.position ? other.fragment : "",
    );
    return [{ id: part.id, name: part.name, arguments: fragments.join("") }];
  });

/** Why the model stopped, in the words of {@link Reply.finishReason}. */
export const finishReason = (reply: Reply): string =>
  reply.finishReason ?? (reply.toolCalls !== undefined && reply.toolCalls.length > 0 ? "tool_calls" : "stop");
