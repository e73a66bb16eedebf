import { CODE } from "@acp-steering/core/protocol";

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
    this.code = options.code ?? CODE.internalError;
    this.data = options.data;
  }
}
