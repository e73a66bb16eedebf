import type { TurnOutcome } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import type { KimiEnd } from "./kimi-run.js";

const AUTH_REQUIRED = -32000;

/** Kimi's codes for "nobody is signed in", or not validly. */
const SIGN_IN: ReadonlySet<string> = new Set([
  "auth.login_required",
  "auth.token_missing",
  "auth.token_unauthorized",
  "auth.provisioning_required",
  "auth.model_not_resolved",
]);

/** True where the turn is over with this end, whatever Kimi has still to read: it has failed, or refuses. */
export function endsTurn({ reason, error }: KimiEnd): boolean {
  return reason === "blocked" || (reason === "failed" && !isOutOfSteps(error));
}

/**
 * The answer to a prompt.
 * @throws VendorError where Kimi failed
 */
export function outcomeOf(
  { reason, error }: KimiEnd,
  { usage, truncated }: { usage: TurnOutcome["usage"]; truncated: boolean },
): TurnOutcome {
  const counted = usage ? { usage } : {};
  switch (reason) {
    case "cancelled":
      return { stopReason: "cancelled", ...counted };
    case "blocked":
      return { stopReason: "refusal", ...counted };
    case "completed":
      return { stopReason: truncated ? "max_tokens" : "end_turn", ...counted };
    case "failed":
      if (error?.code === "provider.filtered") return { stopReason: "refusal", ...counted };
      if (isOutOfSteps(error)) return { stopReason: "max_turn_requests", ...counted };
      throw failure(error);
  }
}

function isOutOfSteps(error: KimiEnd["error"]): boolean {
  return error?.code.includes("max_steps") === true;
}

/** Nobody is signed in at Kimi. */
export function signInRequired(message: string): VendorError {
  return new VendorError(
    `${message} Sign in with \`kimi login\` in a terminal, or set up a provider in Kimi's config.toml.`,
    {
      code: AUTH_REQUIRED,
      data: { reason: "authRequired" },
    },
  );
}

function failure(error: KimiEnd["error"]): VendorError {
  const { code = "", message = "it gave no reason" } = error ?? {};
  if (SIGN_IN.has(code)) return signInRequired(`Kimi is not signed in: ${message}.`);
  if (code === "model.not_configured") {
    return new VendorError(
      "Kimi has no model. Choose one with the session's model option, or set default_model in its config.toml.",
      {
        data: { reason: "noModel" },
      },
    );
  }
  return new VendorError(`Kimi's model failed: ${message}. Send the prompt again, or choose another model.`, {
    data: { reason: "modelFailed", kimiCode: code },
  });
}
