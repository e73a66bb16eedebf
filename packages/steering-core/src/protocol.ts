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
export type ContentType = "text" | "image" | "audio" | "resource_link" | "resource";

/** What a steer does when no turn is open (spec §2, idle policy). */
export type IdleBehavior = "promptRequired" | "startNewTurn" | "reject";

/** What a prompt does when a turn is open (spec §7). */
export type BusyBehavior = "queue" | "steer" | "reject";

/** Why a steer was not delivered (spec §2, receipts). */
export type UndeliveredReason = "cancelled" | "agentFailed" | "refused" | "closed" | "revoked";

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
  /** Also the one reason of a `promptRequired`; hosts compare it literally. */
  noRunningTurn: "noRunningTurn",
  unsupportedContent: "unsupportedContent",
  tooManyPending: "tooManyPending",
  alreadyDelivered: "alreadyDelivered",
  unknownMessage: "unknownMessage",
  busy: "busy",
  agentStuck: "agentStuck",
} as const;

/** Stop reasons with a meaning for the layer; every other one is passed on. */
export const STOP = { endTurn: "end_turn", cancelled: "cancelled", refused: "refusal" } as const;

/** Kinds of `session/update` the layer reads or writes. */
export const UPDATE = {
  userMessage: "user_message_chunk",
  agentMessage: "agent_message_chunk",
  commands: "available_commands_update",
} as const;

/** Kinds of `session/update` that show an agent at work; those of a cancelled run do not pass (spec §5). */
export const WORK_UPDATE: RegExp = /_chunk$|^tool_call|^plan/;

/** What `initialize` says of the layer, at `_meta.steering` of its result (spec §2, advertisement). */
export interface SteeringAdvertisement {
  /** Steering works here. A host needs no more than this; the rest is additive. */
  readonly supported: true;
  /** The version of the contract. */
  readonly version: 1;
  /** A steer that meets no turn can be answered `promptRequired`. */
  readonly idlePromptRequired: boolean;
  /** What happens to a steer that meets no turn, unless its request asks for something else. */
  readonly idleBehavior: IdleBehavior;
  /** `assumed` where the agent never says what became of a steer. */
  readonly delivery: "confirmed" | "assumed";
  /** The agent has no steering of its own: steers wait for the end of its run. */
  readonly emulated: boolean;
  /** Clients that ask for `_session/steering/update` get it. */
  readonly receipts: true;
  /** `_session/steering/revoke` is there. */
  readonly revoke: true;
  /** What a steer may consist of. */
  readonly content: readonly ContentType[];
}

