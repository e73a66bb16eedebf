import { isRecord, type JsonRecord, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { fromCodexInput } from "./codex-content.js";
import { diffsOf, endStatus, textContent, toolView } from "./codex-tools.js";

type Plan = Extract<SessionUpdate, { sessionUpdate: "plan" }>;
type PlanStatus = Plan["entries"][number]["status"];
type Chunk = "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk";

const PLAN_STATUSES: ReadonlyMap<unknown, PlanStatus> = new Map([
  ["pending", "pending"],
  ["inProgress", "in_progress"],
  ["completed", "completed"],
]);

/** While a command runs, the client sees the end of its output; all of it comes when it has ended. */
const LIVE_OUTPUT_LENGTH = 4_000;

/** Turns Codex' items and notifications into session updates, for one session. */
export class CodexUpdates {
  readonly #send: (update: SessionUpdate) => void;
  /** Tool calls that have not ended, and their output so far. */
  readonly #openTools = new Map<string, string>();
  readonly #knownTools = new Set<string>();
  /** What was shown of a message or a thought while it came, by its item: by which notification. */
  readonly #streamed = new Map<string, string>();

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
  }

  /** The items of tool calls that have not ended. */
  get openTools(): readonly string[] {
    return [...this.#openTools.keys()];
  }

  notified(method: string, params: JsonRecord): void {
    const itemId = textOf(params["itemId"]);
    const delta = textOf(params["delta"]);
    switch (method) {
      case "item/started":
        this.#started(recordOf(params["item"]));
        break;
      case "item/completed":
        this.#completed(recordOf(params["item"]));
        break;
      case "item/agentMessage/delta":
      case "item/plan/delta":
        this.#stream("agent_message_chunk", itemId, method, delta);
        break;
      case "item/reasoning/summaryTextDelta":
      case "item/reasoning/textDelta":
        this.#stream("agent_thought_chunk", itemId, method, delta);
        break;
      case "item/reasoning/summaryPartAdded":
        if (this.#streamed.has(itemId)) this.#chunk("agent_thought_chunk", itemId, "\n\n");
        break;
      case "item/commandExecution/outputDelta":
        this.#progressed(itemId, delta);
        break;
      case "item/fileChange/patchUpdated":
        this.#patched(itemId, params["changes"]);
        break;
      case "item/mcpToolCall/progress":
        this.#progressed(itemId, `${textOf(params["message"])}\n`);
        break;
      case "turn/plan/updated":
        this.#send({ sessionUpdate: "plan", entries: listOf(params["plan"]).filter(isRecord).map(toPlanEntry) });
        break;
      case "thread/tokenUsage/updated":
        this.#usage(recordOf(params["tokenUsage"]));
        break;
    }
  }

  /** An item of a turn of before: what the user said too. */
  replay(item: JsonRecord): void {
    if (item["type"] === "userMessage") this.#user(item);
    else this.#completed(item);
  }

  /** The turn is over. A command may go on behind it, and its end is shown when it comes; one that was cut off has failed. */
  end(status: "completed" | "failed"): void {
    for (const toolCallId of this.#openTools.keys()) {
      this.#send({ sessionUpdate: "tool_call_update", toolCallId, status });
    }
    this.#openTools.clear();
  }

  #started(item: JsonRecord): void {
    const view = toolView(item);
    if (!view) return;
    const toolCallId = textOf(item["id"]);
    this.#openTools.set(toolCallId, "");
    this.#knownTools.add(toolCallId);
    this.#send({ sessionUpdate: "tool_call", toolCallId, ...view, status: "in_progress" });
  }

  #completed(item: JsonRecord): void {
    const id = textOf(item["id"]);
    const isStreamed = this.#streamed.delete(id);
    if (toolView(item)) this.#toolEnded(id, item);
    else if (!isStreamed) this.#whole(id, item);
  }

  #toolEnded(toolCallId: string, item: JsonRecord): void {
    const view = toolView(item);
    if (!view) return;
    const ended = { toolCallId, ...view, status: endStatus(item) };
    const isKnown = this.#knownTools.has(toolCallId);
    this.#openTools.delete(toolCallId);
    this.#knownTools.add(toolCallId);
    this.#send(isKnown ? { sessionUpdate: "tool_call_update", ...ended } : { sessionUpdate: "tool_call", ...ended });
  }

  /** A message or a thought that came without deltas. */
  #whole(id: string, item: JsonRecord): void {
    switch (item["type"]) {
      case "agentMessage":
      case "plan":
        this.#chunk("agent_message_chunk", id, textOf(item["text"]));
        break;
      case "reasoning":
        this.#chunk("agent_thought_chunk", id, thoughtOf(item));
        break;
    }
  }

  #user(item: JsonRecord): void {
    for (const content of fromCodexInput(item["content"])) {
      this.#send({ sessionUpdate: "user_message_chunk", messageId: textOf(item["id"]), content });
    }
  }

  /** Codex can tell a thought twice, as it is and summed up: the first way that an item comes in is shown. */
  #stream(chunk: Chunk, itemId: string, method: string, delta: string): void {
    const way = this.#streamed.get(itemId) ?? method;
    this.#streamed.set(itemId, way);
    if (way === method) this.#chunk(chunk, itemId, delta);
  }

  #chunk(sessionUpdate: Chunk, messageId: string, text: string): void {
    if (text !== "") this.#send({ sessionUpdate, messageId, content: { type: "text", text } });
  }

  #progressed(toolCallId: string, delta: string): void {
    const before = this.#openTools.get(toolCallId);
    if (before === undefined) return;
    const output = (before + delta).slice(-LIVE_OUTPUT_LENGTH);
    this.#openTools.set(toolCallId, output);
    this.#send({ sessionUpdate: "tool_call_update", toolCallId, content: [textContent(output)] });
  }

  #patched(toolCallId: string, changes: unknown): void {
    if (!this.#openTools.has(toolCallId)) return;
    this.#send({ sessionUpdate: "tool_call_update", toolCallId, content: diffsOf(changes) });
  }

  #usage({ last, modelContextWindow }: JsonRecord): void {
    const size = numberOf(modelContextWindow);
    const used = numberOf(recordOf(last)["totalTokens"]);
    if (size > 0) this.#send({ sessionUpdate: "usage_update", used, size });
  }
}

function thoughtOf({ summary, content }: JsonRecord): string {
  const parts = listOf(summary).length > 0 ? listOf(summary) : listOf(content);
  return parts.map(textOf).join("\n\n");
}

function toPlanEntry({ step, status }: JsonRecord): Plan["entries"][number] {
  return { content: textOf(step), priority: "medium", status: PLAN_STATUSES.get(status) ?? "pending" };
}
