import type { DialectName, ModelServer } from "@acp-steering/testkit/model-server";

/** How one dialect is asked, and what its answers look like, in the raw. */
export interface RawDialect {
  readonly name: DialectName;
  readonly path: string;
  body(text: string, stream: boolean): object;
  /** What stands in the stream only when it has come to its end. */
  readonly end: string;
  /** What stands in the stream as soon as a tool call has begun. */
  readonly call: string;
  /** The message of an error. */
  readonly error: object;
}

const message = (content: string): object => ({ role: "user", content });

export const RAW_DIALECTS: readonly RawDialect[] = [
  {
    name: "openai-chat",
    path: "/chat/completions",
    body: (text, stream) => ({ model: "m", stream, messages: [message(text)] }),
    end: "[DONE]",
    call: '"tool_calls"',
    error: { error: { type: "invalid_request_error", param: null } },
  },
  {
    name: "openai-responses",
    path: "/responses",
    body: (text, stream) => ({ model: "m", stream, input: [message(text)] }),
    end: "response.completed",
    call: '"function_call"',
    error: { error: { type: "invalid_request_error", param: null } },
  },
  {
    name: "anthropic",
    path: "/messages",
    body: (text, stream) => ({ model: "m", stream, max_tokens: 9, messages: [message(text)] }),
    end: "message_stop",
    call: '"tool_use"',
    error: { type: "error", error: { type: "invalid_request_error" } },
  },
];

export const askRaw = (
  { url }: Pick<ModelServer, "url">,
  dialect: RawDialect,
  options: { readonly text?: string; readonly stream?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Response> =>
  fetch(`${url}${dialect.path}`, {
    method: "POST",
    body: JSON.stringify(dialect.body(options.text ?? "hello", options.stream ?? true)),
    signal: options.signal ?? null,
  });
