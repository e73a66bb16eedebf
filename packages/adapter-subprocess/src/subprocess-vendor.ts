import type { Vendor } from "@acp-steering/kit";
import type { Log } from "@acp-steering/kit/adapter";
import { logAs } from "@acp-steering/kit/adapter";
import type { Agent, Dialect, History, SignIn } from "./dialect.js";
import { OpenSessions, type OpenSessionsOptions } from "./open-sessions.js";
import { agentOf } from "./visit-agent.js";

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
  const { dialect, version = "0.0.0" } = options;
  const { supports, promptCapabilities, mcpCapabilities, additionalDirectories, history, signIn } = dialect;
  const settings = settingsOf(options);
  const sessions = new OpenSessions(settings);
  return {
    name: `${dialect.name}-subprocess`,
    title: dialect.title,
    version,
    ...(supports && { supports }),
    ...(promptCapabilities && { promptCapabilities }),
    ...(mcpCapabilities && { mcpCapabilities }),
    ...(additionalDirectories && { additionalDirectories }),
    ...(signIn && signInOf(signIn, settings.agent)),
    open: (request) => sessions.open(request),
    ...(history && historyOf(history, sessions, settings.agent)),
  };
}

/**
 * Asks an agent what it can, where its dialect has agents that differ.
 *
 * @returns the options for `subprocessVendor`. An agent that does not answer is logged; its first session says what is wrong.
 * @example
 * ```ts
 * const vendor = subprocessVendor(await meetAgent({ dialect: steerJsonl, command: ["python3", "agent.py"] }));
 * ```
 */
export async function meetAgent(options: SubprocessVendorOptions): Promise<SubprocessVendorOptions> {
  const { dialect } = options;
  if (!dialect.meet) return options;
  const { agent, log } = settingsOf(options);
  try {
    return { ...options, dialect: { ...dialect, ...(await dialect.meet(agent)) } };
  } catch (error) {
    log(`does not know what ${dialect.title} can: ${(error as Error).message}`);
    return options;
  }
}

function settingsOf(options: SubprocessVendorOptions): OpenSessionsOptions {
  const {
    dialect,
    command,
    startTimeoutMs = 60_000,
    logContent = false,
    log = logAs("subprocess-steering-acp"),
  } = options;
  const start = { dialect, command, startTimeoutMs, logContent, log };
  return { ...start, agent: agentOf(start) };
}

function historyOf(history: History, sessions: OpenSessions, agent: Agent): Partial<Vendor> {
  const { reopens } = history;
  const list = history.list?.bind(history);
  const remove = history.delete?.bind(history);
  return {
    ...(reopens.includes("load") && { load: (request, replay) => sessions.load(request, replay) }),
    ...(reopens.includes("resume") && { resume: (request) => sessions.reopen("resume", request) }),
    ...(reopens.includes("fork") && { fork: (request) => sessions.fork(request) }),
    ...(list && { list: (request) => list(request, agent) }),
    ...(remove && { delete: ({ sessionId }) => remove(sessionId, agent) }),
  };
}

function signInOf(signIn: SignIn, agent: Agent): Partial<Vendor> {
  const logout = signIn.logout?.bind(signIn);
  return {
    authMethods: signIn.methods,
    authenticate: (request) => signIn.authenticate(request, agent),
    ...(logout && { logout: () => logout(agent) }),
  };
}
