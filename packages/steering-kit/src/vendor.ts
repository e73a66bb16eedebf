/**
 * The contract of a vendor: a coding agent that does not speak ACP. An optional method is the capability: what is not
 * there is not advertised.
 */

import type { ContentBlock, InjectCall, PendingSteer, SteeringDriver, Verdict } from "@acp-steering/core";
import type {
  AuthenticateRequest,
  AuthMethod,
  AvailableCommand,
  CreateElicitationResponse,
  DeleteSessionRequest,
  ElicitationFormMode,
  ForkSessionRequest,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  McpCapabilities,
  NewSessionRequest,
  PromptCapabilities,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ResumeSessionRequest,
  SessionConfigOption,
  SessionModeState,
  SessionUpdate,
  SetSessionConfigOptionRequest,
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

/** A form for the user (ACP, elicitation), without the session id, which the kit adds. */
export interface ElicitationForm {
  readonly message: string;
  readonly requestedSchema: ElicitationFormMode["requestedSchema"];
  /** The tool call that it belongs to. */
  readonly toolCallId?: string;
}

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
  /**
   * Asks the user. Rejects when the client is gone; the outcome is `cancelled` when the turn was cancelled. `signal` takes
   * the question back (`$/cancel_request`).
   */
  requestPermission(question: PermissionQuestion, signal?: AbortSignal): Promise<RequestPermissionResponse>;
  /**
   * Shows the user a form; absent where the client shows none. Rejects when the client is gone or refuses it. `signal` takes
   * it back.
   */
  elicit?(form: ElicitationForm, signal?: AbortSignal): Promise<CreateElicitationResponse>;
  /** The pending steers, for a vendor that owns its loop (`inbox: true`). See `Steerable.take`. */
  take(): readonly PendingSteer[];
}

/**
 * A steer on its way into the running turn. After answering `accepted` the session reports with `delivered()` or
 * `undelivered()`, the leftovers of a run before it resolves `prompt()`.
 */
export type SteerMessage = Omit<InjectCall, "sessionId">;

/** The new value of one of a session's `configOptions()`; the kit has checked that there is such a choice. */
export type ConfigChange = Pick<SetSessionConfigOptionRequest, "configId" | "value">;

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
  /** What the user may set (ACP, session config options), as it stands now. Sent when the session is opened. */
  configOptions?(): readonly SessionConfigOption[];
  /** Sets one of `configOptions()`, also while a prompt runs. The client is answered with them as they stand afterwards. */
  setConfigOption?(change: ConfigChange): Promise<void>;
  /** The modes that the user may switch between (ACP, session modes), and the present one. */
  modes?(): SessionModeState;
  /** Switches to one of `modes()`, also while a prompt runs; the kit has checked that there is such a mode. */
  setMode?(modeId: string): Promise<void>;
  /** The slash commands that a prompt may begin with; announced when the session is opened. */
  readonly commands?: readonly AvailableCommand[];
  /**
   * Called once the client knows the session: `send` is for what changes outside of a turn, such as a title. Within a turn,
   * `Turn.update` keeps the order.
   */
  attach?(send: (update: SessionUpdate) => void): void;
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
  /** The transports of MCP servers that sessions take from the client, beside stdio. */
  readonly mcpCapabilities?: McpCapabilities;
  /** True when sessions take `additionalDirectories`. */
  readonly additionalDirectories?: boolean;
  /** What a user can sign in with. `initialize` waits for nothing, so these are known before the agent runs. */
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
  /** `session/delete`, of a session that is closed or that the kit closes first. */
  delete?(request: DeleteSessionRequest): Promise<void>;
  /** `logout`. */
  logout?(): Promise<void>;
  /** `authenticate`, for one of `authMethods`. */
  authenticate?(request: AuthenticateRequest): Promise<void>;
  /** The agent is over: every session has been closed. Called once. */
  dispose?(): Promise<void>;
}
