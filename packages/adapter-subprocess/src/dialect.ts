import type { ContentType, Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome, Vendor } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";

/** A dialect's side of the child process. */
export interface Channel {
  /** The session's folder, absolute. */
  readonly cwd: string;
  /** Writes one record as a line. Resolves when the child's input has room again; never rejects. */
  send(record: JsonRecord): Promise<void>;
  /** Ends the child. The session starts a new one for its next prompt. */
  stop(): Promise<void>;
}

/** How the child names its conversation. */
export interface SessionIdentity {
  readonly id: string;
}

/** One conversation in one child: encodes what goes in, decodes what comes out. */
export interface DialectSession {
  /** The handshake. Rejects when the child does not speak the dialect. */
  start(): Promise<SessionIdentity>;
  /** One record from the child, in order. */
  receive(record: JsonRecord): void;
  /** Runs a prompt until the agent has settled. Every steer it accepted has been reported before it resolves. */
  prompt(turn: Turn): Promise<TurnOutcome>;
  steer(message: SteerMessage): Promise<Verdict>;
  interrupt(): void;
  /** Resolves when the client has taken what was decoded so far: reading the child waits for it. Never rejects. */
  drained(): Promise<void>;
  /** The child is gone: whatever waits for it ends with `error`. */
  ended(error: Error): void;
  /** Arguments that make a new child go on with this conversation; `undefined` when its history died with the child. */
  resumeArguments(): readonly string[] | undefined;
}

/** A language of JSON lines that a command-line agent speaks. */
export interface Dialect {
  /** The value of `--dialect`. */
  readonly name: string;
  /** The agent's name in messages to people. */
  readonly title: string;
  /** The command that installs the agent. */
  readonly install: string;
  /** A command that starts the agent so that it speaks this dialect. */
  readonly usage: string;
  /** Added to the child's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly supports: { readonly content: readonly ContentType[]; readonly boundary: "now" | "afterTool" | "nextStep" };
  readonly promptCapabilities: NonNullable<Vendor["promptCapabilities"]>;
  session(channel: Channel): DialectSession;
}
