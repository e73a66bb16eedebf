import type { Verdict } from "@acp-steering/core";
import type { SteerMessage } from "@acp-steering/kit";
import { type JsonRecord, recordOf } from "@acp-steering/kit/adapter";
import { type CodexCalls, CodexRefusal } from "./codex-calls.js";
import { toCodexInput } from "./codex-content.js";
import type { Withdrawal } from "./codex-withdrawal.js";

/**
 * How far a steer has come.
 *
 * - `sent`: Codex has not answered
 * - `pending`: Codex has it, and has not put it into the conversation
 * - `noted`: it stands in the conversation, and the model may not have been asked since
 * - `read`: the model was
 */
type Progress = "sent" | "pending" | "noted" | "read";

interface Steer {
  readonly message: SteerMessage;
  progress: Progress;
  /** Where it was noted. */
  turnId: string;
}

/** Codex answers like this when the turn is another one, none, or of a kind that takes no steers. */
const RACES = /no active turn|expected active turn|cannot steer/i;

/**
 * The steers of one run, and what becomes of each.
 *
 * Codex puts a steer into the conversation between two requests to its model, and gives it back with its name, our
 * message id. What it has not put there when its turn is interrupted, it drops.
 */
export class CodexSteers {
  readonly #calls: CodexCalls;
  readonly #threadId: string;
  readonly #steers = new Map<string, Steer>();
  readonly #inFlight = new Set<Promise<unknown>>();
  #turnId: string | undefined;

  constructor(calls: CodexCalls, threadId: string) {
    this.#calls = calls;
    this.#threadId = threadId;
  }

  /** The steers that stand in the conversation, about which the model was not asked. */
  get unread(): Withdrawal | undefined {
    const noted = [...this.#steers.values()].filter(({ progress }) => progress === "noted");
    const [first] = noted;
    return first && { turnId: first.turnId, clientIds: noted.map(({ message }) => message.messageId) };
  }

  /** The turn that takes steers from now on. */
  enter(turnId: string): void {
    this.#turnId = turnId;
  }

  /** No turn takes steers. Resolves when Codex has answered for those on their way. */
  async leave(): Promise<void> {
    this.#turnId = undefined;
    await Promise.all(this.#inFlight);
  }

  async steer(message: SteerMessage): Promise<Verdict> {
    const expectedTurnId = this.#turnId;
    if (expectedTurnId === undefined) return "tooLate";
    const steer: Steer = { message, progress: "sent", turnId: expectedTurnId };
    this.#steers.set(message.messageId, steer);
    const answer = this.#calls.request("turn/steer", {
      threadId: this.#threadId,
      expectedTurnId,
      input: toCodexInput(message.prompt),
      clientUserMessageId: message.messageId,
    });
    const verdict = answer.then(
      () => this.#taken(steer),
      (error: unknown) => this.#refused(steer, error),
    );
    this.#inFlight.add(verdict);
    void verdict.finally(() => this.#inFlight.delete(verdict));
    return verdict;
  }

  /** Something began in the turn: a message of the user's, or what can only follow from asking the model. */
  itemStarted(item: JsonRecord): void {
    if (item["type"] !== "userMessage") this.markRead();
    else this.#note(item["clientId"]);
  }

  /** The model was asked with all that stands in the conversation. */
  markRead(clientIds: readonly string[] = [...this.#steers.keys()]): void {
    for (const clientId of clientIds) this.#read(this.#steers.get(clientId));
  }

  /** What was unread has been taken out of the conversation. */
  withdrawn({ clientIds }: Withdrawal): void {
    for (const clientId of clientIds) this.#handBack(this.#steers.get(clientId));
  }

  /** The run is over: what stands in the conversation stays there, everything else Codex has dropped. */
  settle(): void {
    this.markRead();
    for (const steer of this.#steers.values()) this.#handBack(steer);
  }

  #taken(steer: Steer): Verdict {
    if (steer.progress === "sent") steer.progress = "pending";
    return steer.progress === "read" ? "delivered" : "accepted";
  }

  #refused({ message }: Steer, error: unknown): Verdict {
    this.#steers.delete(message.messageId);
    const isRace = !(error instanceof CodexRefusal) || RACES.test(error.message) || isNotSteerable(error);
    return isRace ? "tooLate" : "unsupported";
  }

  #handBack(steer: Steer | undefined): void {
    if (steer && this.#steers.delete(steer.message.messageId)) steer.message.undelivered();
  }

  #note(clientId: unknown): void {
    const steer = this.#steers.get(String(clientId));
    if (steer) steer.progress = "noted";
  }

  #read(steer: Steer | undefined): void {
    if (steer?.progress !== "noted") return;
    steer.progress = "read";
    this.#steers.delete(steer.message.messageId);
    steer.message.delivered();
  }
}

/** A review or a compaction runs. */
function isNotSteerable({ data }: CodexRefusal): boolean {
  const { codexErrorInfo } = recordOf(data);
  return "activeTurnNotSteerable" in recordOf(codexErrorInfo ?? data);
}
