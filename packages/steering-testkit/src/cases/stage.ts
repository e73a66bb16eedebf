import type { WireClient } from "../wire-client.js";
import type { ContentBlockLike, SentRequest, WireRecord } from "../wire-record.js";

/** One request of the agent to its model, seen from behind. Its answer waits until one of the methods gives it. */
export interface ModelStep {
  /** The text of every message that is not the model's own or the agent's instructions, in order: what the user said, what tools gave. */
  readonly texts: readonly string[];
  /** How many images those messages carry. */
  readonly images: number;
  /** The agent offers its model a shell tool with this request, so that `run` has something to call. */
  readonly hasShell: boolean;
  /** Resolves when the agent has gone away before the answer was over. */
  readonly abandoned: Promise<void>;
  /** Says something, once; the answer stays open until `end()`. */
  say(text: string): void;
  /**
   * Ends the answer, and with it, most likely, the run; where nothing was said before, with this text. Resolves when the
   * last byte was written or the agent has gone away.
   */
  end(text?: string): Promise<void>;
  /**
   * Has the agent run a command with its shell tool; ends the answer. Only where nothing was said before.
   *
   * @param options `asking`: in a way that makes the agent ask its user, where it has one
   */
  run(command: string, options?: { readonly asking?: boolean }): void;
  /** The model fails: the agent gets an error of its service. Only where nothing was said before. */
  fail(): void;
}

/** A mark that stands in the messages of a request, or anything else that is asked of it. */
export type Wanted = string | ((step: ModelStep) => boolean);

/** What stands behind the agent. It sees what really arrived there, so that an agent cannot vouch for itself. */
export interface Behind {
  /**
   * The first request that nobody has taken yet in whose messages the mark stands, arrived already or still to come.
   *
   * @param wanted the mark, or what else the request has to be
   * @param signal ends the wait; the promise rejects with its reason and takes nothing
   */
  next(wanted: Wanted, signal?: AbortSignal): Promise<ModelStep>;
  /** Every request so far in whose messages the mark stands, in order of arrival. */
  steps(mark: string): readonly ModelStep[];
}

/** A turn that a case has begun. */
export interface OpenTurn extends SentRequest<Record<string, unknown>> {
  /** A word that stands in its prompt and nowhere else. */
  readonly mark: string;
  readonly sessionId: string;
}

/** The place where one case is played: one agent, one session, nobody else in it. */
export interface Stage {
  readonly client: WireClient;
  readonly sessionId: string;
  readonly cwd: string;
  /** `_meta.steering` of the agent's `initialize` result. */
  readonly advertisement: Readonly<Record<string, unknown>>;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** What stands behind the agent; a case without the need `model` must not depend on it. */
  readonly behind: Behind;
  /** The turns of this stage whose owners have no answer yet. */
  readonly openTurns: ReadonlySet<OpenTurn>;
  /** When the driver's vendor reads a steer, where the suite knows the driver. */
  readonly boundary?: Boundary | undefined;
  /** A word that no other text contains, to be found again behind the agent. */
  mark(): string;
  /** Sends a prompt that carries a mark of its own; blocks are sent as they are, behind the text with the mark. */
  prompt(blocks?: readonly ContentBlockLike[], sessionId?: string): OpenTurn;
  /** One more session of the same agent. */
  session(): Promise<string>;
  /** Resolves when nothing more comes of what happened so far; what came meanwhile stands in the client's log. */
  quiet(): Promise<void>;
  /** What the client has received since that order number. */
  since(order: number): readonly WireRecord[];
  /**
   * Every wait of a case goes through this, so that one that never ends has a name.
   *
   * @param what completes "waited in vain for …"
   */
  until<Value>(what: string, promise: PromiseLike<Value>): Promise<Value>;
  /** Says a problem that is certain before the case has come to its end: it counts even if the case never does. */
  note(problem: false | undefined | string): void;
}

/** When a vendor reads a steer, as `supports.boundary` of a driver says it. */
export type Boundary = "now" | "afterTool" | "nextStep";
