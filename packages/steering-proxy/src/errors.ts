import type { RpcError } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import type { AgentDeath } from "./agent-process.js";

/** `data.reason` of the errors that the proxy answers in place of the agent. */
export const REASON = {
  /** The agent's process ended before it answered, or cannot be started again. */
  agentExited: "agentExited",
  /** It did not answer `initialize` in time. */
  agentSilent: "agentSilent",
  /** The agent was started again and cannot bring the session back. */
  sessionLost: "sessionLost",
  /** The agent has no such steering as was asked for. */
  strategyUnavailable: "strategyUnavailable",
} as const;

const lastWords = (stderr: readonly string[]): string =>
  stderr.length > 0 ? ` Its last words: ${stderr.join(" | ")}` : "";

/** How an agent ended, in one sentence. */
export const describeDeath = ({ command, how }: AgentDeath): string => `The agent "${command}" ${how}.`;

/** The agent ended and owes an answer. Code `-32603`, `data.reason: "agentExited"`. */
export const agentExited = (death: AgentDeath, next: string): RpcError => ({
  code: CODE.internalError,
  message: `${describeDeath(death)} ${next}${lastWords(death.stderr)}`,
  data: { reason: REASON.agentExited, exitCode: death.code, signal: death.signal, stderr: death.stderr },
});

/** The agent cannot be started again. Code `-32603`, `data.reason: "agentExited"`. */
export const agentUnavailable = (why: string): RpcError => ({
  code: CODE.internalError,
  message: `The agent cannot be started again: ${why}`,
  data: { reason: REASON.agentExited },
});

/** The command does not speak ACP, or is slow. Code `-32603`, `data.reason: "agentSilent"`. */
export const agentSilent = (command: string, seconds: number, stderr: readonly string[]): RpcError => ({
  code: CODE.internalError,
  message: `"${command}" has not answered initialize within ${seconds} s. Give the command that speaks ACP on its standard input and output; many agents want an option for it, such as --acp.${lastWords(stderr)}`,
  data: { reason: REASON.agentSilent, stderr },
});

/** Code `-32002`, `data.reason: "sessionLost"`. */
export const sessionLost = (sessionId: string, why: string): RpcError => ({
  code: CODE.notFound,
  message: `The agent was started again, and session "${sessionId}" could not be brought back: ${why}. Open a new session.`,
  data: { reason: REASON.sessionLost, sessionId },
});

/** Code `-32603`, `data.reason: "strategyUnavailable"`. */
export const strategyUnavailable = (problem: string): RpcError => ({
  code: CODE.internalError,
  message: problem,
  data: { reason: REASON.strategyUnavailable },
});
