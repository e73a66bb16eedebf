import type { JsonRecord } from "@acp-steering/kit/adapter";
import { listOf } from "@acp-steering/kit/adapter";
import {
  isSubAgent,
  type KimiConversation,
  type KimiEvent,
  type KimiMessage,
  type KimiPart,
} from "./kimi-conversation.js";

/** A part of a message, as Kimi Code's node SDK takes it. */
export type KimiSdkPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly imageUrl: { readonly url: string } };

/** What is used of a `Session` of Kimi Code's node SDK. */
export interface KimiSdkSession {
  prompt(input: readonly KimiSdkPart[]): Promise<void>;
  steer(input: readonly KimiSdkPart[]): Promise<void>;
  cancel(): Promise<void>;
  onEvent(listener: (event: JsonRecord & { readonly type: string }) => void): () => void;
}

/**
 * A conversation over a session of Kimi Code's node SDK, in this process.
 *
 * The SDK takes no ids, so the conversation tells by the order which message an event is about: Kimi reads steers in the
 * order in which it got them, and begins a turn with the first that waits.
 *
 * @example
 * ```ts
 * const turns = new KimiTurns({ cwd });
 * const conversation = sdkConversation(sdkSession);
 * const prompt = (turn: Turn) => turns.prompt(turn, () => ({ conversation }));
 * ```
 */
export function sdkConversation(session: KimiSdkSession): KimiConversation {
  let begun: string | undefined;
  let steers: string[] = [];
  const named = (event: KimiEvent): KimiEvent => {
    if (isSubAgent(event)) return event;
    if (event.type === "turn.steer") {
      return { ...event, promptIds: steers.splice(0, Math.max(1, listOf(event["promptIds"]).length)) };
    }
    if (event.type !== "turn.started") return event;
    const promptId = begun ?? steers.shift();
    begun = undefined;
    return { ...event, promptId };
  };
  const listeners = new Set<(event: KimiEvent) => void>();
  session.onEvent((event) => {
    const ours = named(event);
    for (const listener of [...listeners]) listener(ours);
  });
  return {
    prompt: async ({ id, content }: KimiMessage) => {
      begun = id;
      await session.prompt(content.map(toSdkPart));
    },
    steer: async ({ id, content }, signal) => {
      // A cancel in the same message from the client is right behind it, and what Kimi has cannot be taken back.
      await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return "withdrawn";
      steers.push(id);
      try {
        await session.steer(content.map(toSdkPart));
        return "joined";
      } catch {
        // It takes no steer between turns.
        steers = steers.filter((other) => other !== id);
        return "withdrawn";
      }
    },
    cancel: () => session.cancel(),
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function toSdkPart(part: KimiPart): KimiSdkPart {
  if (part.type === "text") return part;
  const { source } = part;
  const url = source.kind === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: "image_url", imageUrl: { url } };
}
