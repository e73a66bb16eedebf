import type { Reading } from "./dialect.js";
import { isObject, type JsonObject } from "./json.js";

/** What is wrong with a body: the field, why, and the provider's code for it where there is one. */
export type Malformed = Extract<Reading, { readonly ok: false }>;

export const malformed = (path: string, reason: string, code?: string): Malformed => ({
  ok: false,
  path,
  reason,
  ...(code !== undefined && { code }),
});

/** What the bodies of all dialects begin with. */
export interface Head {
  readonly ok: true;
  readonly body: JsonObject;
  readonly model: string;
  readonly stream: boolean;
}

/** Reads the model and whether the answer is to be streamed. */
export const readHead = (body: unknown): Head | Malformed => {
  if (!isObject(body)) return malformed("the body", "must be a JSON object");
  const { model, stream } = body;
  if (typeof model !== "string" || model === "") return malformed("model", "must be a non-empty string");
  if (stream !== undefined && stream !== null && typeof stream !== "boolean") {
    return malformed("stream", "must be a boolean");
  }
  return { ok: true, body, model, stream: stream === true };
};

/** Reads a list of messages, of which each has a role. */
export const readMessageList = (
  messages: unknown,
): { readonly ok: true; readonly messages: readonly JsonObject[] } | Malformed => {
  if (!Array.isArray(messages) || messages.length === 0) return malformed("messages", "must be a non-empty array");
  const wrong = messages.findIndex((message) => !isObject(message) || typeof message["role"] !== "string");
  return wrong < 0 ? { ok: true, messages } : malformed(`messages[${wrong}]`, "must be an object with a `role`");
};
