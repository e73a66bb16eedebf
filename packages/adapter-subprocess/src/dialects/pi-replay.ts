import { randomUUID } from "node:crypto";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { pastBranch, pastCompaction } from "./pi-activities.js";
import { blockOf, noteOf } from "./pi-notes.js";
import { type PiContent, type PiMessageRecord, readMessage } from "./pi-records.js";
import { asTyped } from "./pi-skills.js";
import { PiTool, pastToolsOf } from "./pi-tools.js";

/** Shows a conversation of before: entries of Pi's session file, the oldest first. */
export class PiReplay {
  readonly #show: (update: SessionUpdate) => void;
  readonly #cwd: string;
  readonly #openTools = new Map<string, PiTool>();

  constructor(show: (update: SessionUpdate) => void, cwd: string) {
    this.#show = show;
    this.#cwd = cwd;
  }

  entries(entries: readonly JsonRecord[]): void {
    for (const entry of entries) this.#entry(entry);
    for (const tool of this.#openTools.values()) this.#show(tool.abandoned());
  }

  #entry(entry: JsonRecord): void {
    switch (entry["type"]) {
      case "message":
        this.#message(recordOf(entry["message"]));
        break;
      case "custom_message":
        this.#message({ ...entry, role: "custom" });
        break;
      case "compaction":
        this.#show(pastCompaction(entry));
        break;
      case "branch_summary":
        this.#show(pastBranch(entry));
        break;
    }
  }

  #message(record: JsonRecord): void {
    const message = readMessage(record);
    const messageId = randomUUID();
    switch (message.role) {
      case "user":
        this.#userMessage(message, messageId);
        break;
      case "assistant":
        for (const content of message.content) this.#reply(content, messageId);
        break;
      case "toolResult":
        this.#result(record, message);
        break;
      case "bashExecution":
        this.#command(record);
        break;
      case "custom":
        for (const update of noteOf(message, messageId)) this.#show(update);
        break;
    }
  }

  #userMessage(message: PiMessageRecord, messageId: string): void {
    for (const content of message.content) {
      const block = blockOf(content);
      if (!block) continue;
      const typed = block.type === "text" ? { ...block, text: asTyped(block.text) } : block;
      this.#show({ sessionUpdate: "user_message_chunk", messageId, content: typed });
    }
  }

  #reply(content: PiContent, messageId: string): void {
    if (content.type === "toolCall") this.#call(content);
    const { thinking } = content;
    if (content.type === "thinking" && thinking) {
      this.#show({ sessionUpdate: "agent_thought_chunk", messageId, content: { type: "text", text: thinking } });
    }
    const block = blockOf(content);
    if (block) this.#show({ sessionUpdate: "agent_message_chunk", messageId, content: block });
  }

  #call({ id = "", name = "", arguments: args }: PiContent): void {
    const tool = new PiTool({ id, name, arguments: recordOf(args) }, pastToolsOf(this.#cwd));
    this.#openTools.set(id, tool);
    this.#show(tool.announced());
  }

  #result(record: JsonRecord, { content }: PiMessageRecord): void {
    const id = textOf(record["toolCallId"]);
    const tool = this.#openTools.get(id);
    this.#openTools.delete(id);
    if (tool) this.#show(tool.ended({ content, details: record["details"] }, record["isError"] === true));
  }

  /** A command that the user had run in Pi's own terminal. */
  #command(record: JsonRecord): void {
    const text = textOf(record["output"]);
    this.#show({
      sessionUpdate: "tool_call",
      toolCallId: `pi-command-${randomUUID()}`,
      title: textOf(record["command"]),
      kind: "execute",
      status: record["exitCode"] === 0 ? "completed" : "failed",
      content: [{ type: "content", content: { type: "text", text } }],
    });
  }
}
