import { randomUUID } from "node:crypto";
import type { Turn, TurnOutcome } from "@acp-steering/kit";
import { type JsonRecord, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import { isSubAgent, type KimiEvent } from "./kimi-conversation.js";
import { KimiTool, planOf } from "./kimi-tools.js";
import type { ToolIds } from "./tool-ids.js";

type SessionUpdate = Parameters<Turn["update"]>[0];

/** Tools that are shown otherwise: as a plan, as a question. */
const HIDDEN_TOOLS: ReadonlySet<string> = new Set(["TodoList", "AskUserQuestion"]);

export interface KimiUpdatesOptions {
  readonly send: (update: SessionUpdate) => void;
  readonly cwd: string;
  readonly toolIds: ToolIds;
}

/** Turns Kimi's events of one run into session updates, and keeps what the run's answer needs. */
export class KimiUpdates {
  readonly #send: (update: SessionUpdate) => void;
  readonly #cwd: string;
  readonly #toolIds: ToolIds;
  readonly #tools = new Map<string, KimiTool>();
  #messageId: string = randomUUID();
  #usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #context = { used: 0, size: 0 };
  #lastFinish = "";

  constructor({ send, cwd, toolIds }: KimiUpdatesOptions) {
    this.#send = send;
    this.#cwd = cwd;
    this.#toolIds = toolIds;
  }

  /** True where the model's last answer was cut off. */
  get truncated(): boolean {
    return this.#lastFinish === "max_tokens";
  }

  /** The tokens of all model requests of the run; `undefined` where the model's provider does not count them. */
  get usage(): TurnOutcome["usage"] {
    const { input, output, cacheRead, cacheWrite } = this.#usage;
    const totalTokens = input + output + cacheRead + cacheWrite;
    if (totalTokens === 0) return undefined;
    return {
      inputTokens: input,
      outputTokens: output,
      cachedReadTokens: cacheRead,
      cachedWriteTokens: cacheWrite,
      totalTokens,
    };
  }

  event(event: KimiEvent): void {
    // Sub-agents tell of their work by the same events; it is a tool call of the main agent.
    if (isSubAgent(event)) return;
    switch (event.type) {
      case "turn.step.started":
        this.#messageId = randomUUID();
        break;
      case "assistant.delta":
        this.#chunk("agent_message_chunk", event);
        break;
      case "thinking.delta":
        this.#chunk("agent_thought_chunk", event);
        break;
      case "tool.call.delta":
        this.#toolNamed(event);
        break;
      case "tool.call.started":
        this.#toolStarted(event);
        break;
      case "tool.progress":
        this.#toolProgressed(event);
        break;
      case "tool.result":
        this.#toolEnded(event);
        break;
      case "turn.step.completed":
        this.#stepCompleted(event);
        break;
      case "agent.status.updated":
        this.#statusUpdated(event);
        break;
      case "turn.ended":
        this.#turnEnded();
        break;
    }
  }

  /** The card of a tool call that Kimi asks about, shown already or not. */
  tool(toolCallId: string, name: string): KimiTool {
    const known = this.#tools.get(toolCallId);
    if (known) return known;
    const tool = new KimiTool(this.#toolIds.next(toolCallId), name, this.#cwd);
    this.#tools.set(toolCallId, tool);
    this.#send(tool.announced());
    return tool;
  }

  /** A tool call that is not shown. */
  hiddenTool(toolCallId: string, name: string): KimiTool {
    return new KimiTool(toolCallId, name, this.#cwd);
  }

  /** Nothing more comes: tool calls that never ran do not stay open at the client. */
  end(): void {
    for (const tool of this.#tools.values()) this.#send(tool.abandoned());
    this.#tools.clear();
  }

  #chunk(sessionUpdate: "agent_message_chunk" | "agent_thought_chunk", { delta }: JsonRecord): void {
    const text = textOf(delta);
    if (text !== "") this.#send({ sessionUpdate, messageId: this.#messageId, content: { type: "text", text } });
  }

  #toolNamed({ toolCallId, name }: JsonRecord): void {
    const toolName = textOf(name);
    if (toolName !== "" && !HIDDEN_TOOLS.has(toolName)) this.tool(textOf(toolCallId), toolName);
  }

  #toolStarted({ toolCallId, name, args, description, display }: JsonRecord): void {
    const plan = planOf(display);
    if (plan) this.#send(plan);
    if (HIDDEN_TOOLS.has(textOf(name))) return;
    const call = { name: textOf(name), args, description: textOf(description), display };
    this.#send(this.tool(textOf(toolCallId), call.name).started(call));
  }

  #toolProgressed({ toolCallId, update }: JsonRecord): void {
    const progress = this.#tools.get(textOf(toolCallId))?.progressed(recordOf(update));
    if (progress) this.#send(progress);
  }

  #toolEnded({ toolCallId, output, isError }: JsonRecord): void {
    const id = textOf(toolCallId);
    const tool = this.#tools.get(id);
    if (!tool) return;
    this.#send(tool.ended(output, isError === true));
    this.#tools.delete(id);
  }

  #stepCompleted({ usage, finishReason }: JsonRecord): void {
    const { inputOther, output, inputCacheRead, inputCacheCreation } = recordOf(usage);
    this.#usage.input += numberOf(inputOther);
    this.#usage.output += numberOf(output);
    this.#usage.cacheRead += numberOf(inputCacheRead);
    this.#usage.cacheWrite += numberOf(inputCacheCreation);
    this.#lastFinish = textOf(finishReason);
  }

  #statusUpdated({ contextTokens, maxContextTokens }: JsonRecord): void {
    if (numberOf(contextTokens) > 0) this.#context.used = numberOf(contextTokens);
    if (numberOf(maxContextTokens) > 0) this.#context.size = numberOf(maxContextTokens);
  }

  #turnEnded(): void {
    const { used, size } = this.#context;
    if (used > 0 && size > 0) this.#send({ sessionUpdate: "usage_update", used, size });
  }
}
