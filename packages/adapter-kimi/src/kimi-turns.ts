import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { whenStuck } from "@acp-steering/kit/adapter";
import { toKimiParts } from "./kimi-content.js";
import type { KimiConversation, KimiEvent, KimiMessage } from "./kimi-conversation.js";
import { newMessageId } from "./kimi-message.js";
import { outcomeOf } from "./kimi-outcome.js";
import { KimiRun } from "./kimi-run.js";
import { KimiUpdates } from "./kimi-updates.js";
import { ToolIds } from "./tool-ids.js";

export interface KimiTurnsOptions {
  /** The session's folder, absolute. */
  readonly cwd: string;
  readonly toolIds?: ToolIds;
}

/** What one prompt runs in. */
export interface KimiTurnPlace {
  readonly conversation: KimiConversation;
  /** What the turn's prompt starts in place of a message. */
  readonly skill?: KimiMessage["skill"] & {};
  /** Sees every event of the run, before it is shown. */
  observe?(event: KimiEvent, updates: KimiUpdates): void;
  /** The run's events are being listened to. */
  begun?(updates: KimiUpdates): void;
  /** Kimi does not react to a cancel. */
  stuck?(): void;
}

/**
 * Prompting, steering and interrupting of one session, over any {@link KimiConversation}.
 *
 * @example
 * ```ts
 * const turns = new KimiTurns({ cwd });
 * const session = {
 *   id,
 *   prompt: (turn) => turns.prompt(turn, () => ({ conversation })),
 *   steer: (message) => turns.steer(message),
 *   interrupt: () => turns.interrupt(),
 * };
 * ```
 */
export class KimiTurns {
  readonly #cwd: string;
  readonly #toolIds: ToolIds;
  #run: Promise<KimiRun> | undefined;
  #running: KimiRun | undefined;

  constructor({ cwd, toolIds = new ToolIds() }: KimiTurnsOptions) {
    this.#cwd = cwd;
    this.#toolIds = toolIds;
  }

  /**
   * Runs one prompt to the end of everything that Kimi makes of it.
   *
   * @param open gives the conversation; it may take its time, steers wait for it
   * @throws VendorError where Kimi failed; what `open` throws
   */
  async prompt(turn: Turn, open: () => KimiTurnPlace | Promise<KimiTurnPlace>): Promise<TurnOutcome> {
    const opened = Promise.resolve().then(open);
    this.#run = opened.then(({ conversation, skill }) => {
      const prompt = { id: newMessageId(), content: toKimiParts(turn.prompt), ...(skill && { skill }) };
      return new KimiRun({ conversation, prompt, toParts: toKimiParts });
    });
    // A steer that waits for it learns of the failure too.
    this.#run.catch(() => {});
    try {
      const run = await this.#run;
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      return await this.#settle(run, turn, await opened);
    } finally {
      this.#run = undefined;
      this.#running = undefined;
    }
  }

  async steer(message: SteerMessage): Promise<Verdict> {
    const run = await this.#run?.catch(() => undefined);
    return run && !message.signal.aborted ? run.steer(message) : "tooLate";
  }

  /** True while Kimi works at a prompt. */
  get running(): boolean {
    return this.#running !== undefined;
  }

  /**
   * Resolves when no steer is on its way to Kimi. What Kimi is told before that, such as that it may go on, could make it
   * miss one.
   */
  async steersGiven(): Promise<void> {
    await this.#running?.steersGiven();
  }

  interrupt(): void {
    this.#running?.interrupt();
  }

  /** Kimi is gone: what runs ends with this error. */
  lost(error: Error): void {
    this.#running?.lost(error);
  }

  async #settle(run: KimiRun, turn: Turn, place: KimiTurnPlace): Promise<TurnOutcome> {
    const updates = new KimiUpdates({ send: (update) => turn.update(update), cwd: this.#cwd, toolIds: this.#toolIds });
    const stop = place.conversation.onEvent((event) => {
      if (run.failed) return;
      place.observe?.(event, updates);
      updates.event(event);
    });
    const watch = whenStuck(turn.signal, () => void place.stuck?.());
    this.#running = run;
    try {
      const settled = run.settled();
      place.begun?.(updates);
      return outcomeOf(await settled, updates);
    } finally {
      stop();
      watch.end();
      updates.end();
    }
  }
}
