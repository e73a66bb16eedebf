import type { Readable, Writable } from "node:stream";
import type { BusyBehavior, IdleBehavior } from "@acp-steering/core";
import type { Restart } from "./agent.js";
import type { AgentCommand } from "./agent-process.js";
import type { Strategy } from "./strategy.js";

/** Where a line was seen. A line that the proxy changes, makes or keeps is seen on one side only. */
export type Flow = "fromClient" | "toAgent" | "fromAgent" | "toClient";

/** What stands before which agent, and between which streams. */
export interface ProxyOptions extends AgentCommand {
  /** How steers reach the agent. Default `auto`. */
  readonly strategy?: Strategy;
  /** A steer with no turn running. Default `promptRequired`. */
  readonly idleBehavior?: IdleBehavior;
  /** A prompt while a turn runs. Default `queue`. */
  readonly whenBusy?: BusyBehavior;
  /** What happens when the agent's process has ended. Default `on-demand`: the next request starts it again. */
  readonly restart?: Restart;
  /** What the client writes. */
  readonly input: Readable;
  /** What the client reads. */
  readonly output: Writable;
  /** Where the agent's standard error goes. Default: nowhere; its last lines are in errors all the same. */
  readonly errorOutput?: Writable;
  /** Shows every line of the four flows, without its LF, in order. Costs throughput. */
  readonly tap?: (flow: Flow, line: Uint8Array) => void;
  /** One line about what happened; never text of a prompt, unless `logContent` is set. */
  readonly log?: (line: string) => void;
  /** Lets what the agent prints beside its messages into the log. */
  readonly logContent?: boolean;
  /** How long the agent may take to answer `initialize`, and to bring a session back, in milliseconds. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** How long the agent may take to end after the client is gone, in milliseconds. Default 2,000. */
  readonly stopGraceMs?: number;
  /** A longer line ends the connection that it came on, in bytes. Default 32 MiB. */
  readonly maxLineBytes?: number;
}

/** How a proxy ends: its exit codes. */
export const PROXY_EXIT = {
  /** The client ended the connection. */
  clientEnded: 0,
  /** The client sent what cannot be read. */
  unreadable: 1,
  /** The agent cannot be started, does not speak ACP, or lacks the steering that was asked for. */
  notStarted: 2,
  /** The agent ended and is not started again. */
  agentEnded: 3,
} as const;
