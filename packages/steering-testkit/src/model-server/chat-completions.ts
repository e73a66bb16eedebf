import type { Answer, Dialect, Reading, ReplyPart, StreamWriter } from "./dialect.js";
import { isObject, type JsonObject } from "./json.js";
import type { ReplyError } from "./reply.js";
import { textOf, toolCallsOf } from "./reply-parts.js";
import type { ModelMessage, ModelToolCall } from "./request.js";

const contentParts = (content: unknown): readonly JsonObject[] =>
  Array.isArray(content) ? content.filter(isObject) : [];

const readText = (content: unknown): string =>
  typeof content === "string"
    ? content
    : contentParts(content)
        .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []))
        .join("\n");

const countImages = (content: unknown): number =>
  contentParts(content).filter((part) => part["type"] === "image_url").length;

const asText = (value: unknown): string => (typeof value === "string" ? value : "");

const readToolCall = (call: JsonObject): ModelToolCall => {
  const called = isObject(call["function"]) ? call["function"] : {};
  return { id: asText(call["id"]), name: asText(called["name"]), arguments: asText(called["arguments"]) };
};

const readMessage = (message: JsonObject): ModelMessage => ({
  role: asText(message["role"]),
  text: readText(message["content"]),
  images: countImages(message["content"]),
  ...(Array.isArray(message["tool_calls"]) && {
    toolCalls: message["tool_calls"].filter(isObject).map(readToolCall),
  }),
  ...(typeof message["tool_call_id"] === "string" && { toolCallId: message["tool_call_id"] }),
});

const bad = (path: string, reason: string): Reading => ({ ok: false, path, reason });

const read = (body: unknown): Reading => {
  if (!isObject(body)) return bad("the body", "must be a JSON object");
  const { model, messages, stream } = body;
  if (typeof model !== "string" || model === "") return bad("model", "must be a non-empty string");
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") return bad("stream", "must be a boolean");
  if (!Array.isArray(messages) || messages.length === 0) return bad("messages", "must be a non-empty array");
  const wrong = messages.findIndex((message) => !isObject(message) || typeof message["role"] !== "string");
  if (wrong >= 0) return bad(`messages[${wrong}]`, "must be an object with a `role`");
  return { ok: true, request: { model, stream: stream === true, messages: messages.map(readMessage) } };
};

const usageOf = ({ reply }: Answer): JsonObject => {
  const input = reply.usage?.inputTokens ?? 0;
  const output = reply.usage?.outputTokens ?? 0;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
};

const finishReasonOf = ({ reply }: Answer): string =>
  reply.finishReason ?? (reply.toolCalls !== undefined && reply.toolCalls.length > 0 ? "tool_calls" : "stop");

const envelope = ({ request }: Answer, object: string): JsonObject => ({
  id: `chatcmpl-${request.index}`,
  object,
  created: Math.floor(request.at / 1000),
  model: request.model,
});

const deltaOf = (part: ReplyPart): JsonObject => {
  switch (part.kind) {
    case "reasoning":
      return { reasoning_content: part.text };
    case "text":
      return { content: part.text };
    case "toolCall":
      return {
        tool_calls: [
          { index: part.position, id: part.id, type: "function", function: { name: part.name, arguments: "" } },
        ],
      };
    case "toolArguments":
      return { tool_calls: [{ index: part.position, function: { arguments: part.fragment } }] };
  }
};

const wantsUsage = (body: unknown): boolean => {
  const options = isObject(body) ? body["stream_options"] : undefined;
  return isObject(options) && options["include_usage"] === true;
};

const stream = (answer: Answer): StreamWriter => {
  const event = (fields: JsonObject): string =>
    `data: ${JSON.stringify({ ...envelope(answer, "chat.completion.chunk"), ...fields })}\n\n`;
  const choice = (delta: JsonObject, finishReason: string | null): string =>
    event({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
  const usage = (): string => (wantsUsage(answer.request.body) ? event({ choices: [], usage: usageOf(answer) }) : "");
  return {
    open: () => choice({ role: "assistant", content: "" }, null),
    part: (part) => choice(deltaOf(part), null),
    end: () => `${choice({}, finishReasonOf(answer))}${usage()}data: [DONE]\n\n`,
  };
};

const whole = (answer: Answer): JsonObject => {
  const reasoning = textOf(answer.parts, "reasoning");
  const calls = toolCallsOf(answer.parts).map(({ id, name, arguments: encoded }) => ({
    id,
    type: "function",
    function: { name, arguments: encoded },
  }));
  const message = {
    role: "assistant",
    content: answer.reply.text === undefined ? null : textOf(answer.parts, "text"),
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...envelope(answer, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finishReasonOf(answer) }],
    usage: usageOf(answer),
  };
};

const errorTypeOf = (status: number): string => {
  if (status === 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
};

const error = ({ status, message, type }: ReplyError): JsonObject => ({
  error: {
    message: message ?? `The scripted model answers ${status}.`,
    type: type ?? errorTypeOf(status),
    param: null,
    code: null,
  },
});

/** OpenAI's chat completions, the format that most local and hosted model servers also speak. */
export const chatCompletions: Dialect = {
  name: "chat-completions",
  matches: (path) => path === "/v1/chat/completions",
  read,
  whole,
  stream,
  error,
};
