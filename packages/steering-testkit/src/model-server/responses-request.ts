import type { Reading } from "./dialect.js";
import { asObject, asText, type JsonObject, objectsIn } from "./json.js";
import { malformed, readHead } from "./read-head.js";
import { imageAt, toMessage } from "./read-message.js";
import type { Reply } from "./reply.js";
import type { ModelImage, ModelMessage, ModelRequest, ModelTool, ModelToolCall } from "./request.js";
import { idOf, outputOf } from "./responses-output.js";

const TEXT_TYPES = ["input_text", "output_text", "text", "summary_text"];

const textsOf = (content: unknown): readonly string[] =>
  typeof content === "string"
    ? [content]
    : objectsIn(content).flatMap(({ type, text, refusal }) => {
        if (type === "refusal") return [asText(refusal)];
        return TEXT_TYPES.includes(asText(type)) && typeof text === "string" ? [text] : [];
      });

const imagesOf = (content: unknown): readonly ModelImage[] =>
  objectsIn(content)
    .filter(({ type }) => type === "input_image")
    .map(({ image_url: url, file_id: file }) =>
      typeof url === "string" ? imageAt(url) : { kind: "reference", reference: asText(file) },
    );

const asArguments = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? {}));

const readCall = (item: JsonObject): ModelToolCall => ({
  id: asText(item["call_id"] ?? item["id"]),
  name: asText(item["name"] ?? item["type"]),
  arguments: asArguments(item["arguments"] ?? item["input"] ?? item["action"]),
});

const isCall = ({ type }: JsonObject): boolean => asText(type).endsWith("_call");
const isResult = ({ type }: JsonObject): boolean => asText(type).endsWith("_call_output");

const readItem = (item: JsonObject): ModelMessage | undefined => {
  if (isResult(item)) {
    const { call_id: callId, id, output } = item;
    const toolCallId = asText(callId ?? id);
    return toMessage({ role: "tool", texts: textsOf(output), images: imagesOf(output), toolCallId });
  }
  if (isCall(item)) return toMessage({ role: "assistant", toolCalls: [readCall(item)] });
  const { role, content } = item;
  if (typeof role !== "string") return undefined;
  return toMessage({ role, texts: textsOf(content), images: imagesOf(content) });
};

/** A tool call is an item of its own here and part of the model's message everywhere else. */
const joinCalls = (messages: readonly ModelMessage[]): readonly ModelMessage[] => {
  const joined: ModelMessage[] = [];
  for (const message of messages) {
    const last = joined.at(-1);
    const { role, text, toolCalls = [] } = message;
    if (last?.role === "assistant" && role === "assistant" && text === "") {
      joined[joined.length - 1] = { ...last, toolCalls: [...(last.toolCalls ?? []), ...toolCalls] };
    } else joined.push(message);
  }
  return joined;
};

const isWhole = ({ error, streamError, cut = false }: Reply): boolean =>
  error === undefined && streamError === undefined && cut === false;

const isKept = ({ dialect, body, reply, aborted }: ModelRequest): boolean =>
  dialect === "openai-responses" &&
  reply !== undefined &&
  isWhole(reply) &&
  !aborted &&
  asObject(body)["store"] !== false;

/** The items with the references to items of earlier answers replaced by what they refer to. */
const resolveItems = (items: readonly JsonObject[], earlier: readonly ModelRequest[]): readonly JsonObject[] =>
  items.map((item) => {
    if (item["type"] !== "item_reference") return item;
    const outputs = earlier.filter(isKept).flatMap(outputOf);
    return outputs.find(({ id }) => id === item["id"]) ?? item;
  });

const inputItems = (input: unknown): readonly JsonObject[] =>
  typeof input === "string" ? [{ role: "user", content: input }] : objectsIn(input);

const instructionsOf = (body: JsonObject): readonly ModelMessage[] =>
  typeof body["instructions"] === "string" ? [toMessage({ role: "system", texts: [body["instructions"]] })] : [];

/** The conversation up to and with an earlier answer; instructions hold for one request only. */
const conversationOf = (request: ModelRequest): readonly ModelMessage[] => [
  ...request.messages.slice(instructionsOf(asObject(request.body)).length),
  ...outputOf(request).flatMap((item) => readItem(item) ?? []),
];

const readFunction = (tool: JsonObject): readonly ModelTool[] => {
  const { type, name, description, parameters, tools } = tool;
  if (type === "namespace") return objectsIn(tools).flatMap(readFunction);
  if (typeof name !== "string") return [];
  return [{ name, description: asText(description), parameters: asObject(parameters) }];
};

const hasInput = (input: unknown): boolean => typeof input === "string" || Array.isArray(input);

/** Reads the body of a Responses request; what it refers to is taken from the requests before it. */
export const readResponses = (received: unknown, earlier: readonly ModelRequest[]): Reading => {
  const head = readHead(received);
  if (!head.ok) return head;
  const { body, model, stream } = head;
  const { input, previous_response_id: previousId, tools } = body;
  if (!hasInput(input)) return malformed("input", "must be a string or an array of items");
  const refers = typeof previousId === "string";
  const previous = refers ? earlier.find((request) => isKept(request) && idOf(request) === previousId) : undefined;
  if (refers && previous === undefined) {
    return malformed("previous_response_id", `names no stored response: ${previousId}`, "previous_response_not_found");
  }
  const history = previous === undefined ? [] : conversationOf(previous);
  const items = resolveItems(inputItems(input), earlier);
  const messages = joinCalls([...history, ...items.flatMap((item) => readItem(item) ?? [])]);
  return {
    ok: true,
    request: {
      model,
      stream,
      messages: [...instructionsOf(body), ...messages],
      tools: objectsIn(tools).flatMap(readFunction),
    },
  };
};
