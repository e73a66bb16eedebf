import type { ContentBlock } from "@acp-steering/core";
import { type PlainImage, toPlainMessage } from "./plain-message.js";

/** A message as Pi's commands `prompt` and `steer` take it: one text, and images beside it. */
interface PiMessage {
  readonly message: string;
  readonly images?: readonly (PlainImage & { readonly type: "image" })[];
}

/** Models refuse a message without text, and Pi never takes one out of its queue. */
const TEXT_OF_A_MESSAGE_WITHOUT_TEXT = "See the attached image.";

/** A prompt or a steer as Pi takes it; a single text block is passed on verbatim. */
export function toPiMessage(prompt: readonly ContentBlock[]): PiMessage {
  const { text, images } = toPlainMessage(prompt);
  if (images.length === 0) return { message: text };
  return {
    message: text || TEXT_OF_A_MESSAGE_WITHOUT_TEXT,
    images: images.map((image) => ({ type: "image", ...image })),
  };
}
