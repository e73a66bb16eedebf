import { randomUUID } from "node:crypto";
import { type JsonRecord, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import type { PiContent, PiMessageRecord } from "./pi-records.js";

/** Marks what an extension of Pi says, in the `_meta` of a message: its words are neither the model's nor the user's. */
const FROM_EXTENSION = "piExtension";

/** What an extension put into the conversation for people to see; nothing where the message is another one. */
export function noteOf(message: PiMessageRecord, messageId: string): SessionUpdate[] {
  if (message.role !== "custom" || !message.display) return [];
  return message.content.flatMap((content) => {
    const block = blockOf(content);
    return block ? [note(block, messageId, "message")] : [];
  });
}

/** What an extension tells the user beside the conversation; nothing where it tells something else. */
export function notificationOf(request: JsonRecord): SessionUpdate[] {
  const text = textOf(request["message"]);
  if (request["method"] !== "notify" || text === "") return [];
  return [note({ type: "text", text }, randomUUID(), textOf(request["notifyType"]) || "info")];
}

/** Text and images, as messages carry them. */
export function blockOf({ type, text, data, mimeType }: PiContent): Block | undefined {
  if (type === "text" && text) return { type: "text", text };
  return type === "image" && data && mimeType ? { type: "image", data, mimeType } : undefined;
}

type Block = Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" }>["content"];

function note(content: Block, messageId: string, kind: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", messageId, content, _meta: { [FROM_EXTENSION]: kind } };
}
