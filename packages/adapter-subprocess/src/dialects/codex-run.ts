import type { Verdict } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, type Log, numberOf, recordOf, SteerGate, textOf } from "@acp-steering/kit/adapter";
import type { CodexAgents } from "./codex-agents.js";
import { type CodexCalls, CodexRefusal } from "./codex-calls.js";
import { endCommands } from "./codex-commands.js";
import { CodexQuestions } from "./codex-questions.js";
import type { Beginning } from "./codex-slash.js";
import { CodexSteers } from "./codex-steers.js";
import type { CodexUpdates } from "./codex-updates.js";
import { withdraw } from "./codex-withdrawal.js";

export interface CodexRunOptions {
  readonly calls: CodexCalls;
  readonly threadId: string;
  readonly turn: Turn;
  readonly updates: CodexUpdates;
  readonly agents: CodexAgents;
  readonly beginning: Beginning;
  readonly log: Log;
  /** The thread's token count so far. */
  readonly tokensBefore: JsonRecord;
}

/**
 * One prompt in Codex: one turn of Codex', or several.
 *
 * A steer that comes with the very end of a turn is put into the conversation, but the model is not asked again. A
 * turn without input asks it; so what Codex has accepted is answered within the same prompt.
 */
export class CodexRun {
  readonly #options: CodexRunOptions;
  readonly #steers: CodexSteers;
  readonly #gate: SteerGate;
  readonly #questions: CodexQuestions;
  #turnId: string | undefined;
  /** Codex has said that the turn runs: from then on it can be interrupted. */
  #running = false;
  #interrupted = false;
  #tokens: JsonRecord;
  #ended: (turn: JsonRecord) => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(options: CodexRunOptions) {
    const { calls, threadId, turn, tokensBefore } = options;
    this.#options = options;
    this.#steers = new CodexSteers(calls, threadId);
    this.#gate = new SteerGate((message) => this.#steers.steer(message));
    this.#questions = new CodexQuestions(turn);
    this.#tokens = tokensBefore;
  }

  /** Resolves when Codex has settled and what became of every steer has been said. Rejects with Codex' failure. */
  async settled(): Promise<TurnOutcome> {
    const { beginning } = this.#options;
    try {
      let ended = await this.#play(beginning);
      while (ended["status"] === "completed" && this.#steers.unread && !this.#interrupted) {
        ended = await this.#askAgain();
      }
      if (ended["status"] !== "completed" || this.#interrupted) await this.#withdrawUnread();
      return this.#outcomeOf(ended);
    } finally {
      this.#gate.close();
      this.#questions.end();
      await this.#steers.leave();
      this.#steers.settle();
      if (this.#interrupted) await this.#endWork();
      this.#options.updates.end(this.#interrupted ? "failed" : "completed");
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#gate.steer(message);
  }

  interrupt(): void {
    this.#interrupted = true;
    this.#gate.close();
    // Before its turn runs, Codex has nothing to interrupt, and starts it all the same.
    if (this.#running) void this.#request("turn/interrupt", { turnId: this.#turnId }).catch(() => {});
  }

  notified(method: string, params: JsonRecord): void {
    if (params["turnId"] === this.#turnId && this.#turnId !== undefined) this.#runs();
    switch (method) {
      case "turn/started":
        this.#started(recordOf(params["turn"]));
        break;
      case "turn/completed":
        this.#completed(recordOf(params["turn"]));
        break;
      case "item/started":
        this.#steers.itemStarted(recordOf(params["item"]));
        break;
      case "thread/tokenUsage/updated":
        this.#tokens = recordOf(recordOf(params["tokenUsage"])["total"]);
        break;
      case "serverRequest/resolved":
        this.#questions.resolved(params["requestId"]);
        break;
    }
  }

  asked(id: unknown, method: string, params: JsonRecord): Promise<JsonRecord | undefined> {
    return this.#questions.ask(id, method, params);
  }

  /** The child is gone. */
  lost(error: Error): void {
    this.#fail(error);
  }

  /** One turn of Codex', to its end. */
  async #play({ method, params }: Beginning): Promise<JsonRecord> {
    this.#turnId = undefined;
    const end = new Promise<JsonRecord>((resolve, reject) => {
      this.#ended = resolve;
      this.#fail = reject;
    });
    const answered = ({ turn }: JsonRecord): void => this.#entered(textOf(recordOf(turn)["id"]));
    this.#request(method, params, answered).catch((error: unknown) => this.#fail(promptRefused(error)));
    return end;
  }

  /** The model may have nothing to say to it, but it was asked. */
  async #askAgain(): Promise<JsonRecord> {
    const before = this.#steers.unread?.clientIds ?? [];
    const ended = await this.#play({ method: "turn/start", params: { input: [] } });
    if (ended["status"] === "completed") this.#steers.markRead(before);
    return ended;
  }

  /** A steer that nobody has read would come up in a later turn. */
  async #withdrawUnread(): Promise<void> {
    const { unread } = this.#steers;
    if (!unread) return;
    const { calls, threadId, log } = this.#options;
    try {
      await withdraw(calls, threadId, unread);
      this.#steers.withdrawn(unread);
    } catch (error) {
      log(`a steer that nobody has read stays in the conversation: ${(error as Error).message}`);
    }
  }

  #entered(turnId: string): void {
    // The answer to a compaction does not name its turn; a review starts one more inside of its own.
    if (turnId === "" || this.#turnId !== undefined) return;
    this.#turnId = turnId;
    this.#steers.enter(turnId);
  }

  #started({ id }: JsonRecord): void {
    this.#entered(textOf(id));
    if (id === this.#turnId) this.#runs();
  }

  /** A review does not say that it starts: its first item does. */
  #runs(): void {
    if (this.#running) return;
    this.#running = true;
    if (this.#interrupted) this.interrupt();
    else this.#gate.open();
  }

  #completed(turn: JsonRecord): void {
    if (textOf(turn["id"]) !== this.#turnId) return;
    this.#running = false;
    void this.#steers.leave().then(() => this.#ended(turn));
  }

  #outcomeOf(ended: JsonRecord): TurnOutcome {
    const usage = this.#usage();
    if (this.#interrupted || ended["status"] === "interrupted") return { stopReason: "cancelled", ...usage };
    if (ended["status"] === "failed") throw turnFailed(recordOf(ended["error"]));
    return { stopReason: "end_turn", ...usage };
  }

  #usage(): Pick<TurnOutcome, "usage"> {
    const since = (name: string): number => numberOf(this.#tokens[name]) - numberOf(this.#options.tokensBefore[name]);
    const totalTokens = since("totalTokens");
    if (totalTokens <= 0) return {};
    const usage = {
      inputTokens: since("inputTokens") - since("cachedInputTokens"),
      outputTokens: since("outputTokens"),
      cachedReadTokens: since("cachedInputTokens"),
      thoughtTokens: since("reasoningOutputTokens"),
      totalTokens,
    };
    return { usage };
  }

  /** An interrupt leaves running commands running, and agents that Codex has started. */
  async #endWork(): Promise<void> {
    const { calls, threadId, updates, agents } = this.#options;
    await Promise.all([endCommands(calls, threadId, updates.openTools), agents.interrupt()]);
  }

  #request(method: string, params: JsonRecord, answered?: (result: JsonRecord) => void): Promise<JsonRecord> {
    return this.#options.calls.request(method, { ...params, threadId: this.#options.threadId }, answered);
  }
}

function promptRefused(error: unknown): unknown {
  if (!(error instanceof CodexRefusal)) return error;
  return new VendorError(`Codex did not take the prompt: ${error.message}. Change it and send it again.`, {
    data: { reason: "promptRefused" },
    cause: error,
  });
}

function turnFailed({ message, additionalDetails, codexErrorInfo }: JsonRecord): VendorError {
  const said = [textOf(message) || "it gave no reason", textOf(additionalDetails)].filter(Boolean).join(" ");
  const [next, code] =
    codexErrorInfo === "unauthorized"
      ? ["Sign in with `codex login` in a terminal", CODE.authRequired]
      : ["Send the prompt again, or choose another model", CODE.internalError];
  return new VendorError(`Codex failed: ${said.replace(/[.!]$/, "")}. ${next}.`, {
    code,
    data: { reason: "modelFailed", codexErrorInfo },
  });
}
