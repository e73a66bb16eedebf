import { readAnthropic } from "./anthropic-request.js";
import type { Answer, Dialect, ReplyPart, StreamWriter } from "./dialect.js";
import { messageOf } from "./error-message.js";
import type { JsonObject } from "./json.js";
import type { ReplyError } from "./reply.js";
import { finishReason, textOf, toolCallsOf } from "./reply-parts.js";
import { type EventData, namedEvent } from "./sse.js";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

const ERROR_TYPES: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

// Clients that send thinking back expect it signed; nobody checks this one.
const SIGNATURE = "c2NyaXB0ZWQ=";

const stopReasonOf = ({ reply }: Answer): string => {
  const reason = finishReason(reply);
  return STOP_REASONS[reason] ?? reason;
};

const usageOf = ({ reply }: Answer): JsonObject => ({
  input_tokens: reply.usage?.inputTokens ?? 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: reply.usage?.outputTokens ?? 0,
});

const messageHead = (answer: Answer): JsonObject => ({
  // Clients keep messages by their id, also over the life of a server.
  id: `msg_${answer.request.at.toString(36)}_${answer.request.index}`,
  type: "message",
  role: "assistant",
  model: answer.request.model,
});

type BlockKind = "thinking" | "text" | "tool_use";

const kindOf = (part: ReplyPart): BlockKind => {
  switch (part.kind) {
    case "reasoning":
      return "thinking";
    case "text":
      return "text";
    default:
      return "tool_use";
  }
};

const emptyBlock = (part: ReplyPart): JsonObject => {
  switch (part.kind) {
    case "reasoning":
      return { type: "thinking", thinking: "", signature: "" };
    case "toolCall":
      return { type: "tool_use", id: part.id, name: part.name, input: {} };
    default:
      return { type: "text", text: "" };
  }
};

const deltasOf = (part: ReplyPart): readonly JsonObject[] => {
  switch (part.kind) {
    case "reasoning":
      return [{ type: "thinking_delta", thinking: part.text }];
    case "text":
      return [{ type: "text_delta", text: part.text }];
    case "toolArguments":
      return [{ type: "input_json_delta", partial_json: part.fragment }];
    case "toolCall":
      return [];
  }
};

const stream = (answer: Answer): StreamWriter => {
  let index = -1;
  let open: BlockKind | undefined;
  const deltas = (fields: readonly JsonObject[]): string =>
    fields.map((delta) => namedEvent({ type: "content_block_delta", index, delta })).join("");
  const close = (): string => {
    if (open === undefined) return "";
    const signature = open === "thinking" ? deltas([{ type: "signature_delta", signature: SIGNATURE }]) : "";
    open = undefined;
    return `${signature}${namedEvent({ type: "content_block_stop", index })}`;
  };
  const enter = (part: ReplyPart): string => {
    if (open === kindOf(part) && part.kind !== "toolCall") return "";
    const closed = close();
    index += 1;
    open = kindOf(part);
    return `${closed}${namedEvent({ type: "content_block_start", index, content_block: emptyBlock(part) })}`;
  };
  return {
    open: () => {
      const usage = { ...usageOf(answer), output_tokens: 0 };
      const message = { ...messageHead(answer), content: [], stop_reason: null, stop_sequence: null, usage };
      return `${namedEvent({ type: "message_start", message })}${namedEvent({ type: "ping" })}`;
    },
    part: (part) => `${enter(part)}${deltas(deltasOf(part))}`,
    end: () => {
      const delta = { stop_reason: stopReasonOf(answer), stop_sequence: null };
      const last = namedEvent({ type: "message_delta", delta, usage: usageOf(answer) });
      return `${close()}${last}${namedEvent({ type: "message_stop" })}`;
    },
    fail: (failure) => namedEvent(error(failure)),
  };
};

/** Arguments that are not JSON have no form in an answer that is not streamed; they go out as the text they are. */
const inputOf = (encoded: string): unknown => {
  try {
    return JSON.parse(encoded);
  } catch {
    return encoded;
  }
};

const whole = (answer: Answer): JsonObject => {
  const thinking = textOf(answer.parts, "reasoning");
  const text = textOf(answer.parts, "text");
  return {
    ...messageHead(answer),
    content: [
      ...(thinking === "" ? [] : [{ type: "thinking", thinking, signature: SIGNATURE }]),
      ...(text === "" ? [] : [{ type: "text", text }]),
      ...toolCallsOf(answer.parts).map(({ id, name, arguments: encoded }) => ({
        type: "tool_use",
        id,
        name,
        input: inputOf(encoded),
      })),
    ],
    stop_reason: stopReasonOf(answer),
    stop_sequence: null,
    usage: usageOf(answer),
  };
};

const errorTypeOf = (status: number): string =>
  ERROR_TYPES[status] ?? (status >= 500 ? "api_error" : "invalid_request_error");

function error(failure: ReplyError): EventData {
  return {
    type: "error",
    error: { type: failure.type ?? errorTypeOf(failure.status), message: messageOf(failure) },
    request_id: null,
  };
}

const CHARACTERS_PER_TOKEN = 4;

/** Anthropic's Messages. */
export const anthropic: Dialect = {
  name: "anthropic",
  matches: (path) => path.endsWith("/messages"),
  read: readAnthropic,
  whole,
  stream,
  error,
  side: {
    matches: (path) => path.endsWith("/messages/count_tokens"),
    answer: (body) => ({ input_tokens: Math.ceil(JSON.stringify(body).length / CHARACTERS_PER_TOKEN) }),
  },
};
