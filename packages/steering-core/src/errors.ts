import { CODE, REASON, type RpcError } from "./protocol.js";

/** The session is not known here, was closed, or belongs to another connection. Code `-32002`. */
export const sessionNotFound = (sessionId: string): RpcError => ({
  code: CODE.notFound,
  message: `No session "${sessionId}" can be steered from this connection. Create, load or resume it on this connection first.`,
  data: { sessionId },
});

/** The session is being closed. Code `-32002`. */
export const sessionClosed: RpcError = {
  code: CODE.notFound,
  message: "This session is closed. Load or resume it, or create a new one.",
};

/** Params that do not have the shape of spec §2. Code `-32602`, `data.path` names the first bad field. */
export const malformed = (method: string, path: string, problem: string): RpcError => ({
  code: CODE.invalidParams,
  message: `${method}: ${path === "" ? "params" : path} ${problem}.`,
  data: { path },
});

/** A content type that neither the driver nor the agent takes. Code `-32602`, `data.reason: "unsupportedContent"`. */
export const unsupportedContent = (type: string, path: string, accepted: readonly string[]): RpcError => ({
  code: CODE.invalidParams,
  message: `This agent takes no ${type} in a steer. It takes: ${accepted.join(", ")}.`,
  data: { reason: REASON.unsupportedContent, path, accepted },
});

/** More pending steers than `maxPending` allows. Code `-32600`, `data.reason: "tooManyPending"`. */
export const tooManyPending = (limit: { readonly steers: number; readonly bytes: number }): RpcError => ({
  code: CODE.invalidRequest,
  message: `More than ${limit.steers} steers or ${limit.bytes} bytes would wait for this turn. Send it again when some were delivered.`,
  data: { reason: REASON.tooManyPending },
});

/** No turn runs and the idle policy is `reject`. Code `-32600`, `data.reason: "noRunningTurn"`. */
export const noRunningTurn: RpcError = {
  code: CODE.invalidRequest,
  message: "No turn is running in this session. Send the message with session/prompt.",
  data: { reason: REASON.noRunningTurn },
};

/** A turn runs and prompts are refused meanwhile. Code `-32600`, `data.reason: "busy"`. */
export const busy: RpcError = {
  code: CODE.invalidRequest,
  message: "A turn is running in this session. Steer it, or send the prompt when it has ended.",
  data: { reason: REASON.busy },
};

/** The agent has not ended a cancelled run within the grace. Code `-32603`, `data.reason: "agentStuck"`. */
export const agentStuck: RpcError = {
  code: CODE.internalError,
  message: "The agent has not ended the run that was cancelled. Try again, or restart the agent.",
  data: { reason: REASON.agentStuck },
};

/** A queued prompt was taken back by `$/cancel_request`. Code `-32800`. */
export const requestCancelled: RpcError = { code: CODE.requestCancelled, message: "Request cancelled" };

/** The steer can no longer be revoked. Code `-32600`, `data.reason: "alreadyDelivered"`. */
export const alreadyDelivered = (messageId: string): RpcError => ({
  code: CODE.invalidRequest,
  message: "The agent has this message already.",
  data: { reason: REASON.alreadyDelivered, messageId },
});

/** No such steer, or not this connection's. Code `-32600`, `data.reason: "unknownMessage"`. */
export const unknownMessage = (messageId: string): RpcError => ({
  code: CODE.invalidRequest,
  message: "This connection has sent no steer with that messageId in the latest turn of this session.",
  data: { reason: REASON.unknownMessage, messageId },
});

/** The id of a request that has no answer yet was used again. Code `-32600`. */
export const idInUse: RpcError = {
  code: CODE.invalidRequest,
  message: "A request with this id is still open. Give every request an id of its own.",
};

/** The agent's connection ended before it answered. Code `-32603`. */
export const agentGone: RpcError = {
  code: CODE.internalError,
  message: "The connection to the agent ended before it answered.",
};
