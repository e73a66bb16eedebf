import { CODE } from "@acp-steering/core/protocol";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { createParser } from "eventsource-parser";
import type { AssistantMessage, ChatMessage } from "./chat-message.js";
import { ChunkReader } from "./chunk-reader.js";
import { SHELL_TOOL } from "./shell-tool.js";

/** One question to the model. */
interface Question {
  /** The conversation that it is a part of. */
  readonly sessionId: string;
  readonly messages: readonly ChatMessage[];
  /** Ends the question at once; what it was asked with then rejects. */
  readonly signal: AbortSignal;
  /** Gets what the model says, piece by piece; the next piece waits for it. */
  readonly onText: (text: string) => Promise<void>;
}

/** The whole answer, and why the model stopped, in the words of chat completions. */
export interface Answer {
  readonly message: AssistantMessage;
  readonly finishReason: string;
}

/** Something that answers questions. */
export type AskModel = (question: Question) => Promise<Answer>;

/** Where the model is and what opens it. */
export interface ModelOptions {
  /** Base URL of an OpenAI-compatible service, e.g. `http://127.0.0.1:8080/v1`. */
  readonly modelUrl: string;
  /** Sent as the bearer token. Local services want none. */
  readonly apiKey?: string;
  /** The model's name at that service; local ones do not care. */
  readonly modelName?: string;
}

/**
 * A model behind OpenAI chat completions, streamed.
 *
 * Asking it rejects with a RequestError -32603 that names the model's URL and what to look at, or with the signal's
 * reason.
 */
export function chatModel({ modelUrl, apiKey, modelName = "default" }: ModelOptions): AskModel {
  const failed = (what: string): RequestError =>
    new RequestError(CODE.internalError, `reference-agent: the model at ${modelUrl} ${what}`);

  return async ({ messages, signal, onText }) => {
    const response = await fetch(`${modelUrl.replace(/\/$/, "")}/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ model: modelName, stream: true, messages, tools: [SHELL_TOOL] }),
      signal,
    }).catch((error: unknown) => {
      if (signal.aborted) throw error;
      throw failed("cannot be reached. Check OPENAI_BASE_URL, and that the service runs.");
    });
    if (!response.ok || response.body === null) {
      throw failed(
        `answered ${response.status}: ${excerpt(await response.text())} Check OPENAI_API_KEY and the model.`,
      );
    }
    const answer = new ChunkReader();
    try {
      await readEvents(
        response.body,
        (data) => answer.read(data),
        () => onText(answer.takeText()),
      );
    } catch (error) {
      if (signal.aborted) throw error;
      throw failed(`broke off its answer: ${(error as Error).message}. Send the prompt again.`);
    }
    if (answer.finishReason === undefined) throw failed("ended its answer too early. Send the prompt again.");
    return { message: answer.message, finishReason: answer.finishReason };
  };
}

/** Reads server-sent events; after each piece that arrived `arrived` is awaited. */
async function readEvents(
  body: ReadableStream<Uint8Array>,
  onData: (data: string) => void,
  arrived: () => Promise<void>,
): Promise<void> {
  const parser = createParser({ onEvent: ({ data }) => onData(data) });
  const decoder = new TextDecoder();
  for await (const bytes of body) {
    parser.feed(decoder.decode(bytes, { stream: true }));
    await arrived();
  }
}

function excerpt(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}
