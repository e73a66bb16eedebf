import { randomUUID } from "node:crypto";
import { type JsonRecord, numberOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";

/** What Claude Code does by itself and may take a while: it compacts the conversation, or asks the model again. */
export class ClaudeActivities {
  readonly #send: (update: SessionUpdate) => void;
  #compaction: string | undefined;
  #retry: string | undefined;

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
  }

  get isCompacting(): boolean {
    return this.#compaction !== undefined;
  }

  system(record: JsonRecord): void {
    const { subtype, status, compact_result } = record;
    if (subtype === "api_retry") this.#waitForRetry(record);
    if (subtype !== "status") return;
    if (status === "compacting") this.#compaction ??= this.#begin("Compact the conversation");
    else if (compact_result !== undefined) this.#compacted(compact_result === "success");
  }

  /** The model has answered. */
  answered(): void {
    this.#retry = this.#end(this.#retry, "completed");
  }

  end(): void {
    this.#compaction = this.#end(this.#compaction, "failed");
    this.#retry = this.#end(this.#retry, "failed");
  }

  #compacted(isDone: boolean): void {
    this.#compaction = this.#end(this.#compaction, isDone ? "completed" : "failed");
  }

  /** A next attempt ends the one before. */
  #waitForRetry({ attempt, max_retries, error, error_status }: JsonRecord): void {
    const why = [textOf(error), numberOf(error_status) || ""].filter(Boolean).join(" ");
    this.#end(this.#retry, "failed");
    this.#retry = this.#begin(`Ask the model again (${why}), attempt ${numberOf(attempt)} of ${numberOf(max_retries)}`);
  }

  #begin(title: string): string {
    const toolCallId = `claude-${randomUUID()}`;
    this.#send({ sessionUpdate: "tool_call", toolCallId, title, kind: "other", status: "in_progress" });
    return toolCallId;
  }

  #end(toolCallId: string | undefined, status: "completed" | "failed"): undefined {
    if (toolCallId !== undefined) this.#send({ sessionUpdate: "tool_call_update", toolCallId, status });
  }
}
