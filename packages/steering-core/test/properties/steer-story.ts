/** What became of the messages that are bound to a turn: steers, `/steer` prompts, prompts that joined. */

import { NEVER, STEERING, tokensOf } from "./chronicle.js";
import { type Attempt, attemptsAt } from "./hand-overs.js";
import { type Answer, type Ask, Story, type TurnStory } from "./story.js";
import type { Played } from "./world.js";

/** A message bound to a turn. */
export class SteerStory {
  readonly at: number;
  readonly messageId: string | undefined;
  readonly attempts: readonly Attempt[];
  /** The receipts that tell its end. */
  readonly receipts: readonly Answer[];
  /** Another connection than its sender's got one. */
  readonly isToldToOthers: boolean;
  readonly isHandedOver: boolean;
  /** It was certainly not handed over. */
  readonly isKept: boolean;
  private readonly story: Story;
  readonly ask: Ask;
  readonly token: string;
  readonly turn: TurnStory;

  constructor(story: Story, ask: Ask, token: string, turn: TurnStory) {
    this.story = story;
    this.ask = ask;
    this.token = token;
    this.turn = turn;
    this.at = ask.sent.at;
    this.attempts = attemptsAt(story, token, turn, this.at);
    this.messageId = ask.answers[0]?.message.result?._meta?.steering?.messageId ?? this.findMessageId();
    const told = story
      .of("clientGot")
      .filter(
        ({ message: { params } }) =>
          this.messageId !== undefined &&
          params?.messageId === this.messageId &&
          ["delivered", "undelivered"].includes(params.state),
      );
    this.receipts = told.filter(({ link }) => link === ask.link);
    this.isToldToOthers = told.length > this.receipts.length;
    this.isHandedOver = this.attempts.some(({ status }) => status === "handedOver");
    this.isKept = this.attempts.every(({ status }) => status === "failed");
  }

  /** It came as a prompt and gets the answer of the turn. */
  get joined(): boolean {
    return this.ask.method !== STEERING && !this.story.textOf(this.ask).startsWith("/");
  }

  /** What it said, as it is to come back. */
  get content(): readonly { readonly type: string; readonly text?: string }[] {
    const isCommand = this.ask.method !== STEERING && !this.joined;
    return isCommand ? [{ type: "text", text: this.token }] : this.ask.message.params.prompt;
  }

  /** How often the owner's answer lists it as undelivered. */
  get listed(): number {
    const message = this.turn.answer?.message;
    const report = message?.result?._meta?.steering ?? message?.error?.data?.steering;
    const undelivered: { messageId: string }[] = report?.undelivered ?? [];
    return undelivered.filter(({ messageId }) => messageId === this.messageId).length;
  }

  /** Its sender asked for receipts, may steer, and was there to the end of the turn. */
  get isHeardOf(): boolean {
    const { story, ask, turn, at, messageId } = this;
    return (
      messageId !== undefined &&
      story.wants(ask.link, "receipts") &&
      story.isAttached(ask.link, turn.sessionId, at) &&
      story.goneAt(ask.link) > turn.to &&
      story.closedBefore(turn.sessionId, turn.to) < turn.from
    );
  }

  /** Where a revoke of it was granted, or infinity. */
  get revokedAt(): number {
    return this.revokes.find(({ answers: [answer] }) => answer?.message.result)?.answers[0]?.at ?? NEVER;
  }

  /** Its sender's requests to take it back. */
  get revokes(): readonly Ask[] {
    return this.story.asks.filter(
      ({ method, link, message }) =>
        method === `${STEERING}/revoke` &&
        link === this.ask.link &&
        this.messageId !== undefined &&
        message.params.messageId === this.messageId,
    );
  }

  /** Handed over at that place, as far as was known there. */
  isGivenAt(at: number): boolean {
    return this.attempts.some((attempt) => attempt.at < at && attempt.failedAt > at);
  }

