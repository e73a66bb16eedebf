import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome, Vendor, VendorSession } from "@acp-steering/kit";
import type { JsonRecord, Log } from "@acp-steering/kit/adapter";

type NewSession = Parameters<Vendor["open"]>[0];
type Optional<Method extends keyof Vendor> = NonNullable<Vendor[Method]>;

/** One `session/update` (ACP). */
export type SessionUpdate = Parameters<Turn["update"]>[0];

/** A dialect's side of a child process. */
export interface Channel {
  /** The session's folder, absolute. */
  readonly cwd: string;
  /** One line for the adapter's log. Never prompt text. */
  readonly log: Log;
  /** Writes one record as a line. Resolves when the child's input has room again; never rejects. */
  send(record: JsonRecord): Promise<void>;
  /** Ends the child. The session starts a new one for its next prompt. */
  stop(): Promise<void>;
}

/** Hears one child. */
export interface Listener {
  /** One record from the child, in order. */
  receive(record: JsonRecord): void;
  /** Resolves when what was decoded so far has been taken: reading the child waits for it. Never rejects. */
  drained?(): Promise<void>;
  /** The child is gone: whatever waits for it ends with `error`. */
  ended(error: Error): void;
}

/** How the agent names one of its conversations. */
export interface Conversation {
  readonly id: string;
  /** The file that holds it, where the dialect knows one. */
  readonly file?: string;
  /** The last message that a new child is to know, where those behind it are left behind. */
  readonly upTo?: string;
  /** What the user has set in it, where a new child would not know. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** What the client gives with every session that it opens. */
export interface Place {
  /** Absolute. */
  readonly cwd: string;
  /** Empty where the dialect has no `mcpCapabilities`. */
  readonly mcpServers: NewSession["mcpServers"];
  /** Absolute. Empty where the dialect has no `additionalDirectories`. */
  readonly additionalDirectories: readonly string[];
}

/** A conversation of before that a child goes on with, as it is or as a copy under a new id. */
export interface Reopening extends Place {
  readonly kind: "load" | "resume" | "fork";
  readonly conversation: Conversation;
}

/**
 * How a child begins its conversation. A session that lost its child begins again with `resume` where
 * {@link DialectSession.conversation} says that there is something to resume, else with `new`.
 */
export type Opening = (Place & { readonly kind: "new" }) | Reopening;

/** One conversation in one child: encodes what goes in, decodes what comes out. An optional member is the capability. */
export interface DialectSession
  extends Listener,
    Pick<VendorSession, "configOptions" | "setConfigOption" | "modes" | "setMode" | "commands" | "attach"> {
  /** The handshake. Rejects when the child does not speak the dialect, or does not know the conversation. */
  start(opening: Opening): Promise<Conversation>;
  /** What was said so far, in order, for `session/load`. Called after `start()`, again when the open session is loaded. */
  replay?(show: (update: SessionUpdate) => void): Promise<void>;
  /** Runs a prompt until the agent has settled. Every steer it accepted has been reported before it resolves. */
  prompt(turn: Turn): Promise<TurnOutcome>;
  /** Absent: every steer goes into a continuation, at the end of the run. */
  steer?(message: SteerMessage): Promise<Verdict>;
  /** Stops the running prompt. Harmless when idle. */
  interrupt(): void;
  /** What a new child can go on with; `undefined` where the history dies with this child. Asked after its end too. */
  conversation(): Conversation | undefined;
  /** The session is over; the child is ended afterwards. */
  close?(): Promise<void>;
}

/** The agent behind a dialect, outside of any session. */
export interface Agent {
  readonly command: readonly [string, ...string[]];
  /** The child's environment. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /**
   * Starts a child for a question or two and ends it.
   *
   * @param cwd the child's folder, absolute
   * @param talk is given the child's channel and says who hears it and what comes of it
   * @param extraArguments added to the command
   * @returns what `talk`'s `answer` resolves with
   * @throws what `answer` rejects with, an error that says what to do where the child does not start, or takes too long
   * @example
   * ```ts
   * const threads = await agent.visit(cwd, (channel) => {
   *   const calls = new Calls(channel);
   *   return { listener: calls, answer: calls.request("thread/list") };
   * });
   * ```
   */
  visit<Answer>(
    cwd: string,
    talk: (channel: Channel) => Visit<Answer>,
    extraArguments?: readonly string[],
  ): Promise<Answer>;
}

/** A short talk with a child. */
export interface Visit<Answer> {
  readonly listener: Listener;
  readonly answer: Promise<Answer>;
}

/** The sessions of before that an agent keeps. */
export interface History {
  /** How a session of before can be opened, by its id; {@link DialectSession.replay} belongs to `load`. */
  readonly reopens: readonly Reopening["kind"][];
  /** `session/list`. */
  list?(request: Parameters<Optional<"list">>[0], agent: Agent): ReturnType<Optional<"list">>;
  /** `session/delete`, of a session that is not open here. */
  delete?(sessionId: string, agent: Agent): Promise<void>;
}

/** Signing in, as in the kit's `Vendor`. */
export interface SignIn {
  readonly methods: NonNullable<Vendor["authMethods"]>;
  authenticate(request: Parameters<Optional<"authenticate">>[0], agent: Agent): Promise<void>;
  logout?(agent: Agent): Promise<void>;
}

/** What the client is told before any session: see the kit's `Vendor`. Without `supports` the sessions have no `steer()`. */
export interface Abilities
  extends Pick<Vendor, "supports" | "promptCapabilities" | "mcpCapabilities" | "additionalDirectories"> {
  readonly history?: History;
}

/** A language of JSON lines that a command-line agent speaks. An optional member is the capability. */
export interface Dialect extends Abilities {
  /** The value of `--dialect`. */
  readonly name: string;
  /** The agent's name in messages to people. */
  readonly title: string;
  /** The command that installs the agent, where there is one. */
  readonly install?: string;
  /** A command that starts the agent so that it speaks this dialect. */
  readonly usage: string;
  /** Added to the child's environment. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly signIn?: SignIn;
  /** What this very agent can, where that has to be found out. Asked once, before the client is answered. See `meetAgent`. */
  meet?(agent: Agent): Promise<Abilities>;
  /** Added to the command for a child that begins like this, where a flag says it; else {@link DialectSession.start} does. */
  arguments?(opening: Opening, agent: Agent): PromiseLike<readonly string[]>;
  session(channel: Channel, agent: Agent): DialectSession;
}
