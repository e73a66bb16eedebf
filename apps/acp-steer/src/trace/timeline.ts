/** A recording as what a person sees of it: sessions, their turns, and what happened in each. Times are milliseconds. */
export interface Timeline {
  readonly command: readonly string[];
  readonly started: string;
  readonly turns: readonly TracedTurn[];
  /** Lines that were no messages, by flow and number. */
  readonly unreadable: number;
}

/** Something with a beginning, and an end where it had one. */
export interface Span {
  readonly begin: number;
  end?: number;
}

export interface TracedTurn {
  readonly sessionId: string;
  /** The first is 1, in each session. */
  readonly number: number;
  turnId?: string;
  /** When the client sent the prompt; it may have waited for the turn before. */
  readonly asked: number;
  begin: number;
  end?: number;
  /** The stop reason, or the error's code and reason. */
  ending?: string;
  /** Its text, where the recording has it. */
  readonly text?: string;
  readonly runs: Span[];
  readonly says: Span[];
  readonly thinks: Span[];
  readonly tools: TracedTool[];
  readonly questions: TracedQuestion[];
  readonly steers: TracedSteer[];
  readonly cancels: number[];
}

interface TracedTool extends Span {
  readonly id: string;
  readonly label: string;
  status?: string;
}

/** A permission or an elicitation. */
interface TracedQuestion extends Span {
  readonly what: string;
  answer?: string;
}

export interface TracedSteer {
  readonly asked: number;
  /** How it came: the request, or `/steer` as a prompt. */
  readonly by: "steering" | "command";
  answered?: number;
  /** `injected`, `promptRequired`, `startedNewTurn`, or the error's code and reason. */
  outcome?: string;
  messageId?: string;
  /** When it went to the agent, as far as that can be seen on the wire. */
  handedOver?: number;
  /** When the client was told that it is before the model, or, without receipts, the turn's end told it. */
  delivered?: number;
  assumed?: boolean;
  undelivered?: { readonly at: number; readonly reason: string };
  readonly text?: string;
}
