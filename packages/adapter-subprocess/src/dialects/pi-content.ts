import type { ContentBlock } from "@acp-steering/core";

/** An image as Pi takes it: base64 and its media type. */
interface PiImage {
  readonly type: "image";
  readonly data: string;
  readonly mimeType: string;
}

/** A message as Pi's commands `prompt` and `steer` take it: one text, and images beside it. */
interface PiMessage {
  readonly message: string;
  readonly images?: readonly PiImage[];
}

/** Models refuse a message without text, and Pi never takes one out of its queue. */
const TEXT_OF_A_MESSAGE_WITHOUT_TEXT = "See the attached image.";

/** A prompt or a steer as Pi takes it. Blocks stand on lines of their own; a single text block is passed on verbatim. */
export function toPiMessage(prompt: readonly ContentBlock[]): PiMessage {
  const images = prompt.flatMap(imagesOf);
  const text = prompt.flatMap(textOf).join("\n");
  const message = text === "" && images.length > 0 ? TEXT_OF_A_MESSAGE_WITHOUT_TEXT : text;
  return images.length > 0 ? { message, images } : { message };
}

function textOf(block: ContentBlock): string[] {
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

function imagesOf(block: ContentBlock): PiImage[] {
  if (block.type === "image") return [{ type: "image", data: block.data, mimeType: block.mimeType }];
  if (block.type !== "resource" || !("blob" in block.resource)) return [];
  const { blob, mimeType } = block.resource;
  return mimeType?.startsWith("image/") ? [{ type: "image", data: blob, mimeType }] : [];
}

function contextOf(uri: string, text: string): string {
  return `<context ref="${uri}">\n${text}\n</context>`;
}
