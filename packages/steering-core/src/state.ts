/**
 * The words of the session machine: what a session is, what can happen to it, what it wants done. Types only.
 *
 * All of it is plain immutable data. Time, promises and connections stay outside; they come in as events and go out as effects.
 */
import type { Verdict } from "./driver.js";
import type { SlashCommand } from "./parse.js";
import type {
  BusyBehavior,
  ContentBlock,
  IdleBehavior,
  JsonObject,
  Receipt,
  RequestId,
  RpcError,
  UndeliveredSteer,
} from "./protocol.js";

/** What an adapter decided once. Spec §2 (idle policy), §5 (grace), §7 (whenBusy), design (roads). */
export interface Policy {
  readonly idleBehavior: IdleBehavior;
  readonly whenBusy: BusyBehavior;
  readonly hasDriver: boolean;
  /** A steer cancels the run and the continuation restates the task. */
  readonly interrupts: boolean;
  readonly cancelGraceMs: number;
  readonly maxPending: { readonly steers: number; readonly bytes: number };
}

/** Who asked: a request of one connection. */
export interface Asker {
  readonly link: number;
  readonly id: RequestId;
}

/**
 * Where a steer of the turn is.
 *
 * - `waiting`: not handed over.
 * - `fallen`: not handed over; waits for the continuation and holds back every later steer.
 * - `injecting`: at the driver, no verdict yet.
 * - `accepted`: the driver has it, no report yet.
 * - `taken`: handed over by `take()`, no sign of the agent since.
 * - `continued`: handed over in the continuation that runs, no sign of the agent since.
 */
export type Fate = "waiting" | "fallen" | "injecting" | "accepted" | "taken" | "continued";

/** A steer as it arrives. */
export interface ArrivingSteer {
  readonly messageId: string;
  readonly clientMessageId: string | undefined;
  readonly prompt: readonly ContentBlock[];
  /** UTF-16 code units of text and data. */
  readonly bytes: number;
  /** The driver takes its content. */
  readonly injectable: boolean;
}

/** A user message bound to the turn whose state is not final. */
export interface Steer extends ArrivingSteer {
  readonly link: number;
  /** Place of arrival in the turn; what is handed back returns to it. */
  readonly place: number;
  readonly fate: Fate;
}

/** A steer whose state is final, for repeats and late revokes; a list that grows at its head. */
export interface Done extends Pick<Steer, "messageId" | "clientMessageId" | "link"> {
  /** How its request was answered. */
  readonly outcome: "injected" | "startedNewTurn";
  readonly delivered: boolean;
  readonly earlier: Done | undefined;
}

/** A client's prompt that waits for its turn. */
export interface QueuedPrompt {
  readonly asker: Asker;
  readonly turnId: string;
  readonly params: JsonObject;
  readonly prompt: readonly ContentBlock[];
}

/** How the agent answered a run. */
export type RunOutcome =
  | { readonly result: JsonObject; readonly error?: undefined }
  | { readonly error: RpcError; readonly result?: undefined };

/** One prompt at the agent. */
export interface Run {
  readonly id: string;
  readonly link: number;
  /** The agent did something since the run began (while cancelling: since the last cancel). */
  readonly lively: boolean;
  /** The layer itself has asked the agent to stop, to let steers in. */
  readonly interrupted?: boolean;
}

/** From a client's prompt to its answer: one run or several. */
export interface Turn {
  readonly id: string;
  /** The connection whose prompt or steer began the turn. */
  readonly link: number;
  /** The request that gets the answer; none where a steer began the turn. */
  readonly owner: Asker | undefined;
  /** Prompts that joined the turn as steers and get its answer too. */
  readonly joined: readonly Asker[];
  readonly prompt: readonly ContentBlock[];
  /** How many steers the turn was given. */
  readonly bound: number;
  /** Not handed over, in order of arrival. */
  readonly pending: readonly Steer[];
  readonly pendingBytes: number;
  /** Handed over, or at the driver; their final state is open. */
  readonly active: readonly Steer[];
  readonly done: Done | undefined;
  /** A report on the steer that is at the driver, before its verdict. */
  readonly report: DriverReport | undefined;
  /** Revokes of the steer that is at the driver; they wait for its verdict. */
  readonly revokers: readonly Asker[];
  /** How often in a row the agent turned a continuation away, and why it did last. */
  readonly refusals: number;
  readonly refusal: RpcError | undefined;
  readonly runsBegun: number;
  readonly stopReasons: readonly string[];
  readonly undelivered: readonly UndeliveredSteer[];
  /** Permission and elicitation requests of the agent that the client has not answered. */
  readonly holds: number;
  /** How the last run ended; the answer waits while steers or verdicts are open. */
  readonly outcome: RunOutcome | undefined;
  /** Why pending steers are handed back once the turn is being cancelled. */
  readonly cancelReason: "cancelled" | "closed";
}

