import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { PermissionQuestion } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, numberOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolCallUpdate = PermissionQuestion["toolCall"];
type ToolContent = NonNullable<ToolCall["content"]>[number];
type ToolStatus = NonNullable<ToolCall["status"]>;
type ToolKind = NonNullable<ToolCall["kind"]>;
type Plan = Extract<SessionUpdate, { sessionUpdate: "plan" }>;
type PlanEntry = Plan["entries"][number];

const KINDS: readonly ToolKind[] = [
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
  "other",
];
const STATUSES: readonly ToolStatus[] = ["pending", "in_progress", "completed", "failed"];
const PRIORITIES: readonly PlanEntry["priority"][] = ["high", "medium", "low"];
const ENTRY_STATUSES: readonly PlanEntry["status"][] = ["pending", "in_progress", "completed"];
const CHUNKS = { text: "agent_message_chunk", thought: "agent_thought_chunk", user: "user_message_chunk" } as const;

/** Turns what an agent shows, live or from its past, into session updates. */
export class SteerJsonlUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #cwd: string;
  readonly #openTools = new Set<string>();
  readonly #knownTools = new Set<string>();
  /** Records of one type in a row are one message. */
  #messageType: unknown;
  #messageId = "";

  constructor(send: (update: SessionUpdate) => void, cwd: string) {
    this.#send = send;
    this.#cwd = cwd;
  }

  show(record: JsonRecord): void {
    const { type } = record;
    if (type === "text" || type === "thought") this.#chunk(type, textOf(record["text"]));
    else this.#showOther(record);
  }

  /** One record of a conversation of before: what the user said stands among what the agent showed. */
  showPast(record: JsonRecord): void {
    if (record["type"] === "user") this.#chunk("user", textOf(record["text"]));
    else this.show(record);
  }

  /** What the user is asked about: a tool call that was not shown yet is shown, as pending. */
  announce(toolCallId: string, record: JsonRecord): ToolCallUpdate {
    this.#messageType = record["type"];
    if (!this.#knownTools.has(toolCallId)) this.#tool(toolCallId, { ...record, status: "pending" });
    return { toolCallId, ...this.#detailsOf(record) };
  }

  /** Nothing more comes: tool calls that the agent never ended do not stay open at the client. */
  end(status: "completed" | "failed"): void {
    for (const toolCallId of this.#openTools) this.#send({ sessionUpdate: "tool_call_update", toolCallId, status });
    this.#openTools.clear();
  }

  #showOther(record: JsonRecord): void {
    this.#messageType = record["type"];
    switch (record["type"]) {
      case "tool":
        this.#tool(textOf(record["id"]), record);
        break;
      case "plan":
        this.#send({ sessionUpdate: "plan", entries: listOf(record["entries"]).filter(isRecord).map(toPlanEntry) });
        break;
      case "usage":
        this.#usage(numberOf(record["used"]), numberOf(record["size"]));
        break;
    }
  }

  #chunk(type: keyof typeof CHUNKS, text: string): void {
    if (this.#messageType !== type) this.#messageId = randomUUID();
    this.#messageType = type;
    if (text === "") return;
    this.#send({ sessionUpdate: CHUNKS[type], messageId: this.#messageId, content: { type: "text", text } });
  }

  #tool(toolCallId: string, record: JsonRecord): void {
    const status = STATUSES.find((known) => known === record["status"]);
    const isNew = !this.#knownTools.has(toolCallId);
    this.#knownTools.add(toolCallId);
    if (status === "completed" || status === "failed") this.#openTools.delete(toolCallId);
    else if (isNew || status) this.#openTools.add(toolCallId);
    const said = { toolCallId, ...this.#detailsOf(record) };
    if (isNew)
      this.#send({
        sessionUpdate: "tool_call",
        title: toolCallId,
        kind: "other",
        ...said,
        status: status ?? "in_progress",
      });
    else this.#send({ sessionUpdate: "tool_call_update", ...said, ...(status && { status }) });
  }

  /** Only what the record says: the rest stays as it was. */
  #detailsOf(record: JsonRecord): Omit<Partial<ToolCall>, "sessionUpdate" | "toolCallId" | "status"> {
    const { title, text, files, diffs, input, output } = record;
    const kind = KINDS.find((known) => known === record["kind"]);
    const hasContent = typeof text === "string" || Array.isArray(diffs);
    return {
      ...(typeof title === "string" && title !== "" && { title }),
      ...(kind && { kind }),
      ...(Array.isArray(files) && { locations: files.flatMap((file) => this.#locationOf(file)) }),
      ...(hasContent && { content: [...this.#diffsOf(diffs), ...contentOf(text)] }),
      ...(input !== undefined && { rawInput: input }),
      ...(output !== undefined && { rawOutput: output }),
    };
  }

  #locationOf(file: unknown): { path: string; line?: number }[] {
    if (typeof file === "string") return [{ path: resolve(this.#cwd, file) }];
    if (!isRecord(file) || typeof file["path"] !== "string") return [];
    const { path, line } = file;
    return [{ path: resolve(this.#cwd, path), ...(typeof line === "number" && { line }) }];
  }

  #diffsOf(diffs: unknown): ToolContent[] {
    return listOf(diffs)
      .filter(isRecord)
      .map(({ path, before, after }) => ({
        type: "diff",
        path: resolve(this.#cwd, textOf(path)),
        oldText: typeof before === "string" ? before : null,
        newText: textOf(after),
      }));
  }

  #usage(used: number, size: number): void {
    if (size > 0) this.#send({ sessionUpdate: "usage_update", used, size });
  }
}

function contentOf(text: unknown): ToolContent[] {
  return typeof text === "string" ? [{ type: "content", content: { type: "text", text } }] : [];
}

function toPlanEntry({ text, priority, status }: JsonRecord): PlanEntry {
  return {
    content: textOf(text),
    priority: PRIORITIES.find((known) => known === priority) ?? "medium",
    status: ENTRY_STATUSES.find((known) => known === status) ?? "pending",
  };
}
