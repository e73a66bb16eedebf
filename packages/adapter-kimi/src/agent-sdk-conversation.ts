import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiConversation, KimiEvent, KimiPart } from "./kimi-conversation.js";

/** A part of a message, as `@moonshot-ai/kimi-agent-sdk` takes it. */
export type KimiAgentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };

/** What is used of a `Turn` of `@moonshot-ai/kimi-agent-sdk`. */
export interface KimiAgentTurn {
  [Symbol.asyncIterator](): AsyncIterator<{ readonly type: string; readonly payload?: unknown }>;
  steer(content: KimiAgentPart[]): Promise<void>;
  interrupt(): Promise<void>;
  readonly result: Promise<{ readonly status: "finished" | "cancelled" | "max_steps_reached" }>;
}

/** What is used of a `Session` of `@moonshot-ai/kimi-agent-sdk`. */
export interface KimiAgentSession {
  prompt(content: KimiAgentPart[]): KimiAgentTurn;
}

/**
 * A conversation over a session of `@moonshot-ai/kimi-agent-sdk`, in this process: a `Turn` for each prompt.
 *
 * What the turn asks its host (`ApprovalRequest`, `QuestionRequest`) is passed on as an event of that type with its
 * `payload`; the host answers it with the turn's own methods.
 *
 * @example
 * ```ts
 * const conversation = agentSdkConversation(createSession({ workDir: cwd }));
 * const prompt = (turn: Turn) => turns.prompt(turn, () => ({ conversation }));
 * ```
 */
export function agentSdkConversation(session: KimiAgentSession): KimiConversation {
  const listeners = new Set<(event: KimiEvent) => void>();
  const tell = (event: KimiEvent): void => {
    for (const listener of [...listeners]) listener(event);
  };
  let turns = 0;
  let current: { readonly turn: KimiAgentTurn; readonly steers: string[] } | undefined;

  const follow = async (turn: KimiAgentTurn, steers: string[]): Promise<KimiEvent> => {
    try {
      for await (const event of turn) for (const translated of translate(event, steers)) tell(translated);
      const { status } = await turn.result;
      if (status === "max_steps_reached") return failed("loop.max_steps_exceeded", "too many steps");
      return { type: "turn.ended", reason: status === "cancelled" ? "cancelled" : "completed" };
    } catch (error) {
      return failed(textOf(recordOf(error)["code"]), (error as Error).message);
    }
  };

  return {
    prompt: async ({ id, content }) => {
      const turnId = turns++;
      const steers: string[] = [];
      const turn = session.prompt(content.map(toAgentPart));
      current = { turn, steers };
      // Whoever prompts has to learn first that the prompt was taken.
      setImmediate(async () => {
        tell({ type: "turn.started", turnId, promptId: id });
        const ended = await follow(turn, steers);
        current = undefined;
        if (steers.length > 0) tell({ type: "steer.dropped", promptIds: steers });
        tell({ ...ended, turnId });
      });
    },
    steer: async ({ id, content }, signal) => {
      // A cancel in the same message from the client is right behind it, and what Kimi has cannot be taken back.
      await new Promise((resolve) => setImmediate(resolve));
      if (!current || signal.aborted) return "withdrawn";
      const { turn, steers } = current;
      steers.push(id);
      try {
        await turn.steer(content.map(toAgentPart));
        return "joined";
      } catch {
        const index = steers.indexOf(id);
        if (index !== -1) steers.splice(index, 1);
        return "withdrawn";
      }
    },
    cancel: async () => {
      await current?.turn.interrupt();
    },
    onEvent: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function failed(code: string, message: string): KimiEvent {
  return { type: "turn.ended", reason: "failed", error: { code, message } };
}

/** Its events, by the names of Kimi Code's engine. */
function translate(
  { type, payload }: { readonly type: string; readonly payload?: unknown },
  steers: string[],
): KimiEvent[] {
  const details = recordOf(payload);
  switch (type) {
    case "StepBegin":
      return [{ type: "turn.step.started" }];
    case "ContentPart":
      return contentDelta(details);
    case "SteerInput":
      return [{ type: "turn.steer", promptIds: steers.splice(0, 1) }];
    case "ToolCall": {
      const { name, arguments: args } = recordOf(details["function"]);
      return [{ type: "tool.call.started", toolCallId: details["id"], name, args: parsed(args) }];
    }
    case "ToolResult": {
      const { output, is_error: isError } = recordOf(details["return_value"]);
      return [{ type: "tool.result", toolCallId: details["tool_call_id"], output, isError }];
    }
    default:
      return [{ type, payload }];
  }
}

function contentDelta(part: JsonRecord): KimiEvent[] {
  if (part["type"] === "text") return [{ type: "assistant.delta", delta: part["text"] }];
  return part["type"] === "think" ? [{ type: "thinking.delta", delta: part["think"] }] : [];
}

function parsed(args: unknown): unknown {
  try {
    const value: unknown = JSON.parse(textOf(args));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

function toAgentPart(part: KimiPart): KimiAgentPart {
  if (part.type === "text") return part;
  const { source } = part;
  const url = source.kind === "url" ? source.url : `data:${source.media_type};base64,${source.data}`;
  return { type: "image_url", image_url: { url } };
}
