/**
 * The words of the session machine: what a session is, what can happen to it, what it wants done. Types only.
 *
 * All of it is plain immutable data. Time, promises and connections stay outside; they come in as events and go out as effects.
 */
import type { Verdict } from "./driver.js";
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

/** A user message on its way into the turn. */
export interface Steer {
  readonly messageId: string;
  readonly clientMessageId: string | undefined;
  readonly prompt: readonly ContentBlock[];
  readonly bytes: number;
  readonly link: number;
  /** Place of arrival in the turn; what is handed back returns to it. */
  readonly place: number;
  /** The driver takes its content. */
  readonly injectable: boolean;
  /** Waits for the continuation and holds back every later steer. */
  readonly fallen: boolean;
}

/** What became of a steer, for repeats and revokes. */
export interface LedgerEntry {
  readonly messageId: string;
  readonly clientMessageId: string | undefined;
  readonly link: number;
  readonly outcome: "injected" | "startedNewTurn";
  readonly fate: "pending" | "handedOver" | "delivered" | "undelivered" | "revoked";
}

/** A steer that is at the driver, its verdict open. */
export interface Injection {
  readonly steer: Steer;
  /** A report that came before the verdict. */
  readonly report?: DriverReport;
  /** Revokes that wait for the verdict. */
  readonly revokers: readonly Asker[];
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
  readonly ledger: readonly LedgerEntry[];
  /** Not handed over, in order of arrival. */
  readonly pending: readonly Steer[];
  readonly injection: Injection | undefined;
  /** Answered `accepted`, no report yet. */
  readonly accepted: readonly Steer[];
  /** Handed over by `take()` or a continuation, no sign of the agent since. */
  readonly unconfirmed: readonly Steer[];
  /** What the continuation that runs now carries, until the agent shows that it took it. */
  readonly continuation: readonly Steer[];
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
  /** `session/close` or `session/delete` is at the agent. */
  readonly closing: boolean;
  /** The agent worked on its own since the last turn ended. */
  readonly unattended: boolean;
  /** The last steers of the turn that ended last. */
  readonly past: readonly LedgerEntry[];
}

export type DriverReport = "delivered" | "undelivered";

export type TimerName = "begin" | "verdict" | "continue" | "cancel" | "cancelAgain" | "cancelRequest" | "grace" | "stuck";

/** A steer as it arrives, not yet placed. */
export type ArrivingSteer = Omit<Steer, "place" | "fallen" | "link">;

export interface Events {
  promptArrived: {
    readonly asker: Asker;
    readonly turnId: string;
    readonly params: JsonObject;
    /** The prompt as the steer it may become. */
    readonly steer: ArrivingSteer;
    readonly command?: { readonly name: "steer" | "queue"; readonly text: string };
  };
  steerArrived: {
    readonly asker: Asker;
    readonly turnId: string;
    readonly steer: ArrivingSteer;
    readonly idleBehavior: IdleBehavior;
    readonly expectedTurnId: string | undefined;
  };
  revokeArrived: { readonly asker: Asker; readonly messageId: string };
  cancelArrived: { readonly link: number };
  promptCancelled: { readonly asker: Asker };
  runAnswered: { readonly run: string; readonly outcome: RunOutcome };
  verdictArrived: { readonly messageId: string; readonly verdict: Verdict };
  reportArrived: { readonly messageId: string; readonly report: DriverReport };
  takeCalled: object;
  agentActed: object;
  holdOpened: object;
  holdClosed: object;
  timerFired: { readonly timer: TimerName; readonly turnId?: string };
  closeArrived: object;
  closeAnswered: { readonly ok: boolean };
  linkLost: { readonly link: number };
}

export type EventName = keyof Events;
export type Event = { [Name in EventName]: { readonly type: Name } & Events[Name] }[EventName];

export type Effect =
  | { readonly type: "answer"; readonly asker: Asker; readonly result: JsonObject }
  | { readonly type: "refuse"; readonly asker: Asker; readonly error: RpcError }
  | { readonly type: "startRun"; readonly run: string; readonly link: number; readonly asker: Asker | undefined; readonly params: JsonObject }
  | { readonly type: "inject"; readonly turnId: string; readonly steer: Steer }
  | { readonly type: "abortInjection" }
  | { readonly type: "give"; readonly steers: readonly Steer[] }
  | { readonly type: "sendCancel"; readonly link: number }
  | { readonly type: "sendCancelRequest"; readonly run: string; readonly link: number }
  | { readonly type: "releaseHolds" }
  | { readonly type: "receipt"; readonly link: number | undefined; readonly receipt: Omit<Receipt, "sessionId"> }
  | { readonly type: "echo"; readonly steer: Steer }
  | { readonly type: "say"; readonly link: number; readonly text: string }
  | { readonly type: "arm"; readonly timer: TimerName; readonly ms: number; readonly turnId?: string }
  | { readonly type: "disarm" }
  | { readonly type: "forget" };
