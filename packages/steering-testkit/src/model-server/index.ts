export { ModelServerError, type ModelServerErrorCode } from "./errors.js";
export type { Reply, ReplyError, ReplyToolCall, ReplyUsage, Script } from "./reply.js";
export type { ModelMessage, ModelRequest, ModelToolCall } from "./request.js";
export { parseScript } from "./script.js";
export { type ModelServer, type ModelServerOptions, startModelServer } from "./server.js";
