/**
 * The words of the session machine: what a session is, what can happen to it, what it wants done. Types only.
 *
 * All of it is plain data that nobody but the machine changes, in `step`, which nothing interrupts. Time, promises and
 * connections stay outside; they come in as events and go out as effects.
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
  SteeringOutcome,
  UndeliveredReason,
} from "./protocol.js";

/** What an adapter decided once. Spec §2 (idle policy), §5 (grace), §7 (whenBusy), design (roads). */
export interface Policy {
  readonly idleBehavior: IdleBehavior;
  readonly whenBusy: BusyBehavior;
  /** A steer cancels the run and the continuation restates the task. */
  readonly interrupts: boolean;
  readonly cancelGraceMs: number;
  readonly maxPending: { readonly steers: number; readonly bytes: number };
}

/** A connection; to the machine no more than something to compare. */
export type LinkRef = unknown;

/** Who asked: a request of one connection. */
export interface Asker {
  readonly link: LinkRef;
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
 * - `settled`: its state is final.
 */
export type Fate = "waiting" | "fallen" | "injecting" | "accepted" | "taken" | "continued" | "settled";

/** A user message; it arrives as what it is while it waits, and is the machine's from then on. */
export interface Steer {
  readonly messageId: string;
  readonly clientMessageId: string | undefined;
  readonly link: LinkRef;
  /** Empty once its state is final. */
  prompt: readonly ContentBlock[];
  /** UTF-16 code units of text and data. */
  readonly weight: number;
  /** The driver takes its content. */
  readonly injectable: boolean;
  /** How its request was answered. */
  outcome: SteeringOutcome;
  fate: Fate;
  /** A report of the driver before its verdict. */
  report?: DriverReport | undefined;
  /** Revokes that wait for the driver's verdict. */
  revokers: readonly Asker[];
  /** Why it was not delivered. */
  reason?: UndeliveredReason | undefined;
}

/** A client's prompt, or a steer that begins a turn as one would. */
export interface QueuedPrompt {
  readonly asker: Asker;
  readonly turnId: string;
  readonly params: JsonObject;
  readonly prompt: readonly ContentBlock[];
}

/** How the agent answered a run, or the layer a request. */
export type RunOutcome =
  | { readonly result: JsonObject; readonly error?: undefined }
  | { readonly error: RpcError; readonly result?: undefined };

/** One prompt at the agent. */
export interface Run {
  readonly id: string;
  readonly link: LinkRef;
  /** The id of its request: the client's own, or ours where the run has no asker. */
  readonly wireId: RequestId;
  /** It may go on working: nobody has told it to stop, or it did something since. */
  lively: boolean;
}

/** From a client's prompt to its answer: one run or several. */
export interface Turn {
  readonly id: string;
  /** The connection whose prompt or steer began the turn. */
  readonly link: LinkRef;
  /** The request that gets the answer; none where a steer began the turn. */
  readonly owner: Asker | undefined;
  /** Prompts that joined the turn as steers and get its answer too. */
  joined: readonly Asker[];
  readonly prompt: readonly ContentBlock[];
  /** Its steers whose state is open, in order of arrival. */
  bound: Steer[];
  /** Its steers whose state is final, in the order in which it became so. */
  readonly settled: Steer[];
  /** How often in a row the agent turned a continuation away, and why it did last. */
  refusals: number;
  refusal?: RpcError | undefined;
  runsBegun: number;
  /** What its owner is told of its runs and of its steers. */
  readonly report: { readonly turnId: string; readonly runs: object[]; readonly undelivered: object[] };
  /** Permission and elicitation requests of the agent that the client has not answered. */
  holds: number;
  /** How the last run ended; the answer waits while steers or verdicts are open. */
  outcome?: RunOutcome;
  /** Why pending steers are handed back once the turn is being cancelled. */
  cancelReason: "cancelled" | "closed";
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
  readonly policy: Policy;
  phase: Phase;
  turn?: Turn | undefined;
  run?: Run | undefined;
  queue: readonly QueuedPrompt[];
  /** The prompt of the turn that a client cancelled last, for `/steer`. */
  interrupted?: readonly ContentBlock[] | undefined;
  /** How many `session/close` and `session/delete` are at the agent. */
  closing: number;
  /** The agent worked on its own since the last turn ended. */
  unattended: boolean;
  /** The last steers of the turn that ended last, for a late revoke. */
  past: readonly Steer[];
  /** What the step that is being made wants done. */
  effects: Effect[];
}

export type DriverReport = "delivered" | "undelivered";

/** A phase that waits for time has a timer of its name; a prompt that waits for an old run one of its turn's id. */
export type TimerName = Phase | "sendCancel" | "sendCancelRequest";

/** What can happen: a name and what comes with it. */
export interface Events {
  /** The prompt, also as the steer it may become. `barred`: why this connection may not steer here. */
  promptArrived: [queued: QueuedPrompt, steer: Steer, command: SlashCommand | undefined, barred: RpcError | undefined];
  /** The steer, also as the prompt it may become. `unsupported`: why its content cannot be taken. */
  steerArrived: [
    queued: QueuedPrompt,
    steer: Steer,
    unsupported: RpcError | undefined,
    idleBehavior: IdleBehavior,
    expectedTurnId: string | undefined,
  ];
  revokeArrived: [asker: Asker, messageId: string];
  cancelArrived: [link: LinkRef];
  promptCancelled: [asker: Asker];
  runAnswered: [run: string, outcome: RunOutcome];
  verdictArrived: [messageId: string, verdict: Verdict];
  reportArrived: [messageId: string, report: DriverReport];
  takeCalled: [];
  agentActed: [];
  holdChanged: [by: 1 | -1];
  timerFired: [timer: string];
  closeArrived: [];
  closeAnswered: [ok: boolean];
  linkLost: [link: LinkRef];
  agentLost: [link: LinkRef];
}

export type EventName = keyof Events;

/** A receipt before it is known on which wire it goes. */
export type Told = Receipt extends infer Kind ? (Kind extends unknown ? Omit<Kind, "sessionId"> : never) : never;

/** What the machine wants done: a name and what it takes. */
export interface Effects {
  respond: [asker: Asker, outcome: RunOutcome];
  startRun: [run: Run, params: JsonObject];
  inject: [turnId: string, steer: Steer];
  abortInjection: [];
  give: [steers: readonly Steer[]];
  sendCancel: [link: LinkRef];
  sendCancelRequest: [run: Run];
  releaseHolds: [];
  /** To one connection, or to all of the session. */
  receipt: [receipt: Told, link?: LinkRef];
  echo: [messageId: string, prompt: readonly ContentBlock[]];
  say: [link: LinkRef, text: string];
  arm: [timer: string, ms: number];
  disarm: [];
  forget: [];
}

export type EffectName = keyof Effects;
export type Effect = { [Name in EffectName]: readonly [Name, ...Effects[Name]] }[EffectName];
