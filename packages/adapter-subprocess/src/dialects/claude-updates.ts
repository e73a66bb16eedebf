import { isRecord, type JsonRecord, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { ClaudeActivities } from "./claude-activities.js";
import { outcomeView, type ToolOutcome, toolView } from "./claude-tools.js";

type Chunk = "agent_message_chunk" | "agent_thought_chunk";

interface OpenTool {
  readonly name: string;
  input: JsonRecord;
  /** Its input has come: it waits for a permission, or runs. */
  complete: boolean;
}

const COUNTED = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"];

/** Turns what Claude Code says into session updates, for one session. What its subagents say is left out. */
export class ClaudeUpdates {
  /** The kind of failure that was named last, `""` where there was none. */
  failure = "";
  readonly #send: (update: SessionUpdate) => void;
  readonly #activities: ClaudeActivities;
  readonly #openTools = new Map<string, OpenTool>();
  /** Messages that came in pieces; they come once more as a whole. */
  readonly #streamed = new Set<string>();
  #messageId = "";
  /** Of the last request to the model, by the names that the API has for them. */
  #tokens: Readonly<Record<string, number>> = {};

  constructor(send: (update: SessionUpdate) => void) {
    this.#send = send;
    this.#activities = new ClaudeActivities(send);
  }

  /** Whether a tool runs, or the conversation is compacted. */
  get isAtWork(): boolean {
    return this.#activities.isCompacting || [...this.#openTools.values()].some(({ complete }) => complete);
  }

  /** How a call looks that the user is asked about. */
  inputOf(toolCallId: string): JsonRecord {
    return this.#openTools.get(toolCallId)?.input ?? {};
  }

  said(record: JsonRecord): void {
    const { type, message } = record;
    if (type === "system") return this.#activities.system(record);
    if (type === "result") return this.#turnEnded(record);
    if (typeof record["parent_tool_use_id"] === "string") return;
    if (type === "stream_event") this.#streamEvent(recordOf(record["event"]));
    if (type === "assistant") this.#assistant(recordOf(message), textOf(record["error"]));
    if (type === "user") this.#results(recordOf(message)["content"], record["tool_use_result"]);
  }

  /** The prompt is over: what still runs was cut off. */
  end(): void {
    this.#activities.end();
    this.#cutOff();
    this.#streamed.clear();
    this.failure = "";
  }

  #streamEvent(event: JsonRecord): void {
    switch (event["type"]) {
      case "message_start":
        this.#messageBegins(recordOf(event["message"]));
        break;
      case "content_block_start":
        this.#blockBegins(recordOf(event["content_block"]));
        break;
      case "content_block_delta":
        this.#delta(recordOf(event["delta"]));
        break;
      case "message_delta":
        this.#count(event["usage"]);
        break;
    }
  }

  #messageBegins({ id, usage }: JsonRecord): void {
    this.#activities.answered();
    this.#messageId = textOf(id);
    this.#streamed.add(this.#messageId);
    this.#count(usage);
  }

  #blockBegins({ type, id, name }: JsonRecord): void {
    if (type === "tool_use") this.#announce(textOf(id), textOf(name), {});
  }

  #delta({ type, text, thinking }: JsonRecord): void {
    if (type === "text_delta") this.#chunk("agent_message_chunk", this.#messageId, textOf(text));
    if (type === "thinking_delta") this.#chunk("agent_thought_chunk", this.#messageId, textOf(thinking));
  }

  /** One block of a message, whole. */
  #assistant({ id, content }: JsonRecord, error: string): void {
    if (error !== "") {
      // Its text is in the result, and becomes the prompt's error.
      this.failure = error;
      return;
    }
    const messageId = textOf(id);
    for (const block of listOf(content).filter(isRecord)) {
      if (block["type"] === "tool_use") this.#begin(block);
      else if (!this.#streamed.has(messageId)) this.#whole(messageId, block);
    }
  }

  #whole(messageId: string, { type, text, thinking }: JsonRecord): void {
    if (type === "text") this.#chunk("agent_message_chunk", messageId, textOf(text));
    if (type === "thinking") this.#chunk("agent_thought_chunk", messageId, textOf(thinking));
  }

  #announce(toolCallId: string, name: string, input: JsonRecord): void {
    this.#openTools.set(toolCallId, { name, input, complete: false });
    this.#send({ sessionUpdate: "tool_call", toolCallId, ...toolView(name, input), status: "pending" });
  }

  #begin({ id, name, input: given }: JsonRecord): void {
    const toolCallId = textOf(id);
    const input = recordOf(given);
    if (!this.#openTools.has(toolCallId)) this.#announce(toolCallId, textOf(name), input);
    const tool = this.#openTools.get(toolCallId);
    if (!tool) return;
    tool.input = input;
    tool.complete = true;
    const view = toolView(tool.name, input);
    this.#send({ sessionUpdate: "tool_call_update", toolCallId, ...view, rawInput: input, status: "in_progress" });
  }

  #results(content: unknown, details: unknown): void {
    for (const block of listOf(content).filter(isRecord)) {
      if (block["type"] === "tool_result")
        this.#toolEnded(textOf(block["tool_use_id"]), {
          content: block["content"],
          details,
          isError: block["is_error"] === true,
        });
    }
  }

  #toolEnded(toolCallId: string, outcome: ToolOutcome): void {
    const tool = this.#openTools.get(toolCallId);
    if (!tool) return;
    this.#openTools.delete(toolCallId);
    const status = outcome.isError ? "failed" : "completed";
    this.#send({ sessionUpdate: "tool_call_update", toolCallId, ...outcomeView(tool.name, outcome), status });
  }

  #turnEnded({ modelUsage }: JsonRecord): void {
    // A turn that was broken off leaves calls behind whose input has not come to its end.
    this.#cutOff();
    const windows = Object.values(recordOf(modelUsage)).map((usage) => numberOf(recordOf(usage)["contextWindow"]));
    const size = Math.max(0, ...windows);
    const used = Object.values(this.#tokens).reduce((total, count) => total + count, 0);
    if (size > 0 && used > 0) this.#send({ sessionUpdate: "usage_update", used, size });
  }

  #cutOff(): void {
    for (const toolCallId of this.#openTools.keys())
      this.#send({ sessionUpdate: "tool_call_update", toolCallId, status: "failed" });
    this.#openTools.clear();
  }

  #count(usage: unknown): void {
    const counted = Object.entries(recordOf(usage)).filter(
      (entry): entry is [string, number] => COUNTED.includes(entry[0]) && typeof entry[1] === "number",
    );
    this.#tokens = { ...this.#tokens, ...Object.fromEntries(counted) };
  }

  #chunk(sessionUpdate: Chunk, messageId: string, text: string): void {
    if (text !== "") this.#send({ sessionUpdate, messageId, content: { type: "text", text } });
  }
}
