import { randomUUID } from "node:crypto";
import type { TurnOutcome } from "@acp-steering/kit";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { PiActivities } from "./pi-activities.js";
import { noteOf } from "./pi-notes.js";
import { type PiMessageRecord, type PiUsage, readMessage } from "./pi-records.js";
import { PiTool, toolsOf } from "./pi-tools.js";

const NO_USAGE: PiUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

/** Turns Pi's events into session updates, in a run and between two, and keeps what a run's answer needs. */
export class PiUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #cwd: string;
  readonly #activities: PiActivities;
  /** In tokens; 0 where Pi does not know it. */
  contextWindow = 0;
  readonly #openTools = new Map<string, PiTool>();
  #messageId: string = randomUUID();
  #usage: PiUsage = NO_USAGE;
  #lastReply: PiMessageRecord | undefined;

  constructor(send: (update: SessionUpdate) => void, cwd: string) {
    this.#send = send;
    this.#cwd = cwd;
    this.#activities = new PiActivities(send);
  }

  /** The model's last complete message in the run. */
  get lastReply(): PiMessageRecord | undefined {
    return this.#lastReply;
  }

  /** The tokens of all model requests of the run; `undefined` where the model's provider does not count them. */
  get usage(): TurnOutcome["usage"] {
    const { input, output, cacheRead, cacheWrite, totalTokens } = this.#usage;
    if (totalTokens === 0) return undefined;
    return {
      inputTokens: input,
      outputTokens: output,
      cachedReadTokens: cacheRead,
      cachedWriteTokens: cacheWrite,
      totalTokens,
    };
  }

  /** A run begins: what its answer needs is counted from here. */
  begin(): void {
    this.#usage = NO_USAGE;
    this.#lastReply = undefined;
  }

  event(event: JsonRecord): void {
    switch (event["type"]) {
      case "message_start":
        this.#messageId = randomUUID();
        break;
      case "message_update":
        this.#delta(recordOf(event["assistantMessageEvent"]));
        break;
      case "message_end":
        this.#messageEnded(readMessage(event["message"]));
        break;
      case "tool_execution_start":
        this.#send(this.#tool(event).started());
        break;
      case "tool_execution_update":
        this.#send(this.#tool(event).progressed(event["partialResult"]));
        break;
      case "tool_execution_end":
        this.#send(this.#tool(event).ended(event["result"], event["isError"] === true));
        this.#openTools.delete(textOf(event["toolCallId"]));
        break;
      default:
        this.#activities.event(event);
    }
  }

  /** Nothing more comes: tool calls that never ran do not stay open at the client. */
  end(): void {
    for (const tool of this.#openTools.values()) this.#send(tool.abandoned());
    this.#openTools.clear();
    this.#activities.end();
  }

  #delta(delta: JsonRecord): void {
    if (delta["type"] === "text_delta") this.#chunk("agent_message_chunk", delta);
    if (delta["type"] === "thinking_delta") this.#chunk("agent_thought_chunk", delta);
    if (delta["type"] !== "toolcall_end") return;
    const { id, name, arguments: args } = recordOf(delta["toolCall"]);
    this.#announce(textOf(id), textOf(name), args);
  }

  #chunk(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk", delta: JsonRecord): void {
    const text = textOf(delta["delta"]);
    if (text !== "") this.#send({ sessionUpdate, messageId: this.#messageId, content: { type: "text", text } });
  }

  #messageEnded(message: PiMessageRecord): void {
    for (const update of noteOf(message, this.#messageId)) this.#send(update);
    if (message.role !== "assistant") return;
    this.#lastReply = message;
    if (!message.usage) return;
    this.#usage = sum(this.#usage, message.usage);
    const { totalTokens } = message.usage;
    if (totalTokens > 0 && this.contextWindow > 0) {
      this.#send({ sessionUpdate: "usage_update", used: totalTokens, size: this.contextWindow });
    }
  }

  #tool(event: JsonRecord): PiTool {
    const id = textOf(event["toolCallId"]);
    return this.#openTools.get(id) ?? this.#announce(id, textOf(event["toolName"]), event["args"]);
  }

  #announce(id: string, name: string, args: unknown): PiTool {
    const tool = new PiTool({ id, name, arguments: isRecord(args) ? args : {} }, toolsOf(this.#cwd));
    this.#openTools.set(id, tool);
    this.#send(tool.announced());
    return tool;
  }
}

function sum(left: PiUsage, right: PiUsage): PiUsage {
  return {
    input: left.input + right.input,
    output: left.output + right.output,
    cacheRead: left.cacheRead + right.cacheRead,
    cacheWrite: left.cacheWrite + right.cacheWrite,
    totalTokens: left.totalTokens + right.totalTokens,
  };
}
