import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";

import { type PiCommands, PiRefusal } from "./pi-commands.js";
import { toPiMessage } from "./pi-content.js";
import { listOfTexts, type PiState, plainText, readMessage, readState } from "./pi-records.js";
import { PiSteers } from "./pi-steers.js";
import type { PiUpdates } from "./pi-updates.js";

/**
 * Where Pi stands in a run. Its `agent_end` is not the end: a retry, a compaction or a queued message may follow, which
 * it announces at once. So `ended` asks for Pi's state and believes in the end only when nothing came in between.
 *
 * - `waitingForPi`: Pi still does what an extension made it do by itself; the prompt is not sent yet
 * - `starting`: the prompt was sent, Pi's loop has not begun
 * - `running`: between `agent_start` and `agent_end`
 * - `waiting`: Pi said that it will go on by itself (retry, compaction)
 * - `ended`: Pi said that it is done; its state decides
 * - `settled`: it is
 */
type Phase = "waitingForPi" | "starting" | "running" | "waiting" | "ended" | "settled";

/** Pi's state can lag behind its events by a moment. */
const STATE_POLL_MS = 50;
/** Pi goes on 100 ms after a compaction, or not at all when there is nothing to go on with. */
const RESUME_POLL_MS = 1_000;

export interface PiRunOptions {
  readonly commands: PiCommands;
  readonly turn: Turn;
  readonly updates: PiUpdates;
  /** Pi's state as it is now. */
  readonly readState: () => Promise<PiState>;
}

