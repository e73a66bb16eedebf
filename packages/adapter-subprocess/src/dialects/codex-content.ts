import type { ContentBlock } from "@acp-steering/core";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { toPlainMessage } from "./plain-message.js";

type AcpContent = Extract<ContentBlock, { type: "text" } | { type: "image" }>;

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

/** A prompt or a steer as Codex takes it. */
export function toCodexInput(prompt: readonly ContentBlock[]): JsonRecord[] {
  return prompt.flatMap((block) => {
    const { text, images } = toPlainMessage([block]);
    const urls = images.map(({ mimeType, data }) => ({ type: "image", url: `data:${mimeType};base64,${data}` }));
    return block.type === "image" || (text === "" && urls.length > 0)
      ? urls
      : [{ type: "text", text, text_elements: [] }, ...urls];
  });
}

/** What a user once said, as Codex keeps it. */
export function fromCodexInput(content: unknown): AcpContent[] {
  return listOf(content).filter(isRecord).map(toBlock);
}

function toBlock(input: JsonRecord): AcpContent {
  const { type, text, url, path, name } = input;
  if (type === "text") return { type: "text", text: textOf(text) };
  return imageOf(url) ?? { type: "text", text: `(${textOf(name) || textOf(path) || textOf(url) || textOf(type)})` };
}

/** What a tool of an MCP server or of a client gave: text and images, in either of the two shapes that Codex passes on. */
export function fromToolContent(content: unknown): AcpContent[] {
  return listOf(content).filter(isRecord).flatMap(toToolBlock);
}

function toToolBlock(item: JsonRecord): AcpContent[] {
  const { type, text, data, mimeType, imageUrl, resource } = item;
  if (type === "text" || type === "inputText") return [{ type: "text", text: textOf(text) }];
  if (type === "image") return [{ type: "image", data: textOf(data), mimeType: textOf(mimeType) }];
  if (type === "inputImage") return [imageOf(imageUrl) ?? { type: "text", text: `(${textOf(imageUrl)})` }];
  const embedded = textOf(recordOf(resource)["text"]);
  return embedded === "" ? [] : [{ type: "text", text: embedded }];
}

function imageOf(url: unknown): AcpContent | undefined {
  const [, mimeType, data] = DATA_URL.exec(textOf(url)) ?? [];
  return mimeType !== undefined && data !== undefined ? { type: "image", data, mimeType } : undefined;
}
