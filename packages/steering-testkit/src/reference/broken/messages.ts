import type { WireMessage } from "@acp-steering/core";
import { META_KEY, METHOD } from "@acp-steering/core/protocol";
import type { ChatMessage, ChatPart } from "../chat-message.js";
import { type Json, withAt } from "./json.js";
import type { SeenRequest, SeenSteer } from "./watch.js";

/** Where `_meta.steering` stands in a message. */
export const IN_RESULT: readonly string[] = ["result", "_meta", META_KEY];
export const IN_PARAMS: readonly string[] = ["params", "_meta", META_KEY];

/** Whether it is the answer to a request of that method. */
export const answers = (answered: SeenRequest | undefined, method: string): answered is SeenRequest =>
  answered?.method === method;

/** A text as the agent's message to the user. */
export const chunk = (sessionId: unknown, text: string): WireMessage => ({
  jsonrpc: "2.0",
  method: METHOD.update,
  params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } } },
});

/** The answer of an agent that has nothing running. */
export const promptRequired = (message: WireMessage, detail = "idle"): WireMessage => ({
  jsonrpc: "2.0",
  id: message.id ?? null,
  result: { outcome: "promptRequired", reason: "noRunningTurn", _meta: { [META_KEY]: { messageId: "none", detail } } },
});

/** The prompt with what steers said at its end. */
export function withSteers(message: WireMessage, steers: readonly SeenSteer[]): WireMessage {
  const { prompt } = message.params as { prompt: readonly unknown[] };
  return withAt(message, ["params", "prompt"], [...prompt, ...steers.flatMap((steer) => steer.prompt)]);
}

/** The messages, with each user message's parts as `change` has them; a message without parts is left out. */
export function changeParts(
  messages: readonly ChatMessage[],
  change: (parts: readonly ChatPart[]) => readonly ChatPart[],
): readonly ChatMessage[] {
  return messages.flatMap((message): ChatMessage[] => {
    if (message.role !== "user") return [message];
    const content = change(message.content);
    return content.length === 0 ? [] : [{ ...message, content }];
  });
}

/** The messages without these steers. */
export function without(messages: readonly ChatMessage[], steers: readonly SeenSteer[]): readonly ChatMessage[] {
  const texts = new Set(steers.flatMap((steer) => steer.texts));
  if (texts.size === 0) return messages;
  return changeParts(messages, (parts) => parts.filter((part) => part.type !== "text" || !texts.has(part.text)));
}

/** Whether the params say what to do where no turn runs. */
export const saysWhenIdle = ({ params }: SeenSteer): boolean => {
  const meta = params["_meta"] as Json | undefined;
  return (meta?.[META_KEY] as Json | undefined)?.["idleBehavior"] !== undefined;
};
