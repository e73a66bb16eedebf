import type { ContentBlock } from "@acp-steering/core";

/** A part of a user message, as chat completions take it. */
export type ChatPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

/** What the model wants done. */
export interface ChatToolCall {
  readonly id: string;
  readonly type: "function";
  readonly function: { readonly name: string; readonly arguments: string };
}

/** What the model said, as it goes back to it with the next request. */
export interface AssistantMessage {
  readonly role: "assistant";
  readonly content: string;
  readonly tool_calls?: readonly ChatToolCall[];
}

/** One message of a conversation, in the words of chat completions. */
export type ChatMessage =
  | { readonly role: "user"; readonly content: readonly ChatPart[] }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly content: string }
  | AssistantMessage;

/** A prompt or a steer as a message to the model. */
export function userMessage(blocks: readonly ContentBlock[]): ChatMessage {
  return { role: "user", content: blocks.map(asPart) };
}

function asPart(block: ContentBlock): ChatPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } };
    case "resource_link":
      return { type: "text", text: `[${block.name}](${block.uri})` };
    case "resource":
      return { type: "text", text: "text" in block.resource ? block.resource.text : block.resource.uri };
    case "audio":
      return { type: "text", text: "(a sound that this agent cannot play)" };
  }
}
