/**
 * The contract of a vendor: a coding agent that does not speak ACP. An optional method is the capability: what is not
 * there is not advertised.
 */

import type { ContentBlock, InjectCall, PendingSteer, SteeringDriver, Verdict } from "@acp-steering/core";
import type {
  AuthenticateRequest,
  AuthMethod,
  ForkSessionRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  NewSessionRequest,
  PromptCapabilities,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ResumeSessionRequest,
  SessionUpdate,
  StopReason,
  Usage,
} from "@agentclientprotocol/sdk/unstable";

/** How a run of a vendor ended. `usage` is in tokens and covers this run alone. */
export interface TurnOutcome {
  readonly stopReason: StopReason;
  readonly usage?: Usage;
}

/** A permission request without the session id, which the kit adds. */
export type PermissionQuestion = Omit<RequestPermissionRequest, "sessionId">;

/**
 * One run: what the vendor is asked to do and how it talks back.
 *
 * Everything given to `update()` before `prompt()` resolves is on the wire before the answer, in the order given.
 */
export interface Turn {
  readonly prompt: readonly ContentBlock[];
  /** True when this run carries steers that were left when the run before it ended, inside the same ACP turn. */
  readonly continuation: boolean;
  /** Aborts when the turn is cancelled or the connection is gone. `interrupt()` is called as well. */
  readonly signal: AbortSignal;
  /** Sends one `session/update`. Never throws; once the client is gone it does nothing. */
  update(update: SessionUpdate): void;
  /** Resolves when what was given to `update()` so far has been written; a vendor that floods awaits it. Never rejects. */
  flushed(): Promise<void>;
  /** Asks the user. Rejects when the client is gone; the outcome is `cancelled` when the turn was cancelled. */
  requestPermission(question: PermissionQuestion): Promise<RequestPermissionResponse>;
  /** The pending steers, for a vendor that owns its loop (`inbox: true`). See `Steerable.take`. */
  take(): readonly PendingSteer[];
}

/**
 * A steer on its way into the running turn. After answering `accepted` the session reports with `delivered()` or
 * `undelivered()`, the leftovers of a run before it resolves `prompt()`.
 */
export type SteerMessage = Omit<InjectCall, "sessionId">;

/** One conversation of a vendor. The kit never runs two prompts of one session at once. */
export interface VendorSession {
  /** The ACP session id; unique within the process. */
  readonly id: string;
  /** Runs one prompt to its settled end. What it throws becomes the prompt's error: see {@link VendorError}. */
  prompt(turn: Turn): Promise<TurnOutcome>;
  /** Hands a steer to the vendor. A session without it answers every steer `unsupported`: it goes into a continuation. */
  steer?(message: SteerMessage): PromiseLike<Verdict>;
  /** Stops the running prompt, which then resolves with `cancelled`. Called again while the run shows life; harmless when idle. */
  interrupt(): void | Promise<void>;
  /** The session is over: release everything it holds. Called once. */
  close?(): Promise<void>;
}

/**
 * A coding agent that does not speak ACP.
 *
 * @example
 * ```ts
 * const vendor: Vendor = {
 *   name: "echo", version: "1.0.0",
 *   open: async () => ({
 *     id: crypto.randomUUID(),
 *     prompt: async (turn) => {
 *       for (const content of turn.prompt) turn.update({ sessionUpdate: "agent_message_chunk", content });
 *       return { stopReason: "end_turn" };
 *     },
 *     interrupt: () => {},
 *   }),
 * };
 * ```
 */
export interface Vendor {
  /** Machine-readable name, as in `agentInfo.name`. */
  readonly name: string;
  /** The name that people see; it stands in error messages. Defaults to `name`. */
  readonly title?: string;
  readonly version: string;
  /** What the sessions' `steer()` takes and when it takes effect. Absent: no session of this vendor has `steer()`. */
  readonly supports?: SteeringDriver["supports"];
  /** True when sessions call `turn.take()` at their own step boundaries. Only where `supports` is absent. */
  readonly inbox?: boolean;
  readonly promptCapabilities?: PromptCapabilities;
  readonly authMethods?: readonly AuthMethod[];
  /** `session/new`. */
  open(request: NewSessionRequest): Promise<VendorSession>;
  /** `session/load`: give the history to `replay` before resolving. */
  load?(request: LoadSessionRequest, replay: (update: SessionUpdate) => void): Promise<VendorSession>;
  /** `session/resume`: as load, without the history. */
  resume?(request: ResumeSessionRequest): Promise<VendorSession>;
  /** `session/fork`: a new session with the history of another. */
  fork?(request: ForkSessionRequest): Promise<VendorSession>;
  /** `session/list`. */
  list?(request: ListSessionsRequest): Promise<ListSessionsResponse>;
  /** `authenticate`, for one of `authMethods`. */
  authenticate?(request: AuthenticateRequest): Promise<void>;
  /** The agent is over: every session has been closed. Called once. */
  dispose?(): Promise<void>;
}
