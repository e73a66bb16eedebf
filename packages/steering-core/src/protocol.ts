/**
 * Every name, shape and code of the wire, once. No logic.
 *
 * The shapes are structural twins of the ones in `@agentclientprotocol/sdk`, so that core needs no package at run time
 * and its declarations need none at compile time; a test compiles the two against each other.
 */

/** One JSON object with unknown members. */
export interface JsonObject {
  [key: string]: unknown;
}

/** A JSON-RPC request id as ACP allows it. `1` and `"1"` are two ids. */
export type RequestId = string | number | null;

/** A JSON-RPC error object. `code` says what happened; `data.reason` says why where one code has several causes. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One message of an ACP connection: request, notification or response. */
export interface WireMessage {
  readonly jsonrpc: "2.0";
  readonly id?: RequestId;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: RpcError;
}

/** A pair of WHATWG streams that carries the messages of one connection, as the SDK's `Stream`. */
export interface MessageStream {
  // biome-ignore lint/suspicious/noExplicitAny: the SDK's message union and ours describe the same values.
  readonly readable: ReadableStream<any>;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  readonly writable: WritableStream<any>;
}

interface Annotated {
  annotations?: JsonObject | null;
  _meta?: JsonObject | null;
}

/** One block of a prompt or a steer (ACP v1, content). */
export type ContentBlock =
  | ({ type: "text"; text: string } & Annotated)
  | ({ type: "image"; data: string; mimeType: string; uri?: string | null } & Annotated)
  | ({ type: "audio"; data: string; mimeType: string } & Annotated)
  | ({
      type: "resource_link";
      name: string;
      uri: string;
      description?: string | null;
      mimeType?: string | null;
      size?: number | null;
      title?: string | null;
    } & Annotated)
  | ({ type: "resource"; resource: EmbeddedResource } & Annotated);

/** The contents of an embedded resource: text, or base64 in `blob`. */
export type EmbeddedResource =
  | { uri: string; text: string; mimeType?: string | null; _meta?: JsonObject | null }
  | { uri: string; blob: string; mimeType?: string | null; _meta?: JsonObject | null };

/** The kinds of content block that ACP v1 knows. */
export type ContentType = ContentBlock["type"];

/** What a steer does when no turn is open (spec §2, idle policy). */
export type IdleBehavior = "promptRequired" | "startNewTurn" | "reject";

/** What a prompt does when a turn is open (spec §7). */
export type BusyBehavior = "queue" | "steer" | "reject";

/** Why a steer was not delivered (spec §2, receipts). */
export type UndeliveredReason = "cancelled" | "agentFailed" | "refused" | "closed" | "revoked";

/** The answers to `_session/steering` (spec §2). */
export type SteeringOutcome = "injected" | "promptRequired" | "startedNewTurn";

/** Why a steer was answered `promptRequired`. */
export type IdleDetail = "idle" | "cancelling" | "turnMismatch";

/** The methods and notifications the layer reads or writes. */
export const METHOD = {
  initialize: "initialize",
  newSession: "session/new",
  loadSession: "session/load",
  resumeSession: "session/resume",
  forkSession: "session/fork",
  closeSession: "session/close",
  deleteSession: "session/delete",
  prompt: "session/prompt",
  cancel: "session/cancel",
  update: "session/update",
  permission: "session/request_permission",
  elicitation: "elicitation/create",
  writeFile: "fs/write_text_file",
  createTerminal: "terminal/create",
  cancelRequest: "$/cancel_request",
  steering: "_session/steering",
  revoke: "_session/steering/revoke",
  receipt: "_session/steering/update",
} as const;

/** The key under `_meta` that belongs to this extension. */
export const META_KEY = "steering";

/** The one reason of a `promptRequired`; hosts compare it literally. */
export const NO_RUNNING_TURN = "noRunningTurn";

/** JSON-RPC error codes the layer answers with. */
export const CODE = {
  invalidRequest: -32600,
  invalidParams: -32602,
  internalError: -32603,
  authRequired: -32000,
  notFound: -32002,
  requestCancelled: -32800,
} as const;

