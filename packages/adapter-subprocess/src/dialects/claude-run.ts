import { randomUUID } from "node:crypto";
import type { Verdict } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, listOf, numberOf, recordOf, SteerGate, textOf } from "@acp-steering/kit/adapter";
import type { ClaudeControl } from "./claude-control.js";
import { ClaudeSteers, type Lifecycle, userMessage } from "./claude-steers.js";
import type { ClaudeUpdates } from "./claude-updates.js";

export interface ClaudeRunOptions {
  readonly control: ClaudeControl;
  readonly turn: Turn;
  readonly updates: ClaudeUpdates;
}

/** Tells of each message when it is queued, read and done with. */
const NEEDED = "msg_lifecycle_v1";

/**
 * One prompt in Claude Code: one turn of Claude Code's, or several.
 *
 * A steer that breaks off what the model says ends a turn and begins the next; one that comes with the end of a turn
 * begins one too. All of them are turns of this prompt, which is over when Claude Code is done with each message of it.
 */
export class ClaudeRun {
  readonly #options: ClaudeRunOptions;
  readonly #steers: ClaudeSteers;
  readonly #gate: SteerGate;
  readonly #promptId = randomUUID();
  /** The last message of the conversation that the model has answered to, or that is an answer. */
  #lastId: string = this.#promptId;
  #promptDone = false;
  #interrupted = false;
  #result: JsonRecord = {};
  #usage: JsonRecord[] = [];
  #settle: () => void = () => {};
  #fail: (error: unknown) => void = () => {};

  constructor(options: ClaudeRunOptions) {
    const { control, updates } = options;
    this.#options = options;
    this.#steers = new ClaudeSteers((record) => void control.send(record));
    this.#gate = new SteerGate((message) => this.#steers.steer(message, updates.isAtWork ? "next" : "now"));
  }

  /** The message behind which the conversation holds a steer that nobody has read, and nothing else. */
  get withdrawal(): string | undefined {
    return this.#steers.unread ? this.#lastId : undefined;
  }

  /** What nobody has read is handed back. Only when it is out of the conversation. */
  handBack(): void {
    this.#steers.settle();
  }

  /** Resolves when Claude Code is done with the prompt and with every steer. Rejects with its failure. */
  async settled(): Promise<TurnOutcome> {
    const { control, turn, updates } = this.#options;
    const end = new Promise<void>((resolve, reject) => {
      this.#settle = resolve;
      this.#fail = reject;
    });
    void control.send(userMessage(this.#promptId, turn.prompt));
    try {
      await end;
      return this.#outcome();
    } finally {
      this.#gate.close();
      updates.end();
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#gate.steer(message);
  }

  interrupt(): void {
    this.#interrupted = true;
    this.#gate.close();
    this.#options.control.request("interrupt", { cancel_queued: true }).catch(() => {});
  }

  said(record: JsonRecord): void {
    // A subagent has a conversation of its own.
    if (typeof record["parent_tool_use_id"] === "string") return;
    switch (record["type"]) {
      case "command_lifecycle":
        this.#followed(textOf(record["command_uuid"]), record["state"] as Lifecycle);
        break;
      case "result":
        this.#result = record;
        this.#usage.push(recordOf(record["usage"]));
        break;
      case "system":
        this.#system(record);
        break;
      case "stream_event":
        if (recordOf(record["event"])["type"] === "message_start") this.#steers.answered();
        break;
      case "assistant":
      case "user":
        if (!this.#steers.unread) this.#lastId = textOf(record["uuid"]) || this.#lastId;
        break;
    }
  }

  /** The child is gone. */
  lost(error: Error): void {
    this.#fail(error);
  }

  #system({ subtype, status, capabilities }: JsonRecord): void {
    if (subtype === "init" && !listOf(capabilities).includes(NEEDED)) this.#fail(tooOld());
    // Before the model is asked, a steer would become part of the prompt, or take its place.
    if (subtype === "status" && status === "requesting" && !this.#interrupted) this.#gate.open();
  }

  #followed(uuid: string, state: Lifecycle): void {
    if (uuid !== this.#promptId) this.#steers.followed(uuid, state);
    else if (state === "completed" || state === "cancelled") this.#promptDone = true;
    if (this.#promptDone && !this.#steers.pending) this.#settle();
  }

  #outcome(): TurnOutcome {
    const usage = this.#usageOfAll();
    if (this.#interrupted) return { stopReason: "cancelled", ...usage };
    const { subtype, is_error, stop_reason } = this.#result;
    if (subtype === "error_max_turns") return { stopReason: "max_turn_requests", ...usage };
    if (subtype !== "success" || is_error === true) throw turnFailed(this.#result, this.#options.updates.failure);
    if (stop_reason === "refusal") return { stopReason: "refusal", ...usage };
    return { stopReason: stop_reason === "max_tokens" ? "max_tokens" : "end_turn", ...usage };
  }

  #usageOfAll(): Pick<TurnOutcome, "usage"> {
    const sum = (name: string): number => this.#usage.reduce((total, usage) => total + numberOf(usage[name]), 0);
    const counts = {
      inputTokens: sum("input_tokens"),
      outputTokens: sum("output_tokens"),
      cachedReadTokens: sum("cache_read_input_tokens"),
      cachedWriteTokens: sum("cache_creation_input_tokens"),
    };
    const totalTokens = Object.values(counts).reduce((total, count) => total + count, 0);
    return totalTokens > 0 ? { usage: { ...counts, totalTokens } } : {};
  }
}

/** @param cause the kind of failure that Claude Code named beside its message */
function turnFailed({ result, errors, subtype }: JsonRecord, cause: string): VendorError {
  const said = textOf(result) || listOf(errors).map(textOf).join(" ") || textOf(subtype) || "it gave no reason";
  const [next, code] =
    cause === "authentication_failed"
      ? ["Sign in with `claude auth login` in a terminal", CODE.authRequired]
      : ["Send the prompt again, or choose another model", CODE.internalError];
  return new VendorError(`Claude Code failed: ${said.replace(/[.!]$/, "")}. ${next}.`, {
    code,
    data: { reason: "modelFailed", ...(cause !== "" && { cause }) },
  });
}

function tooOld(): VendorError {
  return new VendorError(
    "This Claude Code does not say what becomes of a message, so it cannot be steered safely. Update it with `claude update`.",
    { data: { reason: "vendorTooOld" } },
  );
}
