import { messageOf } from "./error-message.js";
import type { JsonObject } from "./json.js";
import type { ReplyError } from "./reply.js";

const typeOf = (status: number): string => {
  switch (status) {
    case 401:
      return "authentication_error";
    case 429:
      return "rate_limit_error";
    default:
      return status >= 500 ? "server_error" : "invalid_request_error";
  }
};

/** An error as both of OpenAI's formats have it. */
export const openaiError = (error: ReplyError): JsonObject => ({
  error: {
    message: messageOf(error),
    type: error.type ?? typeOf(error.status),
    param: null,
    code: error.code ?? null,
  },
});
