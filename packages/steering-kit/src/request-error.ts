import { CODE } from "@acp-steering/core/protocol";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { VendorError } from "./vendor-error.js";

/** What a client gets for anything a vendor throws. */
export function toRequestError(error: unknown, vendorTitle: string): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof VendorError) return new RequestError(error.code, error.message, error.data);
  const reason = error instanceof Error ? error.message : String(error);
  return new RequestError(
    CODE.internalError,
    `${vendorTitle} failed: ${reason}. The session is still open: send the prompt again, or look at the agent's stderr.`,
    { vendor: vendorTitle },
  );
}
