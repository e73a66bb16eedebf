/**
 * A history told in the words of the contract: requests and their answers, runs, turns, steers, hand-overs. Derived from
 * what was on the wire and at the driver alone.
 */
import { Chronicle, NEVER, type OfKind, STEERING, tokensOf } from "./chronicle.js";
import type { Entry, Message } from "./history.js";
import type { SteerStory } from "./steer-story.js";
import { GRACE_MS, type Played } from "./world.js";

/** A request of a client. */
export interface Ask {
  readonly link: number;
  readonly method: string;
  readonly sessionId: string | undefined;
  readonly message: Message;
  readonly sent: Entry;
  readonly answers: readonly Answer[];
  /** The words of its own that it carries. */
  readonly token: string | undefined;
}

export type Answer = Entry & { readonly message: Message };

/** One prompt at the agent. `to` is the place of its end, or infinity. */
export interface RunStory {
  readonly link: number;
  readonly sessionId: string;
  readonly message: Message;
  readonly began: Entry;
  readonly ended: Entry | undefined;
  readonly from: number;
  readonly to: number;
  readonly result: Message["result"];
  readonly error: Message["error"];
  readonly tokens: readonly string[];
  readonly isContinuation: boolean;
  /** The agent turned it away before it did anything with it (spec §4). */
  readonly notTaken: boolean;
}

/** From a client's prompt (or the steer that began a turn) to its answer. */
export interface TurnStory {
  readonly sessionId: string;
  /** As clients were told; undefined where none was. */
  readonly id: string | undefined;
  /** The connection whose request began it. */
  readonly link: number;
  readonly ask: Ask;
  /** It was begun by a prompt, which gets its answer. */
  readonly isOwned: boolean;
  readonly runs: readonly RunStory[];
  readonly from: number;
  readonly to: number;
  readonly answer: Answer | undefined;
  readonly cancelled:
    | { readonly at: number; readonly entry: Entry; readonly reason: "cancelled" | "closed" }
    | undefined;
}

const NOT_TAKEN = [-32600, -32602, -32000, -32002];

export class Story extends Chronicle {
  readonly asks: readonly Ask[];
  readonly runs: readonly RunStory[];
  readonly turns: readonly TurnStory[];
  /** Filled in by `tell`. */
  steers: readonly SteerStory[] = [];

  constructor({ scenario, entries }: Played) {
    super(scenario, entries);
    this.asks = this.of("clientSent").flatMap((sent) => this.askAt(sent));
    this.runs = this.of("agentGot").flatMap((began) => this.runAt(began));
    this.turns = this.tellTurns();
  }

  // --- Sessions -------------------------------------------------------------------------------------------------------

  private closes(sessionId: string): Ask[] {
    return this.asks.filter((ask) => ask.method === "session/close" && ask.sessionId === sessionId);
  }

  /** Somebody may steer in the session, or something runs there. What concerns other sessions is passed on as it is. */
  isKnown(sessionId: string, at: number): boolean {
    return (
      this.turnAt(sessionId, at) !== undefined ||
      this.runAtPlace(sessionId, at) !== undefined ||
      this.scenario.actors.some((_, link) => this.isAttached(link, sessionId, at))
    );
  }

  private isClosed = (ask: Ask): boolean => {
    const [answer] = ask.answers;
    return answer !== undefined && (!answer.message.error || answer.message.error.code === -32002);
  };

  /** `session/close` of a session that is known, and that no other has closed since, is at the agent. */
  isClosing(sessionId: string, at: number): boolean {
    const since = this.closedBefore(sessionId, at);
    return this.closes(sessionId).some(
      ({ sent, answers: [answer] }) =>
        within(sent.at, since, at) && at < (answer?.at ?? NEVER) && this.isKnown(sessionId, sent.at),
    );
  }

  /** The session was closed in the same step as that. */
  isClosedWith(sessionId: string, entry: Entry | undefined): boolean {
    return this.closes(sessionId).some((ask) => this.isClosed(ask) && ask.answers[0]?.step === entry?.step);
  }

  /** Where the session was last closed before that place; -1 where it was not. */
  closedBefore(sessionId: string, at: number): number {
    const closed = this.closes(sessionId).filter((ask) => this.isClosed(ask) && (ask.answers[0] as Answer).at < at);
    return Math.max(-1, ...closed.map(({ answers }) => (answers[0] as Answer).at));
  }

  /** The agent may have closed the session, whatever the client was told. */
  mayBeClosed(sessionId: string): boolean {
    return !this.scenario.closeFails && this.closes(sessionId).length > 0;
  }

