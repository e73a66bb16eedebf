import { RequestError } from "@agentclientprotocol/sdk/unstable";

/** JSON-RPC codes that the kit itself answers with. */
export const CODES = { invalidRequest: -32600, invalidParams: -32602, internalError: -32603 } as const;

/**
 * An error that reaches the client as it is: `message`, `code` (JSON-RPC; -32603 by default) and `data`.
 *
 * @example
 * ```ts
 * throw new VendorError("Pi has no model. Set one with /model in pi.", { data: { reason: "noModel" } });
 * ```
 */
export class VendorError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(message: string, options: { code?: number; data?: unknown; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = "VendorError";
    this.code = options.code ?? CODES.internalError;
    this.data = options.data;
  }
}

/** What a client gets for anything a vendor throws. */
export function toRequestError(error: unknown, vendorTitle: string): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof VendorError) return new RequestError(error.code, error.message, error.data);
  const reason = error instanceof Error ? error.message : String(error);
  return new RequestError(
    CODES.internalError,
    `${vendorTitle} failed: ${reason}. The session is still open: send the prompt again, or look at the agent's stderr.`,
    { vendor: vendorTitle },
  );
}
