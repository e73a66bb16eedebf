export { WireClient, type WireClientOptions } from "./wire-client.js";
export {
  type AgentExit,
  type ContentBlockLike,
  type ParsedMessage,
  type RequestHandler,
  type RequestId,
  type SentRequest,
  type SessionUpdateParams,
  WireError,
  type WireRecord,
} from "./wire-record.js";
