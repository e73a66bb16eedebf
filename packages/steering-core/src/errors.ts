import { CODE, REASON, type RpcError } from "./protocol.js";

/** The session is not known here, was closed, or belongs to another connection. Code `-32002`. */
export const sessionNotFound = (sessionId: string): RpcError => ({
  code: CODE.notFound,
  message: `Session "${sessionId}" is not open on this connection. Create, load or resume it first.`,
  data: { sessionId },
});

/** The session is being closed. Code `-32002`. */
export const sessionClosed: RpcError = {
  code: CODE.notFound,
  message: "This session is closed. Create, load or resume one.",
};

/** Params that do not have the shape of spec §2. Code `-32602`, `data.path` names the first bad field. */
export const malformed = (method: string, path: string, problem: string): RpcError => ({
  code: CODE.invalidParams,
  message: `${method}: ${path || "params"} ${problem}.`,
  data: { path },
});

/** A content type that neither the driver nor the agent takes. Code `-32602`, `data.reason: "unsupportedContent"`. */
export const unsupportedContent = (type: string, path: string, accepted: readonly string[]): RpcError => ({
  code: CODE.invalidParams,
  message: `This agent takes no ${type} in a steer. It takes: ${accepted.join(", ")}.`,
  data: { reason: REASON.unsupportedContent, path, accepted },
});

const refusal = (reason: string, message: string, messageId?: string): RpcError => ({
  code: CODE.invalidRequest,
  message,
  data: { reason, messageId },
});

/** More pending steers than `maxPending` allows. Code `-32600`, `data.reason: "tooManyPending"`. */
export const tooManyPending = ({ steers, bytes }: { readonly steers: number; readonly bytes: number }): RpcError =>
  refusal(REASON.tooManyPending, `More than ${steers} steers or ${bytes} bytes would wait. Send it again later.`);

/** No turn runs and the idle policy is `reject`. Code `-32600`, `data.reason: "noRunningTurn"`. */
export const noRunningTurn: RpcError = refusal(REASON.noRunningTurn, "No turn is running. Send it as session/prompt.");

/** A turn runs and prompts are refused meanwhile. Code `-32600`, `data.reason: "busy"`. */
export const busy: RpcError = refusal(
  REASON.busy,
  "A turn is running. Steer it, or send the prompt when it has ended.",
);

/** The steer can no longer be revoked. Code `-32600`, `data.reason: "alreadyDelivered"`. */
export const alreadyDelivered = (messageId: string): RpcError =>
  refusal(REASON.alreadyDelivered, "The agent has this message already.", messageId);

/** No such steer, or not this connection's. Code `-32600`, `data.reason: "unknownMessage"`. */
export const unknownMessage = (messageId: string): RpcError =>
  refusal(REASON.unknownMessage, "This connection sent no such steer in the latest turn.", messageId);

/** The id of a request that has no answer yet was used again. Code `-32600`. */
export const idInUse: RpcError = {
  code: CODE.invalidRequest,
  message: "A request with this id is still open. Send it again with another id.",
};

/** The agent has not ended a cancelled run within the grace. Code `-32603`, `data.reason: "agentStuck"`. */
export const agentStuck: RpcError = {
  code: CODE.internalError,
  message: "The agent has not ended a cancelled run. Send the prompt again later, or restart the agent.",
  data: { reason: REASON.agentStuck },
};

/** A queued prompt was taken back by `$/cancel_request`. Code `-32800`. */
export const requestCancelled: RpcError = { code: CODE.requestCancelled, message: "Request cancelled" };

/** The agent's connection ended before it answered. Code `-32603`. */
export const agentGone: RpcError = {
  code: CODE.internalError,
  message: "The connection to the agent ended before it answered.",
};