  /** At that place it had come, and was neither handed over nor at an end. */
  isPendingAt(at: number): boolean {
    if (this.at >= at || this.revokedAt < at || this.receipts.some((receipt) => receipt.at < at)) return false;
    return !this.isGivenAt(at);
  }

  /** The driver has it and has not said what it does with it. */
  awaitsVerdictAt(at: number): boolean {
    return this.attempts.some(({ road, at: from, verdictAt }) => road === "injected" && from < at && at < verdictAt);
  }

  /** At the driver without a verdict, or accepted without a report. */
  isWithDriverAt(at: number): boolean {
    const isAccepted = this.attempts.some(
      ({ road, at: from, failedAt, runTo }) => road === "injected" && from < at && at < Math.min(failedAt, runTo),
    );
    return this.awaitsVerdictAt(at) || (isAccepted && !this.isToldBefore(at));
  }

  isUnsureAt(at: number): boolean {
    return this.attempts.some((attempt) => attempt.at < at && attempt.status === "either");
  }

  /** It still had to be handed over when that attempt at a later one was made. */
  isPassedBy(later: SteerStory, { at, entry }: Attempt): boolean {
    const isOver = this.receipts.some((receipt) => receipt.at < at || receipt.step === entry.step);
    if (isOver || this.revokedAt < at) return false;
    const words = tokensOf(entry);
    if (this.attempts.some((other) => other.entry === entry))
      return words.indexOf(this.token) > words.indexOf(later.token);
    const latest = this.attempts.findLast((other) => other.at < at);
    return !latest || latest.verdictAt > at || latest.failedAt < at;
  }

  private isToldBefore(at: number): boolean {
    return this.story
      .of("reported", "verdict")
      .some(
        (entry) =>
          entry.messageId === this.messageId &&
          entry.at < at &&
          (entry.kind === "reported" || entry.verdict === "delivered"),
      );
  }

  /** The id of a steer whose request was not told it: from whoever was. */
  private findMessageId(): string | undefined {
    const { story, token, turn } = this;
    for (const entry of story.entries) {
      if (entry.kind === "injected" && tokensOf(entry.text).includes(token)) return entry.messageId;
      const taken = entry.kind === "took" && entry.steers.find(({ prompt }) => tokensOf(prompt).includes(token));
      if (taken) return taken.messageId;
      const receipt = entry.kind === "clientGot" ? entry.message.params : undefined;
      if (receipt?.messageId && tokensOf(receipt.prompt).includes(token)) return receipt.messageId;
    }
    const run = turn.runs.find(({ isContinuation, tokens }) => isContinuation && tokens.includes(token));
    const restated = turn.runs[0]?.tokens ?? [];
    const index = run?.tokens.filter((word) => !restated.includes(word)).indexOf(token) ?? -1;
    return run?.message.params._meta.steering.messageIds[index];
  }
}

function isBinding(story: Story, ask: Ask, turn: TurnStory): boolean {
  const [answer] = ask.answers;
  const { at, step } = ask.sent;
  if (ask.method === STEERING) return answer?.message.result?.outcome === "injected" && !story.isRepeat(ask, turn);
  if (ask.method !== "session/prompt" || (turn.cancelled && turn.cancelled.at < at)) return false;
  if (!story.isAttached(ask.link, turn.sessionId, at)) return false;
  if (story.isClosing(turn.sessionId, at) || (answer?.step === step && answer.message.error)) return false;
  const text = story.textOf(ask);
  return text.startsWith("/steer") || (!text.startsWith("/queue") && story.scenario.whenBusy === "steer");
}

/** The history of what was played, in the words of the contract. */
export function tell(played: Played): Story {
  const story = new Story(played);
  story.steers = story.asks.flatMap((ask) => {
    const turn = ask.sessionId === undefined ? undefined : story.turnAt(ask.sessionId, ask.sent.at);
    if (!turn || ask.token === undefined || !isBinding(story, ask, turn)) return [];
    return [new SteerStory(story, ask, ask.token, turn)];
  });
  return story;
}
