import type { Answer, Dialect, Reading, ReplyPart, StreamWriter } from "./dialect.js";
import { asObject, asText, isObject, type JsonObject, objectsIn } from "./json.js";
import { openaiError } from "./openai-errors.js";
import { readHead, readMessageList } from "./read-head.js";
import { imageAt, toMessage } from "./read-message.js";
import { finishReason, textOf, toolCallsOf } from "./reply-parts.js";
import type { ModelImage, ModelMessage, ModelTool, ModelToolCall } from "./request.js";

const readTexts = (content: unknown): readonly string[] =>
  typeof content === "string"
    ? [content]
    : objectsIn(content).flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));

const readImages = (content: unknown): readonly ModelImage[] =>
  objectsIn(content)
    .filter((part) => part["type"] === "image_url")
    .map(({ image_url: image }) => imageAt(asText(isObject(image) ? image["url"] : image)));

const readToolCall = (call: JsonObject): ModelToolCall => {
  const called = asObject(call["function"]);
  return { id: asText(call["id"]), name: asText(called["name"]), arguments: asText(called["arguments"]) };
};

const readMessage = (message: JsonObject): ModelMessage => {
  const { role, content, tool_calls: calls, tool_call_id: callId } = message;
  return toMessage({
    role: asText(role),
    texts: readTexts(content),
    images: readImages(content),
    toolCalls: objectsIn(calls).map(readToolCall),
    toolCallId: typeof callId === "string" ? callId : undefined,
  });
};

const readTool = (tool: JsonObject): readonly ModelTool[] => {
  const { name, description, parameters } = asObject(tool["function"]);
  if (typeof name !== "string") return [];
  return [{ name, description: asText(description), parameters: asObject(parameters) }];
};

const read = (received: unknown): Reading => {
  const head = readHead(received);
  if (!head.ok) return head;
  const { body, model, stream } = head;
  const list = readMessageList(body["messages"]);
  if (!list.ok) return list;
  const tools = objectsIn(body["tools"]).flatMap(readTool);
  return { ok: true, request: { model, stream, messages: list.messages.map(readMessage), tools } };
};

const usageOf = ({ reply }: Answer): JsonObject => {
  const input = reply.usage?.inputTokens ?? 0;
  const output = reply.usage?.outputTokens ?? 0;
  return { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
};

const isRefusal = ({ reply }: Answer): boolean => reply.finishReason === "refusal";

// A refusal ends like any answer; only where its text stands tells it from one.
const finishReasonOf = (answer: Answer): string => {
  const reason = finishReason(answer.reply);
  return reason === "refusal" ? "stop" : reason;
};

const envelope = ({ request }: Answer, object: string): JsonObject => ({
  id: `chatcmpl-${request.index}`,
  object,
  created: Math.floor(request.at / 1000),
  model: request.model,
});

const deltaOf = (part: ReplyPart, answer: Answer): JsonObject => {
  switch (part.kind) {
    case "reasoning":
      return { reasoning_content: part.text };
    case "text":
      return isRefusal(answer) ? { refusal: part.text } : { content: part.text };
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
  const choice = (delta: JsonObject, reason: string | null): string =>
    event({ choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  const usage = (): string => (wantsUsage(answer.request.body) ? event({ choices: [], usage: usageOf(answer) }) : "");
  return {
    open: () => choice({ role: "assistant", content: "" }, null),
    part: (part) => choice(deltaOf(part, answer), null),
    end: () => `${choice({}, finishReasonOf(answer))}${usage()}data: [DONE]\n\n`,
    fail: (error) => `data: ${JSON.stringify(openaiError(error))}\n\n`,
  };
};

const whole = (answer: Answer): JsonObject => {
  const reasoning = textOf(answer.parts, "reasoning");
  const calls = toolCallsOf(answer.parts).map(({ id, name, arguments: encoded }) => ({
    id,
    type: "function",
    function: { name, arguments: encoded },
  }));
  const text = answer.reply.text === undefined ? null : textOf(answer.parts, "text");
  const message = {
    role: "assistant",
    content: isRefusal(answer) ? null : text,
    refusal: isRefusal(answer) ? text : null,
    ...(reasoning !== "" && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...envelope(answer, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReasonOf(answer) }],
    usage: usageOf(answer),
  };
};

/** OpenAI's chat completions, the format that most local and hosted model servers also speak. */
export const openaiChat: Dialect = {
  name: "openai-chat",
  matches: (path) => path.endsWith("/chat/completions"),
  read,
  whole,
  stream,
  error: openaiError,
};