/** `data.reason` of the layer's errors. */
export const REASON = {
  noRunningTurn: "noRunningTurn",
  unsupportedContent: "unsupportedContent",
  tooManyPending: "tooManyPending",
  alreadyDelivered: "alreadyDelivered",
  unknownMessage: "unknownMessage",
  busy: "busy",
  agentStuck: "agentStuck",
} as const;

/** Stop reasons with a meaning for the layer; every other one is passed on. */
export const STOP = { endTurn: "end_turn", cancelled: "cancelled", refusal: "refusal" } as const;

/** Kinds of `session/update` the layer reads or writes. */
export const UPDATE = {
  userMessage: "user_message_chunk",
  agentMessage: "agent_message_chunk",
  agentThought: "agent_thought_chunk",
  toolCall: "tool_call",
  toolCallUpdate: "tool_call_update",
  plan: "plan",
  commands: "available_commands_update",
} as const;

/** What `initialize` says of the layer, under `_meta.steering` (spec §2, advertisement). */
export interface SteeringAdvertisement {
  readonly supported: true;
  readonly version: 1;
  readonly idlePromptRequired: boolean;
  readonly idleBehavior: IdleBehavior;
  readonly delivery: "confirmed" | "assumed";
  readonly emulated: boolean;
  readonly receipts: true;
  readonly revoke: true;
  readonly content: readonly ContentType[];
}

/** Params of `_session/steering` (spec §2). */
export interface SteeringRequest {
  readonly sessionId: string;
  readonly prompt: readonly ContentBlock[];
  readonly _meta?: {
    readonly steering?: {
      /** What to do when no turn runs; overrides the agent's policy. */
      readonly idleBehavior?: Exclude<IdleBehavior, "reject"> | null;
      /** The turn it is meant for; another one answers `promptRequired`. */
      readonly expectedTurnId?: string | null;
      /** Makes a repeat within one turn harmless. */
      readonly clientMessageId?: string | null;
    } | null;
  } | null;
}

/** Params of `_session/steering/revoke` (spec §2). */
export interface RevokeRequest {
  readonly sessionId: string;
  readonly messageId: string;
}

/** What a client declares under `clientCapabilities._meta.steering` of `initialize` (spec §2). */
export interface ClientSteering {
  /** It understands `_session/steering/update`. */
  readonly receipts?: boolean;
  /** It wants to be shown a delivered steer as a `user_message_chunk`. */
  readonly echo?: boolean;
}

/** The `_meta.steering` of the prompt that continues a turn (spec §4). */
export interface ContinuationMeta {
  readonly turnId: string;
  readonly continuation: true;
  readonly messageIds: readonly string[];
}

/** Answer to `_session/steering`. */
export interface SteeringResult {
  readonly outcome: SteeringOutcome;
  readonly reason?: typeof NO_RUNNING_TURN;
  readonly _meta: {
    readonly steering: {
      readonly messageId: string;
      readonly turnId?: string;
      readonly clientMessageId?: string;
      readonly detail?: IdleDetail;
    };
  };
}

/** A steer that was not delivered, as the owner of the turn is told. */
export interface UndeliveredSteer {
  readonly messageId: string;
  readonly clientMessageId?: string;
  readonly reason: UndeliveredReason;
}

/** What the owner's answer carries under `_meta.steering` (an error: under `data.steering`) when the turn was steered. */
export interface TurnReport {
  readonly turnId: string;
  readonly runs: readonly { readonly stopReason: string }[];
  readonly undelivered: readonly UndeliveredSteer[];
}

/** Params of `_session/steering/update` (spec §2, receipts). */
export interface Receipt {
  readonly sessionId: string;
  readonly turnId: string;
  readonly state: "turnStarted" | "turnEnded" | "delivered" | "undelivered";
  readonly messageId?: string;
  readonly clientMessageId?: string;
  readonly stopReason?: string;
  readonly error?: RpcError;
  readonly assumed?: true;
  readonly reason?: UndeliveredReason;
  readonly prompt?: readonly ContentBlock[];
}