/** Params of the request `_session/steering` (spec §2). */
export interface SteeringRequest {
  /** @minLength 1 */
  readonly sessionId: string;
  /**
   * The message, in the blocks of a prompt.
   *
   * @minItems 1
   */
  readonly prompt: readonly ContentBlock[];
  /** `null` counts as absent, here and in what it contains. */
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

/** Params of the request `_session/steering/revoke` (spec §2). */
export interface RevokeRequest {
  /** @minLength 1 */
  readonly sessionId: string;
  /**
   * As the steer's result named it.
   *
   * @minLength 1
   */
  readonly messageId: string;
}

/** Result of `_session/steering/revoke`: the steer will not be delivered (spec §2). */
export interface RevokeResult {
  readonly _meta?: JsonObject | null;
}

/** What a client declares at `clientCapabilities._meta.steering` of `initialize` (spec §2). Only `true` counts. */
export interface ClientSteering {
  /** It understands `_session/steering/update`. */
  readonly receipts?: boolean;
  /** It wants to be shown a delivered steer as a `user_message_chunk`. */
  readonly echo?: boolean;
}

/** What the prompt that continues a turn carries at `_meta.steering`, for the agent (spec §4). */
export interface ContinuationMeta {
  readonly turnId: string;
  readonly continuation: true;
  /** The steers of this prompt, in order. */
  readonly messageIds: readonly string[];
}

/** How a result, a receipt or a report names a steer. */
interface SteerNames {
  /** Given by the layer, unique. */
  readonly messageId: string;
  /** The client's own, where its request had one. */
  readonly clientMessageId?: string;
}

/** The steer belongs to the turn `turnId`: to the one that runs, or to the one it has begun. */
interface BoundResult {
  readonly outcome: "injected" | "startedNewTurn";
  readonly _meta: { readonly steering: SteerNames & { readonly turnId: string } };
}

/** Nothing was consumed: the client sends the message as `session/prompt`. */
interface UnboundResult {
  readonly outcome: "promptRequired";
  readonly reason: (typeof REASON)["noRunningTurn"];
  readonly _meta: { readonly steering: SteerNames & { readonly detail: IdleDetail } };
}

/** Result of `_session/steering` (spec §2). */
export type SteeringResult = BoundResult | UnboundResult;

/** The answers to `_session/steering` (spec §2). */
export type SteeringOutcome = SteeringResult["outcome"];

/** A steer that was not delivered, as the owner of the turn is told. */
export interface UndeliveredSteer extends SteerNames {
  readonly reason: UndeliveredReason;
}

/** What the owner's answer carries at `_meta.steering` (an error: at `data.steering`) when the turn was steered (spec §2). */
export interface TurnReport {
  readonly turnId: string;
  /** What the agent ended each run of the turn with. A run that ended with an error is not among them. */
  readonly runs: readonly { readonly stopReason: string }[];
  /** Empty when every steer of the turn was delivered. */
  readonly undelivered: readonly UndeliveredSteer[];
}

interface OfTurn {
  readonly sessionId: string;
  readonly turnId: string;
}

/** A receipt of a turn. Whatever a receipt does not say is declared too, so that all of them can be read alike. */
interface TurnReceipt extends OfTurn {
  readonly messageId?: undefined;
  readonly clientMessageId?: undefined;
  readonly assumed?: undefined;
  readonly reason?: undefined;
  readonly prompt?: undefined;
}

/** Precedes the first update of every turn. */
interface TurnStarted extends TurnReceipt {
  readonly state: "turnStarted";
  readonly stopReason?: undefined;
  readonly error?: undefined;
}

/** Follows the final states of all its steers and precedes the owner's answer. */
interface TurnEnded extends TurnReceipt {
  readonly state: "turnEnded";
  readonly stopReason?: string;
  readonly error?: undefined;
}

/** The same for a turn that ended with an error. */
interface TurnFailed extends TurnReceipt {
  readonly state: "turnEnded";
  readonly stopReason?: undefined;
  readonly error: RpcError;
}

interface SteerReceipt extends OfTurn, SteerNames {
  readonly stopReason?: undefined;
  readonly error?: undefined;
}

/** The agent has it. */
interface SteerDelivered extends SteerReceipt {
  readonly state: "delivered";
  readonly assumed?: undefined;
  readonly reason?: undefined;
  readonly prompt?: undefined;
}

/** The agent was given it and did not say a word afterwards. The client gets the message back, to decide. */
interface SteerAssumed extends SteerReceipt {
  readonly state: "delivered";
  readonly assumed: true;
  readonly reason?: undefined;
  /** @minItems 1 */
  readonly prompt: readonly ContentBlock[];
}

/** The agent does not have it. */
interface SteerUndelivered extends SteerReceipt {
  readonly state: "undelivered";
  readonly assumed?: undefined;
  readonly reason: UndeliveredReason;
  /**
   * The message, handed back.
   *
   * @minItems 1
   */
  readonly prompt: readonly ContentBlock[];
}

/** Params of the notification `_session/steering/update` (spec §2, receipts). */
export type Receipt = TurnStarted | TurnEnded | TurnFailed | SteerDelivered | SteerAssumed | SteerUndelivered;

interface ErrorOf<Code extends keyof typeof CODE, Data> {
  readonly code: (typeof CODE)[Code];
  readonly message: string;
  readonly data: Data & {
    /** Where the error ends a turn that was steered. */
    readonly steering?: TurnReport;
  };
}

type Because<Reason extends keyof typeof REASON> = { readonly reason: (typeof REASON)[Reason] };

/** The code alone says what happened. */
interface PlainError {
  readonly code: (typeof CODE)["notFound" | "invalidRequest" | "internalError" | "requestCancelled"];
  readonly message: string;
  readonly data?: {
    readonly reason?: undefined;
    readonly sessionId?: string;
    /** Where the error ends a turn that was steered. */
    readonly steering?: TurnReport;
  };
}

/** The errors of the layer itself; those of an agent pass as they are (spec §2). */
export type SteeringError =
  | ErrorOf<"invalidParams", { readonly path: string; readonly reason?: undefined }>
  | ErrorOf<
      "invalidParams",
      Because<"unsupportedContent"> & { readonly path: string; readonly accepted: readonly ContentType[] }
    >
  | ErrorOf<"invalidRequest", Because<"noRunningTurn" | "tooManyPending" | "busy">>
  | ErrorOf<"invalidRequest", Because<"alreadyDelivered" | "unknownMessage"> & { readonly messageId: string }>
  | ErrorOf<"internalError", Because<"agentStuck">>
  | PlainError;
