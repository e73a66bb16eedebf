import { randomUUID } from "node:crypto";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;

/**
 * What Pi does by itself between two steps of its model and may take a while: it shortens the conversation, or tries a
 * failed model request again. Users see it as a tool that runs, with its end.
 */
export class PiActivities {
  readonly #send: (update: SessionUpdate) => void;
  /** Kind of activity → the tool call that shows it. */
  readonly #open = new Map<"compaction" | "retry", string>();

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
  }

  event(event: JsonRecord): void {
    switch (event["type"]) {
      case "compaction_start":
        this.#begin("compaction", compactionTitle(textOf(event["reason"])));
        break;
      case "compaction_end":
        this.#end("compaction", event["result"] !== undefined && event["result"] !== null, compactionText(event));
        break;
      case "auto_retry_start":
        this.#begin("retry", retryTitle(event));
        break;
      case "auto_retry_end":
        this.#end("retry", event["success"] === true, textOf(event["finalError"]));
        break;
    }
  }

  /** Nothing more comes of what still runs. */
  end(): void {
    for (const activity of [...this.#open.keys()]) this.#end(activity, false, "");
  }

  /** A next attempt ends the one before. */
  #begin(activity: "compaction" | "retry", title: string): void {
    this.#end(activity, false, "");
    const toolCallId = `pi-${activity}-${randomUUID()}`;
    this.#open.set(activity, toolCallId);
    this.#send({ sessionUpdate: "tool_call", toolCallId, title, kind: "other", status: "in_progress" });
  }

  #end(activity: "compaction" | "retry", isDone: boolean, text: string): void {
    const toolCallId = this.#open.get(activity);
    if (toolCallId === undefined) return;
    this.#open.delete(activity);
    const content = text === "" ? {} : { content: contentOf(text) };
    this.#send({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: isDone ? "completed" : "failed",
      ...content,
    });
  }
}

/** A compaction of a conversation of before. */
export function pastCompaction(entry: JsonRecord): SessionUpdate {
  return pastActivity(`pi-compaction-${textOf(entry["id"])}`, compactionTitle(""), textOf(entry["summary"]));
}

/** The summary of a branch that the user left. */
export function pastBranch(entry: JsonRecord): SessionUpdate {
  return pastActivity(
    `pi-branch-${textOf(entry["id"])}`,
    "Left another branch of the conversation",
    textOf(entry["summary"]),
  );
}

function pastActivity(toolCallId: string, title: string, text: string): SessionUpdate {
  return {
    sessionUpdate: "tool_call",
    toolCallId,
    title,
    kind: "other",
    status: "completed",
    content: contentOf(text),
  };
}

function compactionTitle(reason: string): string {
  if (reason === "overflow") return "Shorten the conversation, which no longer fits the model";
  return reason === "threshold" ? "Shorten the conversation, which has become long" : "Shorten the conversation";
}

function compactionText(event: JsonRecord): string {
  return textOf(recordOf(event["result"])["summary"]) || textOf(event["errorMessage"]);
}

function retryTitle({ attempt, maxAttempts, errorMessage }: JsonRecord): string {
  return `Try the model again (${attempt} of ${maxAttempts}): ${textOf(errorMessage)}`;
}

function contentOf(text: string): NonNullable<ToolCall["content"]> {
  return [{ type: "content", content: { type: "text", text } }];
}
