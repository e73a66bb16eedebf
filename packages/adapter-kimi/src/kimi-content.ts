import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@acp-steering/core";
import type { KimiPart } from "./kimi-conversation.js";

/** Models refuse a message without any text. */
const TEXT_OF_A_MESSAGE_WITHOUT_TEXT = "See the attached image.";

/** A prompt or a steer as Kimi takes it. Text is passed on verbatim; links and files become text that says what they are. */
export function toKimiParts(prompt: readonly ContentBlock[]): KimiPart[] {
  const parts = prompt.map(toPart);
  const hasText = parts.some((part) => part.type === "text" && part.text.trim() !== "");
  return hasText ? parts : [{ type: "text", text: TEXT_OF_A_MESSAGE_WITHOUT_TEXT }, ...parts.filter(isImage)];
}

function toPart(block: ContentBlock): KimiPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return image(block.mimeType, block.data);
    case "audio":
      return { type: "text", text: "(an audio recording, which Kimi cannot hear)" };
    case "resource_link":
      return { type: "text", text: linkText(block.uri, block.name) };
    case "resource":
      return resourcePart(block.resource);
  }
}

function resourcePart(resource: Extract<ContentBlock, { type: "resource" }>["resource"]): KimiPart {
  if ("text" in resource) return { type: "text", text: `<file uri="${resource.uri}">\n${resource.text}\n</file>` };
  const { blob, mimeType, uri } = resource;
  return mimeType?.startsWith("image/") ? image(mimeType, blob) : { type: "text", text: linkText(uri, uri) };
}

function image(mediaType: string, data: string): KimiPart {
  return { type: "image", source: { kind: "base64", media_type: mediaType, data } };
}

function isImage(part: KimiPart): boolean {
  return part.type === "image";
}

/** A file is named by its path, which Kimi's own tools take, and the lines that the link is about. */
function linkText(uri: string, name: string): string {
  try {
    const [, lines] = /#L(\d+(?:[-:]L?\d+)?)$/i.exec(uri) ?? [];
    const path = fileURLToPath(uri);
    return lines === undefined ? path : `${path}:${lines.replace(/[:L]+/gi, "-").replace(/-+/, "-")}`;
  } catch {
    return uri === name ? uri : `[${name}](${uri})`;
  }
}