/**
 * Where a session stands.
 *
 * - `idle`: no turn, no run.
 * - `resting`: no turn, no run; a queued prompt begins one macrotask later.
 * - `running`: a run is open at the agent.
 * - `settling`: the run was answered, a verdict is missing.
 * - `pausing`: the run was answered, a continuation is due.
 * - `cancelling`: a client cancelled; the run or a verdict is still open, the owner waits.
 * - `fenced`: the owner was answered at the end of the grace, the old run is still open.
 * - `closed`: nothing works here any more.
 */
export type Phase = "idle" | "resting" | "running" | "settling" | "pausing" | "cancelling" | "fenced" | "closed";

export interface State {
  readonly phase: Phase;
  readonly turn: Turn | undefined;
  readonly run: Run | undefined;
  readonly queue: readonly QueuedPrompt[];
  /** The prompt of the turn that a client cancelled last, for `/steer`. */
  readonly interrupted: readonly ContentBlock[] | undefined;
  /** How many `session/close` and `session/delete` are at the agent. */
  readonly closing: number;
  /** The agent worked on its own since the last turn ended. */
  readonly unattended: boolean;
  /** The last steers of the turn that ended last, for a late revoke. */
  readonly past: Done | undefined;
}

export type DriverReport = "delivered" | "undelivered";

export type TimerName =
  | "begin"
  | "verdict"
  | "continue"
  | "cancel"
  | "cancelAgain"
  | "cancelRequest"
  | "grace"
  | "stuck";

export interface Events {
  promptArrived: {
    readonly asker: Asker;
    readonly turnId: string;
    readonly params: JsonObject;
    /** The prompt as the steer it may become. */
    readonly steer: ArrivingSteer;
    readonly command: SlashCommand | undefined;
    /** Why this connection may not steer here. */
    readonly barred: RpcError | undefined;
  };
  steerArrived: {
    readonly asker: Asker;
    readonly turnId: string;
    readonly steer: ArrivingSteer;
    readonly idleBehavior: IdleBehavior;
    readonly expectedTurnId: string | undefined;
    /** Why its content cannot be taken. */
    readonly unsupported: RpcError | undefined;
  };
  revokeArrived: { readonly asker: Asker; readonly messageId: string };
  cancelArrived: { readonly link: number };
  promptCancelled: { readonly asker: Asker };
  runAnswered: { readonly run: string; readonly outcome: RunOutcome };
  verdictArrived: { readonly messageId: string; readonly verdict: Verdict };
  reportArrived: { readonly messageId: string; readonly report: DriverReport };
  takeCalled: object;
  agentActed: object;
  holdChanged: { readonly by: 1 | -1 };
  timerFired: { readonly timer: TimerName; readonly turnId?: string };
  closeArrived: object;
  closeAnswered: { readonly ok: boolean };
  linkLost: { readonly link: number };
  agentLost: { readonly link: number };
}

export type EventName = keyof Events;
export type Event = { [Name in EventName]: { readonly type: Name } & Events[Name] }[EventName];

/** A receipt before it is known on which wire it goes. */
type Told = Receipt extends infer Kind ? (Kind extends unknown ? Omit<Kind, "sessionId"> : never) : never;

/** What the machine wants done: a name and what it takes. */
export interface Effects {
  answer: [asker: Asker, result: JsonObject];
  refuse: [asker: Asker, error: RpcError];
  startRun: [run: string, link: number, asker: Asker | undefined, params: JsonObject];
  inject: [turnId: string, steer: Steer];
  abortInjection: [];
  give: [steers: readonly Steer[]];
  sendCancel: [link: number];
  sendCancelRequest: [link: number];
  releaseHolds: [];
  /** To one connection, or to all of the session. */
  receipt: [receipt: Told, link?: number];
  echo: [steer: Steer];
  say: [link: number, text: string];
  arm: [timer: TimerName, ms: number, turnId?: string];
  disarm: [];
  forget: [];
}

export type EffectName = keyof Effects;
export type Effect = { [Name in EffectName]: readonly [Name, ...Effects[Name]] }[EffectName];
