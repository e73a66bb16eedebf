import type { ContentBlock } from "@acp-steering/core";

/** Base64 and its media type. */
export interface PlainImage {
  readonly data: string;
  readonly mimeType: string;
}

/** A message for an agent that takes one text, and images beside it. */
export interface PlainMessage {
  readonly text: string;
  readonly images: readonly PlainImage[];
}

/** A prompt or a steer as plain text. Blocks stand on lines of their own; a single text block is passed on verbatim. */
export function toPlainMessage(prompt: readonly ContentBlock[]): PlainMessage {
  return { text: prompt.flatMap(textsOf).join("\n"), images: prompt.flatMap(imagesOf) };
}

function textsOf(block: ContentBlock): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "resource_link":
      return [`[@${block.name}](${block.uri})`];
    case "resource":
      return "text" in block.resource
        ? [contextOf(block.resource.uri, block.resource.text)]
        : [`(${block.resource.uri})`];
    case "image":
    case "audio":
      return [];
  }
}

function imagesOf(block: ContentBlock): PlainImage[] {
  if (block.type === "image") return [{ data: block.data, mimeType: block.mimeType }];
  if (block.type !== "resource" || !("blob" in block.resource)) return [];
  const { blob, mimeType } = block.resource;
  return mimeType?.startsWith("image/") ? [{ data: blob, mimeType }] : [];
}

function contextOf(uri: string, text: string): string {
  return `<context ref="${uri}">\n${text}\n</context>`;
}
