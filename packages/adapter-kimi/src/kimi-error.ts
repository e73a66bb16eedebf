import { VendorError } from "@acp-steering/kit";

/** What Kimi's server refuses a request with. Its `stack` and request id stay behind. */
export class KimiRefusal extends Error {
  /** Kimi's own number, such as 40401 for a session that does not exist. */
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.name = "KimiRefusal";
    this.code = code;
  }
}

/** Kimi's server cannot be reached any more. */
export class KimiGone extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "KimiGone";
  }
}

/** Numbers that the adapter decides by; the others are Kimi's message to the user. */
export const REFUSAL = {
  invalid: 40001,
  noSession: 40401,
  noPrompt: 40402,
  noFolder: 40409,
  dismissed: 40909,
} as const;

/** True for Kimi's refusal with that number. */
export function isRefusal(error: unknown, code: number): boolean {
  return error instanceof KimiRefusal && error.code === code;
}

const SESSION_NOT_FOUND = -32002;

/** What the client is told of an error of Kimi's server; others pass. */
export function explain(error: Error, sessionId = ""): Error {
  if (isRefusal(error, REFUSAL.noSession)) {
    return new VendorError(`Kimi has no session ${sessionId}.`, { code: SESSION_NOT_FOUND, cause: error });
  }
  if (!(error instanceof KimiRefusal)) return error;
  const data = { reason: "refused", kimiCode: error.code };
  return new VendorError(`Kimi refuses: ${error.message}`, { data, cause: error });
}
