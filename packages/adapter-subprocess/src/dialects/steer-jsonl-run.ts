import type { Verdict } from "@acp-steering/core";
import type { PermissionQuestion, SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, numberOf, textOf } from "@acp-steering/kit/adapter";
import type { Channel } from "../dialect.js";
import { toPlainMessage } from "./plain-message.js";
import type { Hello } from "./steer-jsonl-hello.js";
import { SteerJsonlUpdates } from "./steer-jsonl-updates.js";

type StopReason = TurnOutcome["stopReason"];
type PermissionOption = PermissionQuestion["options"][number];

const STOP_REASONS: readonly StopReason[] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"];
const OPTION_KINDS: readonly PermissionOption["kind"][] = [
  "allow_once",
  "allow_always",
  "reject_once",
  "reject_always",
];
const YES_OR_NO: readonly PermissionOption[] = [
  { optionId: "allow", name: "Allow", kind: "allow_once" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/**
 * One prompt of an agent, until its `done` or `error`.
 *
 * A steer is accepted once it is written. The order of the lines settles every race: what the agent has not called
 * `delivered` when it says `done`, it has not used and will not, since an agent drops the steers that it reads while idle.
 */
export class SteerJsonlRun {
  readonly #channel: Channel;
  readonly #hello: Hello;
  readonly #turn: Turn;
  readonly #updates: SteerJsonlUpdates;
  readonly #steers = new Map<string, SteerMessage>();
  readonly #questions = new AbortController();
  readonly #end: Promise<TurnOutcome>;
  #resolve: (outcome: TurnOutcome) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #takesSteers = true;
  #interrupted = false;

  constructor(channel: Channel, hello: Hello, turn: Turn) {
    this.#channel = channel;
    this.#hello = hello;
    this.#turn = turn;
    this.#updates = new SteerJsonlUpdates(turn.update, channel.cwd);
    this.#end = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Resolves when the agent is done, and what became of every steer has been said. Rejects when it fails. */
  async settled(): Promise<TurnOutcome> {
    this.#send("prompt", this.#messageOf(this.#turn.prompt));
    try {
      const outcome = await this.#end;
      this.#updates.end(outcome.stopReason === "cancelled" ? "failed" : "completed");
      return outcome;
    } catch (error) {
      this.#updates.end("failed");
      throw error;
    }
  }

  steer(message: SteerMessage): Verdict {
    if (!this.#takesSteers) return "tooLate";
    const id = message.messageId;
    this.#steers.set(id, message);
    this.#send("steer", { id, ...this.#messageOf(message.prompt) });
    return "accepted";
  }

  interrupt(): void {
    if (this.#interrupted) return;
    this.#interrupted = true;
    this.#takesSteers = false;
    this.#send("interrupt", {});
  }

  receive(record: JsonRecord): void {
    this.#updates.show(record);
    switch (record["type"]) {
      case "delivered":
        this.#takeSteer(record)?.delivered();
        break;
      case "undelivered":
        this.#takeSteer(record)?.undelivered();
        break;
      case "ask":
        void this.#ask(record);
        break;
      case "done":
        this.#finish();
        this.#resolve(this.#outcomeOf(record));
        break;
      case "error":
        this.ended(this.#failure(textOf(record["message"])));
        break;
    }
  }

  /** The run is over without `done`. */
  ended(error: Error): void {
    this.#finish();
    this.#reject(error);
  }

  #finish(): void {
    this.#takesSteers = false;
    this.#questions.abort();
    for (const message of this.#steers.values()) message.undelivered();
    this.#steers.clear();
  }

  #takeSteer({ id }: JsonRecord): SteerMessage | undefined {
    const message = this.#steers.get(textOf(id));
    this.#steers.delete(textOf(id));
    return message;
  }

  async #ask(record: JsonRecord): Promise<void> {
    const id = textOf(record["id"]);
    const options = listOf(record["options"]).filter(isRecord).map(toOption);
    const question: PermissionQuestion = {
      toolCall: this.#updates.announce(textOf(record["tool"]) || id, record),
      options: options.length > 0 ? options : [...YES_OR_NO],
    };
    const option = await this.#choose(question);
    if (!this.#questions.signal.aborted) this.#send("answer", { id, option });
  }

  /** The option's id; `null` where the user did not choose: the turn was cancelled, or the client has no such question. */
  async #choose(question: PermissionQuestion): Promise<string | null> {
    try {
      const { outcome } = await this.#turn.requestPermission(question, this.#questions.signal);
      return outcome.outcome === "selected" ? outcome.optionId : null;
    } catch {
      return null;
    }
  }

  #messageOf(prompt: Turn["prompt"]): JsonRecord {
    const { text, images } = toPlainMessage(prompt);
    return { ...(this.#hello.images && images.length > 0 && { images }), text };
  }

  #outcomeOf(record: JsonRecord): TurnOutcome {
    const stopReason = STOP_REASONS.find((known) => known === record["stopReason"]);
    const usage = isRecord(record["usage"]) ? { usage: toUsage(record["usage"]) } : {};
    return { stopReason: stopReason ?? (this.#interrupted ? "cancelled" : "end_turn"), ...usage };
  }

  #failure(message: string): VendorError {
    return new VendorError(
      `${this.#hello.name} failed: ${message || "it gave no reason"}. Send the prompt again, or look at what the agent needs.`,
      { data: { reason: "agentFailed" } },
    );
  }

  /** The type is always the first member and the text the last: a script can cut a line without a JSON parser. */
  #send(type: string, fields: JsonRecord): void {
    void this.#channel.send({ type, ...fields });
  }
}

function toOption({ id, label, kind }: JsonRecord): PermissionOption {
  return {
    optionId: textOf(id),
    name: textOf(label) || textOf(id),
    kind: OPTION_KINDS.find((known) => known === kind) ?? "allow_once",
  };
}

function toUsage(usage: JsonRecord): NonNullable<TurnOutcome["usage"]> {
  const [inputTokens, outputTokens] = [numberOf(usage["inputTokens"]), numberOf(usage["outputTokens"])];
  const [cachedReadTokens, cachedWriteTokens] = [
    numberOf(usage["cachedReadTokens"]),
    numberOf(usage["cachedWriteTokens"]),
  ];
  const sum = inputTokens + outputTokens + cachedReadTokens + cachedWriteTokens;
  return {
    inputTokens,
    outputTokens,
    cachedReadTokens,
    cachedWriteTokens,
    totalTokens: numberOf(usage["totalTokens"]) || sum,
  };
}
