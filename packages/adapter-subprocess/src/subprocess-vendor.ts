import type { Vendor } from "@acp-steering/kit";
import type { Log } from "@acp-steering/kit/adapter";
import { logAs } from "@acp-steering/kit/adapter";
import type { Dialect } from "./dialect.js";
import { SubprocessSession } from "./subprocess-session.js";

export interface SubprocessVendorOptions {
  readonly dialect: Dialect;
  /** The executable and its arguments, as typed: found on PATH or by its path. */
  readonly command: readonly [string, ...string[]];
  /** How long a new child may take to answer its first request, in milliseconds. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** Also log what the child writes to stderr and the rubbish on its stdout. Default false: they may hold prompt text. */
  readonly logContent?: boolean;
  readonly log?: Log;
  readonly version?: string;
}

/**
 * A vendor for a command-line agent that speaks JSON lines: one child process per session, in the session's folder.
 *
 * `open` rejects with one error that says what to install when the executable is missing, and with the child's exit
 * code and last words when it fails. A child that ends in the middle of a prompt costs that prompt; the next one
 * starts a new child, with the conversation's history where the dialect can.
 *
 * @example
 * ```ts
 * const vendor = subprocessVendor({ dialect: piRpc, command: ["pi", "--mode", "rpc"] });
 * await serveStdio(steeringAgent(vendor));
 * ```
 */
export function subprocessVendor(options: SubprocessVendorOptions): Vendor {
  const {
    dialect,
    command,
    startTimeoutMs = 60_000,
    logContent = false,
    log = logAs("subprocess-steering-acp"),
    version = "0.0.0",
  } = options;
  return {
    name: `${dialect.name}-subprocess`,
    title: dialect.title,
    version,
    supports: dialect.supports,
    promptCapabilities: dialect.promptCapabilities,
    open: ({ cwd }) => SubprocessSession.open({ dialect, command, cwd, log, logContent, startTimeoutMs }),
  };
}
