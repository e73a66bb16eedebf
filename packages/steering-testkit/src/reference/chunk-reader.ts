import type { AssistantMessage } from "./chat-message.js";

interface Chunk {
  readonly error?: { readonly message?: string };
  readonly choices?: readonly {
    readonly finish_reason?: string | null;
    readonly delta?: { readonly content?: string | null; readonly tool_calls?: readonly ToolCallDelta[] };
  }[];
}

interface ToolCallDelta {
  readonly index: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface GrowingToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** Puts one streamed answer together. */
export class ChunkReader {
  finishReason: string | undefined;
  readonly #toolCalls: GrowingToolCall[] = [];
  #text = "";
  #taken = 0;

  /** @throws Error where the event is none of chat completions, or the service's own error. */
  read(data: string): void {
    if (data === "[DONE]") return;
    const { error, choices } = JSON.parse(data) as Chunk;
    if (error) throw new Error(error.message ?? "an error without a message");
    const choice = choices?.[0];
    if (choice === undefined) return;
    this.#text += choice.delta?.content ?? "";
    for (const delta of choice.delta?.tool_calls ?? []) this.#grow(delta);
    this.finishReason = choice.finish_reason ?? this.finishReason;
  }

  /** The text since the last time. */
  takeText(): string {
    const text = this.#text.slice(this.#taken);
    this.#taken = this.#text.length;
    return text;
  }

  get message(): AssistantMessage {
    const toolCalls = this.#toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: "function" as const,
      function: { name, arguments: args },
    }));
    return { role: "assistant", content: this.#text, ...(toolCalls.length > 0 && { tool_calls: toolCalls }) };
  }

  #grow({ index, id, function: part }: ToolCallDelta): void {
    const call = this.#toolCalls[index] ?? { id: "", name: "", arguments: "" };
    call.id ||= id ?? "";
    call.name ||= part?.name ?? "";
    call.arguments += part?.arguments ?? "";
    this.#toolCalls[index] = call;
  }
}