  /** The connection may steer: it created, loaded or successfully prompted the session since it was last closed (spec §6). */
  isAttached(link: number, sessionId: string, at: number): boolean {
    if (this.goneAt(link) < at) return false;
    const since = this.closedBefore(sessionId, at);
    const attaching = this.asks.some(
      ({ link: other, method, answers: [answer], message }) =>
        other === link &&
        (method === "session/new" || method === "session/load") &&
        (answer?.message.result?.sessionId ?? message.params.sessionId) === sessionId &&
        !answer?.message.error &&
        within(answer?.at, since, at),
    );
    return (
      attaching ||
      this.runs.some(
        (run) => run.link === link && run.sessionId === sessionId && run.result && run.from > since && run.to < at,
      )
    );
  }

  /** What the agent sends on that connection may be a replay. */
  isLoading(sessionId: string, at: number, link: number): boolean {
    return this.asks.some(
      (ask) =>
        ask.method === "session/load" &&
        ask.sessionId === sessionId &&
        ask.link === link &&
        ask.sent.at < at &&
        at <= (ask.answers[0]?.at ?? NEVER),
    );
  }

  turnAt(sessionId: string, at: number): TurnStory | undefined {
    return this.turns.find((turn) => turn.sessionId === sessionId && turn.from < at && at < turn.to);
  }

  runAtPlace(sessionId: string, at: number): RunStory | undefined {
    const since = this.closedBefore(sessionId, at);
    return this.runs.find((run) => run.sessionId === sessionId && since < run.from && run.from < at && at < run.to);
  }

  turnOfRun(run: RunStory): TurnStory | undefined {
    return this.turns.find(({ runs }) => runs.includes(run));
  }

  /** A run goes on that a client cancelled. */
  isFenced(sessionId: string, at: number): boolean {
    const run = this.runAtPlace(sessionId, at);
    const turn = run && this.turnOfRun(run);
    return turn?.cancelled !== undefined && turn.cancelled.at < at;
  }

  steersOf(turn: TurnStory): SteerStory[] {
    return this.steers.filter((steer) => steer.turn === turn);
  }

  /** A permission of a run of the turn is open. */
  isHeldAt(turn: TurnStory, at: number): boolean {
    if (turn.cancelled && turn.cancelled.at < at) return false;
    return this.of("agentSent").some((asked) => {
      if (asked.message.method !== "session/request_permission" || asked.at >= at) return false;
      const run = turn.runs.find(({ from, to }) => from < asked.at && asked.at < to && at < to);
      return (
        asked.message.params.sessionId === turn.sessionId && run !== undefined && !this.isAnsweredBefore(asked, at)
      );
    });
  }

  /** The client answered it, or the agent took it back. */
  private isAnsweredBefore({ at: from, link, message: { id } }: OfKind<"agentSent">, to: number): boolean {
    return this.of("clientSent", "agentSent").some(
      ({ at, kind, link: other, message }) =>
        from < at &&
        at < to &&
        other === link &&
        (kind === "clientSent"
          ? message.id === id && message.method === undefined
          : message.method === "$/cancel_request" && message.params.requestId === id),
    );
  }

  /** The agent worked in the session on its own since its last turn ended. */
  hasWorkedAlone(sessionId: string, at: number): boolean {
    const ended = this.turns.filter((turn) => turn.sessionId === sessionId && turn.to < at).map(({ to }) => to);
    const since = Math.max(-1, ...ended);
    return this.entries.slice(since + 1, at).some((entry) => this.isSign(entry, sessionId));
  }

  /** Where a prompt had waited for the whole of a further grace behind a run that its client had cancelled (spec §5). */
  stuckAt({ sessionId, to, runs, answer }: TurnStory, { sent }: Ask): number {
    const openTo = Math.max(...runs.map((run) => run.to));
    const since = Math.max(answer?.now ?? NEVER, sent.now);
    const late = this.entries.find(({ at, now }) => at > to && at > sent.at && now > since + GRACE_MS);
    const isWaiting = late && late.at < openTo && this.closedBefore(sessionId, late.at) < to;
    return isWaiting ? late.at : NEVER;
  }

  /** Prompts that wait for their turn at that place. */
  queuedAt(sessionId: string, at: number): Ask[] {
    if (at === NEVER) return [];
    return this.asks.filter((ask) => {
      if (ask.method !== "session/prompt" || ask.sessionId !== sessionId || ask.sent.at >= at) return false;
      if (ask.answers[0] && ask.answers[0].at < at) return false;
      if (this.turns.some((turn) => turn.ask === ask && turn.from < at)) return false;
      return !this.steers.some((steer) => steer.ask === ask) && this.goneAt(ask.link) > at;
    });
  }

  // --- Requests and runs ----------------------------------------------------------------------------------------------

  private askAt(sent: OfKind<"clientSent">): Ask[] {
    const { link, message } = sent;
    const { id, method, params } = message;
    if (id === undefined || method === undefined) return [];
    const answers = this.of("clientGot").filter(
      (got) => got.link === link && got.message.id === id && got.message.method === undefined && got.at > sent.at,
    );
    return [{ link, method, sessionId: params?.sessionId, message, sent, answers, token: tokensOf(params?.prompt)[0] }];
  }

