import { anthropic } from "./anthropic.js";
import type { Dialect, DialectName } from "./dialect.js";
import { openaiChat } from "./openai-chat.js";
import { openaiResponses } from "./openai-responses.js";

/** A further provider's format is one more file and one more entry here. */
export const DIALECTS: readonly Dialect[] = [openaiChat, openaiResponses, anthropic];

/**
 * The environment that leads an agent's usual SDK to a model server. The server answers all dialects at once; the name
 * says which of them the agent speaks.
 *
 * @param dialect the wire format of the agent's provider
 * @param url the server's `url`, which ends with `/v1`
 * @returns base URL and a key, which the server ignores but SDKs insist on
 * @example
 * ```ts
 * const env = { ...process.env, ...agentEnvironment("anthropic", model.url) };
 * ```
 */
export const agentEnvironment = (dialect: DialectName, url: string): Record<string, string> => {
  switch (dialect) {
    case "openai-chat":
    case "openai-responses":
      return { OPENAI_BASE_URL: url, OPENAI_API_KEY: "none" };
    case "anthropic":
      // This SDK adds the version by itself.
      return { ANTHROPIC_BASE_URL: url.replace(/\/v1$/, ""), ANTHROPIC_API_KEY: "none" };
  }
};
