import type { ContentBlock } from "@acp-steering/core";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { toPlainMessage } from "./plain-message.js";

type AcpContent = Extract<ContentBlock, { type: "text" } | { type: "image" }>;

/** A prompt or a steer as Claude Code takes it. */
export function toClaudeContent(prompt: readonly ContentBlock[]): JsonRecord[] {
  return prompt.flatMap((block) => {
    const { text, images } = toPlainMessage([block]);
    const sources = images.map(({ mimeType, data }) => ({
      type: "image",
      source: { type: "base64", media_type: mimeType, data },
    }));
    return text === "" && block.type !== "text" ? sources : [{ type: "text", text }, ...sources];
  });
}

/** Text and images of a message, or of what a tool gave. Other blocks are left out. */
export function fromClaudeContent(content: unknown): AcpContent[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return listOf(content).filter(isRecord).flatMap(toBlock);
}

/** The text alone, a line for each block. */
export function textIn(content: unknown): string {
  return fromClaudeContent(content)
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("\n");
}

function toBlock({ type, text, source }: JsonRecord): AcpContent[] {
  if (type === "text") return textOf(text) === "" ? [] : [{ type: "text", text: textOf(text) }];
  const { type: encoding, data, media_type: mimeType } = recordOf(source);
  if (type !== "image" || encoding !== "base64") return [];
  return [{ type: "image", data: textOf(data), mimeType: textOf(mimeType) }];
}
