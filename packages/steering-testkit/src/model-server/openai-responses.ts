import type { Answer, Dialect, StreamWriter } from "./dialect.js";
import { messageOf } from "./error-message.js";
import { asObject, type JsonObject } from "./json.js";
import { openaiError } from "./openai-errors.js";
import type { ReplyError } from "./reply.js";
import { finishReason } from "./reply-parts.js";
import { idOf, itemsOf, ResponseOutput } from "./responses-output.js";
import { readResponses } from "./responses-request.js";
import { type EventData, namedEvent } from "./sse.js";

const INCOMPLETE_REASONS: Readonly<Record<string, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
};

const usageOf = ({ reply }: Answer): JsonObject => {
  const input = reply.usage?.inputTokens ?? 0;
  const output = reply.usage?.outputTokens ?? 0;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
};

/** A response as it stands before anything was generated; what the client asked for is said back to it. */
const emptyResponse = ({ request }: Answer): JsonObject => {
  const body = asObject(request.body);
  return {
    id: idOf(request),
    object: "response",
    created_at: Math.floor(request.at / 1000),
    status: "in_progress",
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body["instructions"] ?? null,
    max_output_tokens: body["max_output_tokens"] ?? null,
    metadata: body["metadata"] ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: body["parallel_tool_calls"] ?? true,
    previous_response_id: body["previous_response_id"] ?? null,
    reasoning: body["reasoning"] ?? { effort: null, summary: null },
    store: body["store"] ?? true,
    temperature: body["temperature"] ?? 1,
    text: body["text"] ?? { format: { type: "text" } },
    tool_choice: body["tool_choice"] ?? "auto",
    tools: body["tools"] ?? [],
    top_p: body["top_p"] ?? 1,
    truncation: body["truncation"] ?? "disabled",
    usage: null,
  };
};

const endedResponse = (answer: Answer, output: readonly JsonObject[]): JsonObject => {
  const reason = INCOMPLETE_REASONS[finishReason(answer.reply)];
  return {
    ...emptyResponse(answer),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output,
    usage: usageOf(answer),
  };
};

const failureCodeOf = ({ code, status }: ReplyError): string =>
  code ?? (status === 429 ? "rate_limit_exceeded" : "server_error");

const stream = (answer: Answer): StreamWriter => {
  const output = new ResponseOutput(answer);
  let sequence = 0;
  const send = (...events: readonly EventData[]): string =>
    events.map((event) => namedEvent({ ...event, sequence_number: sequence++ })).join("");
  return {
    open: () => {
      const response = emptyResponse(answer);
      return send({ type: "response.created", response }, { type: "response.in_progress", response });
    },
    part: (part) => send(...output.part(part)),
    end: () => {
      const closing = output.close();
      const response = endedResponse(answer, output.items);
      return send(...closing, { type: `response.${String(response["status"])}`, response });
    },
    fail: (error) => {
      const failure = { code: failureCodeOf(error), message: messageOf(error) };
      const response = { ...emptyResponse(answer), status: "failed", error: failure, output: output.items };
      return send({ type: "response.failed", response });
    },
  };
};

/** OpenAI's Responses. */
export const openaiResponses: Dialect = {
  name: "openai-responses",
  matches: (path) => path.endsWith("/responses"),
  read: readResponses,
  whole: (answer) => endedResponse(answer, itemsOf(answer)),
  stream,
  error: openaiError,
};
