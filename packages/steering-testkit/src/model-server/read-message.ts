import { createHash } from "node:crypto";
import type { ModelImage, ModelMessage, ModelToolCall } from "./request.js";

const DATA_URL = /^data:([^;,]*)(?:;[^,]*?)?;base64,/i;

/** An image given by its base64 text. */
export const inlineImage = (mimeType: string, base64: string): ModelImage => {
  const bytes = Buffer.from(base64, "base64");
  return { kind: "inline", mimeType, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
};

/** An image given by a URL, which may carry it. */
export const imageAt = (url: string): ModelImage => {
  const data = DATA_URL.exec(url);
  return data === null ? { kind: "reference", reference: url } : inlineImage(data[1] ?? "", url.slice(data[0].length));
};

interface Content {
  readonly role: string;
  readonly texts?: readonly string[];
  readonly images?: readonly ModelImage[];
  readonly toolCalls?: readonly ModelToolCall[];
  readonly toolCallId?: string | undefined;
}

const ROLES: Readonly<Record<string, string>> = { developer: "system", function: "tool" };

/** Puts a message into the form that all dialects share. */
export const toMessage = ({ role, texts = [], images = [], toolCalls = [], toolCallId }: Content): ModelMessage => ({
  role: ROLES[role] ?? role,
  text: texts.join("\n"),
  images: images.length,
  ...(images.length > 0 && { imageDetails: images }),
  ...(toolCalls.length > 0 && { toolCalls }),
  ...(toolCallId !== undefined && { toolCallId }),
});