/** One prompt in Pi, until Pi has settled. */
export class PiRun {
  readonly #commands: PiCommands;
  readonly #turn: Turn;
  readonly #readState: () => Promise<PiState>;
  readonly #steers: PiSteers;
  readonly #updates: PiUpdates;
  #phase: Phase = "waitingForPi";
  /** Pi's messages before the prompt, and those since of which it has told. */
  #messagesKnown = 0;
  #accepted = false;
  #promptSeen = false;
  #interrupted = false;
  /** Counts Pi's events: an answer about its state is worth something only if none came since the question. */
  #events = 0;
  #poll: NodeJS.Timeout | undefined;
  #settle: () => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor({ commands, turn, updates, readState }: PiRunOptions) {
    this.#commands = commands;
    this.#turn = turn;
    this.#readState = readState;
    this.#steers = new PiSteers(commands);
    this.#updates = updates;
  }

  /** True when Pi still holds steers that it would use in its next run. */
  get leftovers(): boolean {
    return this.#steers.pending;
  }

  /** How many of those stand at the end of Pi's history, unread. */
  get strays(): number {
    return this.#steers.strays;
  }

  /** Resolves when Pi has settled and has answered for every steer. Rejects with Pi's refusal of the prompt. */
  async settled(): Promise<void> {
    const end = new Promise<void>((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    this.#begin().catch(this.#fail);
    try {
      await end;
    } finally {
      this.#phase = "settled";
      clearTimeout(this.#poll);
      await this.#steers.close();
      this.#updates.end();
    }
  }

  /** The run's answer, once settled. @throws VendorError when the model failed. */
  outcome(): TurnOutcome {
    const { lastReply, usage } = this.#updates;
    const counted = usage ? { usage } : {};
    if (this.#interrupted || lastReply?.stopReason === "aborted") return { stopReason: "cancelled", ...counted };
    if (lastReply?.stopReason === "error") throw modelFailed(lastReply.errorMessage);
    return { stopReason: lastReply?.stopReason === "length" ? "max_tokens" : "end_turn", ...counted };
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#steers.steer(message);
  }

  handBackLeftovers(): void {
    this.#steers.handBack();
  }

  interrupt(): void {
    if (this.#phase === "settled") return;
    this.#interrupted = true;
    const isTaking = this.#steers.isTaking;
    const closed = this.#steers.close();
    if (this.#phase === "waitingForPi") return;
    abort(this.#commands);
    // A steer that Pi takes only after the abort would begin a run of its own.
    if (isTaking) void closed.then(() => this.#phase !== "settled" && abort(this.#commands));
  }

  ended(error: Error): void {
    this.#fail(error);
  }

  event(event: JsonRecord): void {
    this.#events += 1;
    this.#updates.event(event);
    if (this.#phase !== "waitingForPi") this.#follow(event);
  }

  #follow(event: JsonRecord): void {
    switch (event["type"]) {
      case "agent_start":
        this.#started();
        break;
      case "agent_end":
        this.#enter("ended");
        break;
      case "agent_settled":
        if (this.#phase !== "starting") this.#enter("ended");
        break;
      case "auto_retry_start":
      case "compaction_start":
        if (this.#phase !== "starting") this.#enter("waiting");
        break;
      case "auto_retry_end":
        if (event["success"] === false) this.#enter("ended");
        break;
      case "compaction_end":
        this.#compacted(event["willRetry"] === true);
        break;
      case "queue_update":
        this.#steers.queueChanged(listOfTexts(event["steering"]));
        break;
      case "message_start":
        this.#messageStarted(event["message"]);
        break;
      case "message_end":
        this.#messagesKnown += 1;
        break;
    }
  }

  async #begin(): Promise<void> {
    const state = await this.#readState();
    if (this.#phase === "settled") return;
    if (isBusy(state)) {
      if (this.#interrupted) abort(this.#commands);
      return this.#beginLater();
    }
    if (this.#interrupted) return this.#settle();
    this.#messagesKnown = state.messageCount;
    this.#updates.contextWindow = state.contextWindow;
    this.#updates.begin();
    this.#phase = "starting";
    this.#sendPrompt();
  }

  #beginLater(): void {
    this.#poll = setTimeout(() => void this.#begin().catch(this.#fail), STATE_POLL_MS);
  }

  #sendPrompt(): void {
    // The behaviour counts only where an extension has begun a run of its own; Pi would refuse the prompt there.
    const prompt = { ...toPiMessage(this.#turn.prompt), streamingBehavior: "followUp" };
    this.#commands.send("prompt", prompt).then(
      () => this.#promptAccepted(),
      (error: unknown) => this.#fail(promptRefused(error)),
    );
  }

  #promptAccepted(): void {
    this.#accepted = true;
    // An extension may have dealt with the prompt without any run.
    if (this.#phase === "starting") void this.#askWhetherSettled();
  }

  #started(): void {
    this.#enter("running");
    // A cancel can come before Pi's loop, where it finds nothing to abort, or between two attempts.
    if (this.#interrupted) abort(this.#commands);
    else this.#steers.open();
  }

  #compacted(willRetry: boolean): void {
    if (this.#phase !== "waiting") return;
    if (willRetry || this.#steers.pending) this.#askLater(RESUME_POLL_MS);
    else this.#enter("ended");
  }

  #messageStarted(value: unknown): void {
    const message = readMessage(value);
    if (message.role !== "user") return;
    if (this.#promptSeen) this.#steers.userMessage(plainText(message));
    this.#promptSeen = true;
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    clearTimeout(this.#poll);
    if (phase === "ended") void this.#askWhetherSettled();
  }

  #askLater(milliseconds: number): void {
    clearTimeout(this.#poll);
    this.#poll = setTimeout(() => void this.#askWhetherSettled(), milliseconds);
  }

  async #askWhetherSettled(): Promise<void> {
    const events = this.#events;
    // The child's end is reported to the run by itself.
    const answer = await this.#commands.send("get_state").catch(() => undefined);
    if (answer === undefined || this.#phase === "settled") return;
    const state = readState(answer);
    if (events !== this.#events) this.#askAgainUnlessRunning();
    else if (this.#isSettled(state)) this.#settle();
    else this.#askLater(STATE_POLL_MS);
  }

  #askAgainUnlessRunning(): void {
    if (this.#phase === "ended" || this.#phase === "starting") this.#askLater(STATE_POLL_MS);
  }

  #isSettled(state: PiState): boolean {
    if (isBusy(state)) return false;
    // Events that an extension holds up come after the state they tell of: a message that we have not heard of is on its way.
    return this.#phase !== "starting" || (this.#accepted && state.messageCount === this.#messagesKnown);
  }
}

/** Stops Pi. Where it can, it forgets its queue before: what waits there would begin the next run. */
export function abort(commands: PiCommands): void {
  // Pi 0.73 does not know the first; the second answers when Pi is idle, and its events say the same.
  for (const command of ["clear_queue", "abort"]) commands.send(command).catch(() => {});
}

function isBusy({ isStreaming, isCompacting }: PiState): boolean {
  return isStreaming || isCompacting;
}

function promptRefused(error: unknown): unknown {
  if (!(error instanceof PiRefusal)) return error;
  const next = "Where it lacks a model or a key, run `pi` in a terminal once and set it up there.";
  return new VendorError(`Pi did not take the prompt: ${error.message.trim()}\n${next}`, {
    data: { reason: "promptRefused" },
    cause: error,
  });
}

function modelFailed(errorMessage = "it gave no reason"): VendorError {
  return new VendorError(
    `Pi's model failed: ${errorMessage}. Pi has tried as often as its settings say; send the prompt again, or choose another model in Pi.`,
    { data: { reason: "modelFailed" } },
  );
}
