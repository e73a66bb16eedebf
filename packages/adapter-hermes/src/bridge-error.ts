import { CODE } from "@acp-steering/core/protocol";
import { VendorError } from "@acp-steering/kit";
import type { BridgeFault } from "./bridge-protocol.js";

/** The bridge refused a request, or Hermes failed at it. */
export class BridgeRefusal extends Error {
  readonly code: string;
  readonly delivered: readonly string[];
  readonly undelivered: readonly string[];

  constructor({ code, message, data }: BridgeFault) {
    super(message);
    this.name = "BridgeRefusal";
    this.code = code;
    this.delivered = data?.delivered ?? [];
    this.undelivered = data?.undelivered ?? [];
  }
}

/** The Python process ended before it answered; the message says how. */
export class BridgeGone extends Error {
  constructor(how: string) {
    super(how);
    this.name = "BridgeGone";
  }
}

const CODES = new Map<string, number>([
  ["authRequired", CODE.authRequired],
  ["unknownSession", CODE.notFound],
  ["busy", CODE.invalidRequest],
  ["unknownModel", CODE.invalidParams],
  ["unknownMode", CODE.invalidParams],
  ["unknownCommand", CODE.invalidParams],
  ["badRequest", CODE.invalidParams],
]);

/** What the client is told of an error of the bridge. */
export function toVendorError(error: unknown): unknown {
  if (error instanceof BridgeGone) {
    return new VendorError(
      `Hermes is gone in the middle of its work: ${error.message}. The next prompt starts it again, with the conversation so far.`,
      { data: { reason: "agentExited" }, cause: error },
    );
  }
  if (!(error instanceof BridgeRefusal)) return error;
  const code = CODES.get(error.code);
  if (code !== undefined) return new VendorError(error.message, { code, data: { reason: error.code }, cause: error });
  return new VendorError(
    `Hermes failed: ${error.message}. The session is still open: send the prompt again, or choose another model.`,
    { data: { reason: error.code }, cause: error },
  );
}
