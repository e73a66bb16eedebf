export { DIALECT_NAMES, type DialectName } from "./dialect.js";
export { agentEnvironment } from "./dialects.js";
export { ModelServerError, type ModelServerErrorCode } from "./errors.js";
export { type Occurrence, occurrencesOf } from "./occurrences.js";
export type { HoldPoint, Reply, ReplyCondition, ReplyError, ReplyToolCall, ReplyUsage, Script } from "./reply.js";
export type { ModelImage, ModelMessage, ModelRequest, ModelTool, ModelToolCall } from "./request.js";
export { parseScript } from "./script.js";
export { type ModelServer, type ModelServerOptions, startModelServer } from "./server.js";
export { shellCall } from "./shell-call.js";
