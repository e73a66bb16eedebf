import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { fromClaudeContent } from "./claude-content.js";
import { typedText } from "./claude-session-file.js";
import { ClaudeUpdates } from "./claude-updates.js";

/** Shows a conversation of before: entries of a session file, the oldest first. */
export class ClaudeReplay {
  readonly #show: (update: SessionUpdate) => void;
  readonly #updates: ClaudeUpdates;

  constructor(show: (update: SessionUpdate) => void) {
    this.#show = show;
    this.#updates = new ClaudeUpdates(show);
  }

  entries(entries: readonly JsonRecord[]): void {
    for (const entry of entries) this.#entry(entry);
    this.#updates.end();
  }

  #entry(entry: JsonRecord): void {
    const { type, message, toolUseResult, uuid, attachment } = entry;
    const messageId = textOf(uuid);
    switch (type) {
      case "user":
        this.#user(entry, messageId);
        // In a file this member has another name than on the wire.
        this.#updates.said({ type, message, tool_use_result: toolUseResult });
        break;
      case "assistant":
        this.#updates.said({ type, message });
        break;
      case "attachment":
        this.#steer(recordOf(attachment), messageId);
        break;
    }
  }

  #user(entry: JsonRecord, messageId: string): void {
    const text = typedText(entry);
    if (text !== "") this.#said(messageId, text);
    const content = recordOf(entry["message"])["content"];
    for (const block of fromClaudeContent(listOf(content).filter(isImage)))
      this.#show({ sessionUpdate: "user_message_chunk", messageId, content: block });
  }

  /** What the user said while Claude Code worked stands beside the messages. */
  #steer({ type, prompt, commandMode }: JsonRecord, messageId: string): void {
    if (type !== "queued_command" || (commandMode !== undefined && commandMode !== "prompt")) return;
    for (const content of fromClaudeContent(prompt))
      this.#show({ sessionUpdate: "user_message_chunk", messageId, content });
  }

  #said(messageId: string, text: string): void {
    this.#show({ sessionUpdate: "user_message_chunk", messageId, content: { type: "text", text } });
  }
}

function isImage(block: unknown): boolean {
  return isRecord(block) && block["type"] === "image";
}
