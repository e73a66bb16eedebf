import type { Reading } from "./dialect.js";
import { asObject, asText, type JsonObject, objectsIn } from "./json.js";
import { readHead, readMessageList } from "./read-head.js";
import { imageAt, inlineImage, toMessage } from "./read-message.js";
import type { ModelImage, ModelMessage, ModelTool, ModelToolCall } from "./request.js";

/** Content in any of its forms, as blocks. */
const blocksOf = (content: unknown): readonly JsonObject[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : objectsIn(content);

const textsOf = (blocks: readonly JsonObject[]): readonly string[] =>
  blocks.flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? [text] : []));

const readImage = (source: JsonObject): ModelImage => {
  switch (source["type"]) {
    case "base64":
      return inlineImage(asText(source["media_type"]), asText(source["data"]));
    case "url":
      return imageAt(asText(source["url"]));
    default:
      return { kind: "reference", reference: asText(source["file_id"]) };
  }
};

const imagesOf = (blocks: readonly JsonObject[]): readonly ModelImage[] =>
  blocks.filter(({ type }) => type === "image").map(({ source }) => readImage(asObject(source)));

const toolCallsOf = (blocks: readonly JsonObject[]): readonly ModelToolCall[] =>
  blocks
    .filter(({ type }) => type === "tool_use")
    .map(({ id, name, input }) => ({
      id: asText(id),
      name: asText(name),
      arguments: typeof input === "string" ? input : JSON.stringify(input ?? {}),
    }));

const readResult = ({ tool_use_id: id, content }: JsonObject): ModelMessage => {
  const blocks = blocksOf(content);
  return toMessage({ role: "tool", texts: textsOf(blocks), images: imagesOf(blocks), toolCallId: asText(id) });
};

const isResult = ({ type }: JsonObject): boolean => type === "tool_result";

/** Neighbours of one kind; what stands between two results keeps its place. */
const runsOf = (blocks: readonly JsonObject[]): readonly (readonly JsonObject[])[] => {
  const runs: JsonObject[][] = [];
  for (const block of blocks) {
    const last = runs.at(-1);
    if (last?.[0] !== undefined && isResult(last[0]) === isResult(block)) last.push(block);
    else runs.push([block]);
  }
  return runs;
};

const readPlain = (role: string, blocks: readonly JsonObject[]): ModelMessage =>
  toMessage({ role, texts: textsOf(blocks), images: imagesOf(blocks), toolCalls: toolCallsOf(blocks) });

/** A user message carries the tools' results too, which are messages of their own everywhere else. */
const readMessage = ({ role, content }: JsonObject): readonly ModelMessage[] => {
  const blocks = blocksOf(content);
  if (!blocks.some(isResult)) return [readPlain(asText(role), blocks)];
  return runsOf(blocks).flatMap((run) => (run.some(isResult) ? run.map(readResult) : [readPlain(asText(role), run)]));
};

const readSystem = (system: unknown): readonly ModelMessage[] => {
  const texts = textsOf(blocksOf(system));
  return texts.length === 0 ? [] : [toMessage({ role: "system", texts })];
};

const readTool = ({ name, description, input_schema: schema }: JsonObject): readonly ModelTool[] =>
  typeof name === "string" ? [{ name, description: asText(description), parameters: asObject(schema) }] : [];

/** Reads the body of a Messages request. */
export const readAnthropic = (received: unknown): Reading => {
  const head = readHead(received);
  if (!head.ok) return head;
  const { body, model, stream } = head;
  const list = readMessageList(body["messages"]);
  if (!list.ok) return list;
  return {
    ok: true,
    request: {
      model,
      stream,
      messages: [...readSystem(body["system"]), ...list.messages.flatMap(readMessage)],
      tools: objectsIn(body["tools"]).flatMap(readTool),
    },
  };
};
