/** What Node and the Python bridge say to each other; docs/bridge-protocol.md says what it means. Types and names only. */

export const BRIDGE_PROTOCOL = 1;

export interface BridgeAuth {
  /** True when the configured provider has what it needs. */
  readonly configured: boolean;
  readonly provider: string | null;
  /** The environment variables that the provider takes its key from. */
  readonly variables: readonly string[];
  /** What to do when it is not configured. */
  readonly message: string | null;
}

export interface BridgeChoice {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

export interface BridgeCommand {
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
}

/** What the bridge says of itself once Hermes is loaded. */
export interface BridgeReady {
  readonly type: "ready";
  readonly hermes: string;
  readonly redirect: boolean;
  readonly modes: readonly BridgeChoice[];
  readonly commands: readonly BridgeCommand[];
}

export interface BridgeSession {
  readonly session: string;
  readonly cwd: string;
  readonly title?: string | null;
  /** One of `models`. */
  readonly model: string;
  readonly models: readonly BridgeChoice[];
  readonly mode: string;
}

interface BridgeUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly thoughtTokens?: number;
  readonly cachedReadTokens?: number;
  readonly cachedWriteTokens?: number;
}

export interface BridgeTurn {
  readonly stopReason: "end_turn" | "max_tokens" | "max_turn_requests" | "cancelled";
  readonly usage: BridgeUsage | null;
  readonly delivered: readonly string[];
  readonly undelivered: readonly string[];
}

interface BridgeSessionList {
  readonly sessions: readonly {
    readonly session: string;
    readonly cwd: string;
    readonly title?: string | null;
    readonly updatedAt?: string | null;
  }[];
  readonly cursor?: string | null;
}

/** One file as a tool changes it, its path absolute. */
export interface BridgeEdit {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
}

export interface ToolStartEvent {
  readonly type: "tool_start";
  readonly call: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly edits?: readonly BridgeEdit[];
  /** The files that the tool is about, absolute. */
  readonly paths?: readonly string[];
}

export interface ToolEndEvent {
  readonly type: "tool_end";
  readonly call: string;
  readonly name: string;
  /** Cut by the bridge where it is very long. */
  readonly result: string;
  /** Of the whole result, in characters. */
  readonly length: number;
  readonly failed: boolean;
  /** The turn ended before the tool did. */
  readonly unfinished?: boolean;
}

export type PermissionChoice = "once" | "session" | "always" | "deny";

export interface AskEvent {
  readonly type: "ask";
  readonly ask: string;
  readonly kind: "command" | "edit";
  readonly command?: string;
  readonly description?: string;
  readonly tool?: string;
  readonly edits?: readonly BridgeEdit[];
  readonly paths?: readonly string[];
  readonly choices: readonly PermissionChoice[];
  /** The tool call that waits for the answer, where the bridge knows it. */
  readonly call?: string;
}

/** What the bridge says while a turn runs. */
type TurnEvent =
  | { readonly type: "text" | "reasoning" | "status"; readonly text: string }
  | ToolStartEvent
  | ToolEndEvent
  | { readonly type: "delivered"; readonly steers: readonly string[] }
  | AskEvent
  | { readonly type: "ask_closed"; readonly ask: string }
  | { readonly type: "context"; readonly used: number; readonly size: number }
  | { readonly type: "title"; readonly title: string };

/** One piece of a session's past, in the form of the event that it was. */
export type HistoryEntry = TurnEvent | { readonly type: "user"; readonly text: string };

/** A line of the bridge that belongs to a session. `turn` is null for what comes after the turn. */
export type SessionEvent = TurnEvent & { readonly session: string; readonly turn: string | null };

export type BridgeMessage =
  | { readonly type: "hello"; readonly protocol: number; readonly python: string }
  | BridgeReady
  | { readonly type: "failed"; readonly reason: string; readonly message: string }
  | { readonly type: "reply"; readonly id: number; readonly result: unknown; readonly error?: undefined }
  | { readonly type: "reply"; readonly id: number; readonly error: BridgeFault }
  | { readonly type: "history"; readonly id: number; readonly entries: readonly HistoryEntry[] }
  | { readonly type: "log"; readonly level: string; readonly text: string }
  | SessionEvent;

export interface BridgeFault {
  readonly code: string;
  readonly message: string;
  readonly data?: { readonly delivered?: readonly string[]; readonly undelivered?: readonly string[] };
}

/** The requests of Node and what the bridge answers. */
export interface BridgeRequests {
  open: { fields: { cwd: string; mcpServers: readonly unknown[] }; result: BridgeSession };
  load: {
    fields: { session: string; cwd: string; mcpServers: readonly unknown[]; replay: boolean };
    result: BridgeSession;
  };
  fork: { fields: { session: string; cwd: string; mcpServers: readonly unknown[] }; result: BridgeSession };
  list: { fields: { cwd?: string; cursor?: string }; result: BridgeSessionList };
  close: { fields: { session: string }; result: unknown };
  prompt: { fields: { session: string; turn: string; content: BridgeContent; text: string }; result: BridgeTurn };
  command: {
    fields: { session: string; turn: string; name: string; args: string };
    result: { text: string; session: BridgeSession };
  };
  steer: {
    fields: { session: string; turn: string; steer: string; text: string; now: boolean };
    result: { verdict: "accepted" | "tooLate" | "unsupported" };
  };
  interrupt: { fields: { session: string; turn: string }; result: unknown };
  set: { fields: { session: string; model?: string; mode?: string }; result: BridgeSession };
  auth: { fields: Record<never, never>; result: BridgeAuth };
}

/** A user's message as Hermes takes it: text, or parts in the form of the chat-completions API. */
export type BridgeContent = string | readonly BridgeContentPart[];

export type BridgeContentPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image_url"; readonly image_url: { readonly url: string } };