  private runAt(began: OfKind<"agentGot">): RunStory[] {
    const { link, message, at } = began;
    if (message.method !== "session/prompt") return [];
    const { sessionId, prompt, _meta } = message.params;
    const ended = this.entries.find(
      (entry) =>
        entry.at > at &&
        ((entry.kind === "agentSent" &&
          entry.link === link &&
          entry.message.id === message.id &&
          !entry.message.method) ||
          (entry.kind === "agentLeft" && entry.link === link)),
    );
    const answer: Partial<Message> = ended?.kind === "agentSent" ? ended.message : {};
    const error = ended?.kind === "agentLeft" ? { code: -32603 } : answer.error;
    const to = ended?.at ?? NEVER;
    const isContinuation = _meta?.steering?.continuation === true;
    const notTaken = isContinuation && NOT_TAKEN.includes(error?.code) && !this.hasActed(sessionId, at, to);
    const { result } = answer;
    const tokens = tokensOf(prompt);
    return [{ link, sessionId, message, began, ended, from: at, to, result, error, tokens, isContinuation, notTaken }];
  }

  /** The agent sent an update or asked for something. Undefined where all it sent may have been a replay. */
  hasActed(sessionId: string, from: number, to: number): boolean | undefined {
    const signs = this.entries
      .slice(from + 1, Math.min(to, this.entries.length))
      .filter((entry): entry is OfKind<"agentSent"> => this.isSign(entry, sessionId));
    const mayBeReplay = ({ at, link, message }: OfKind<"agentSent">): boolean =>
      message.id === undefined && this.isLoading(sessionId, at, link);
    if (!signs.every(mayBeReplay)) return true;
    return signs.length === 0 ? false : undefined;
  }

  // --- Turns ----------------------------------------------------------------------------------------------------------

  private tellTurns(): TurnStory[] {
    const turns: (TurnStory & { runs: RunStory[] })[] = [];
    for (const run of this.runs) {
      const latest = turns.findLast(({ sessionId }) => sessionId === run.sessionId);
      if (run.isContinuation && latest) latest.runs.push(run);
      else turns.push(...this.turnBegunBy(run));
    }
    return turns;
  }

  private turnBegunBy(run: RunStory): (TurnStory & { runs: RunStory[] })[] {
    const { sessionId, link, from } = run;
    const owner = this.asks.find(
      (ask) => ask.method === "session/prompt" && ask.link === link && ask.message.id === run.message.id,
    );
    const ask = owner ?? this.asks.find(({ method, sent }) => method === STEERING && sent.step === run.began.step);
    if (!ask) return [];
    const answer = owner ? owner.answers[0] : undefined;
    const receipts = this.of("clientGot").filter(({ message }) => message.method === `${STEERING}/update`);
    const started = receipts.find(
      ({ step, message }) => step === run.began.step && message.params.state === "turnStarted",
    );
    const id = started?.message.params.turnId;
    const told = receipts.find(({ message: { params } }) => params.state === "turnEnded" && params.turnId === id);
    const to = (owner ? answer : told)?.at ?? NEVER;
    return [
      {
        sessionId,
        id,
        link,
        ask,
        isOwned: owner !== undefined,
        runs: [run],
        from,
        to,
        answer,
        cancelled: this.cancelOf(run, ask, to),
      },
    ];
  }

  private cancelOf({ sessionId, from, link }: RunStory, ask: Ask, to: number): TurnStory["cancelled"] {
    for (const entry of this.entries.slice(from + 1, Math.min(to, this.entries.length))) {
      const { at } = entry;
      if (entry.kind === "clientLeft" && entry.link === link) return { at, entry, reason: "closed" };
      if (entry.kind !== "clientSent") continue;
      const { method, params } = entry.message;
      if (method === "session/cancel" && params.sessionId === sessionId) return { at, entry, reason: "cancelled" };
      if (
        method === "$/cancel_request" &&
        entry.link === link &&
        params.requestId === ask.message.id &&
        ask.method === "session/prompt"
      )
        return { at, entry, reason: "cancelled" };
    }
    return undefined;
  }

  textOf(ask: Ask): string {
    return ask.message.params.prompt?.[0]?.text ?? "";
  }

  /** A steer of the same connection with the same `clientMessageId` came before it in the turn. */
  isRepeat(ask: Ask, turn: TurnStory): boolean {
    const name = clientMessageIdOf(ask);
    return (
      name !== undefined &&
      this.asks.some(
        (other) =>
          other.link === ask.link &&
          other.sessionId === ask.sessionId &&
          clientMessageIdOf(other) === name &&
          (other === turn.ask || other.sent.at > turn.from) &&
          other.sent.at < ask.sent.at &&
          ["injected", "startedNewTurn"].includes(other.answers[0]?.message.result?.outcome),
      )
    );
  }
}

const clientMessageIdOf = (ask: Ask): string | undefined => ask.message.params?._meta?.steering?.clientMessageId;

const within = (at: number | undefined, from: number, to: number): boolean => at !== undefined && from < at && at < to;
