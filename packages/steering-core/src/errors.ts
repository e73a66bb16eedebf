import { CODE, REASON, type RpcError } from "./protocol.js";

const fault = (code: number, message: string, data?: object): RpcError => ({ code, message, data });

/** Params that do not have the shape of spec §2. Code `-32602`, `data.path` names the first bad field. */
export const malformed = (path: string, problem: string): RpcError =>
  fault(CODE.invalidParams, `${path || "params"} ${problem}`, { path });

/** A content type that neither the driver nor the agent takes. Code `-32602`, `data.reason: "unsupportedContent"`. */
export const unsupportedContent = (type: string, path: string, accepted: readonly string[]): RpcError =>
  fault(CODE.invalidParams, `The agent takes no ${type}, only ${accepted.join(", ")}`, {
    reason: REASON.unsupportedContent,
    path,
    accepted,
  });

/** The session is not known here, is closed or being closed, or belongs to another connection. Code `-32002`. */
export const sessionNotFound = (sessionId?: string): RpcError =>
  fault(CODE.notFound, "The session is not open here. Create or load it first", { sessionId });

const refusal = (reason: string, message: string, messageId?: string): RpcError =>
  fault(CODE.invalidRequest, message, { reason, messageId });

/** More pending steers than `maxPending` allows. Code `-32600`, `data.reason: "tooManyPending"`. */
export const tooManyPending: RpcError = refusal(
  REASON.tooManyPending,
  "Too much waits for the agent. Send it again later",
);

/** No turn runs and the idle policy is `reject`. Code `-32600`, `data.reason: "noRunningTurn"`. */
export const noRunningTurn: RpcError = refusal(REASON.noRunningTurn, "No turn is running. Send it as session/prompt");

/** A turn runs and prompts are refused meanwhile. Code `-32600`, `data.reason: "busy"`. */
export const busy: RpcError = refusal(REASON.busy, "A turn is running. Steer it or send it again later");

/** The steer can no longer be revoked. Code `-32600`, `data.reason: "alreadyDelivered"`. */
export const alreadyDelivered = (messageId: string): RpcError =>
  refusal(REASON.alreadyDelivered, "The agent has it already", messageId);

/** No such steer, or not this connection's. Code `-32600`, `data.reason: "unknownMessage"`. */
export const unknownMessage = (messageId: string): RpcError =>
  refusal(REASON.unknownMessage, "The latest turn has no such message of yours", messageId);

/** The id of a request that has no answer yet was used again. Code `-32600`. */
export const idInUse: RpcError = fault(CODE.invalidRequest, "A request with this id is open. Use another");

/** The agent has not ended a cancelled run within the grace. Code `-32603`, `data.reason: "agentStuck"`. */
export const agentStuck: RpcError = fault(
  CODE.internalError,
  "The agent has not ended a cancelled run. Send it again later or restart it",
  { reason: REASON.agentStuck },
);

/** A queued prompt was taken back by `$/cancel_request`. Code `-32800`. */
export const requestCancelled: RpcError = fault(CODE.requestCancelled, "Request cancelled");

/** The agent's connection ended before it answered. Code `-32603`. */
export const agentGone: RpcError = fault(CODE.internalError, "The agent ended before it answered. Restart it");
