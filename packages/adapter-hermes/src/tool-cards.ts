import { listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { BridgeEdit, ToolEndEvent, ToolStartEvent } from "./bridge-protocol.js";
import { resultValue } from "./result-value.js";
import type { SessionUpdate, ToolContent } from "./session-update.js";
import { resultText } from "./tool-results.js";
import { toolKind, toolTitle } from "./tool-titles.js";

/** One tool call as an editor shows it, from its start to its end. */
export class ToolCard {
  readonly #start: ToolStartEvent;
  readonly #diffs: readonly ToolContent[];

  constructor(start: ToolStartEvent) {
    this.#start = start;
    this.#diffs = diffsOf(start.edits);
  }

  started(): SessionUpdate {
    const { call, args } = this.#start;
    return {
      sessionUpdate: "tool_call",
      toolCallId: call,
      title: toolTitle(this.#start),
      kind: toolKind(this.#start.name),
      status: "in_progress",
      content: this.#diffs.length > 0 ? [...this.#diffs] : announced(this.#start),
      locations: locationsOf(this.#start),
      rawInput: args,
    };
  }

  /** What the tool gave, and the plan where the tool keeps one. */
  ended(end: ToolEndEvent): SessionUpdate[] {
    const showsDiff = !end.failed && this.#diffs.length > 0;
    const update: SessionUpdate = {
      sessionUpdate: "tool_call_update",
      toolCallId: end.call,
      status: end.failed || end.unfinished ? "failed" : "completed",
      ...(!end.unfinished && { content: showsDiff ? [...this.#diffs] : textContent(resultText(end)) }),
    };
    const plan = end.name === "todo" && !end.failed ? planOf(end.result) : undefined;
    return plan ? [update, plan] : [update];
  }

  /** The turn ended before the tool did. */
  abandoned(): SessionUpdate {
    return { sessionUpdate: "tool_call_update", toolCallId: this.#start.call, status: "failed" };
  }
}

export function diffsOf(edits: readonly BridgeEdit[] = []): ToolContent[] {
  return edits.map(({ path, oldText, newText }) => ({ type: "diff", path, oldText, newText }));
}

/** A command or a program as a block of code. */
export function codeContent(text: string, language: string): ToolContent[] {
  return text === "" ? [] : textContent(`\`\`\`${language}\n${text}\n\`\`\``);
}

function announced({ name, args }: ToolStartEvent): ToolContent[] {
  if (name === "terminal") return codeContent(textOf(args["command"]), "sh");
  if (name === "execute_code") return codeContent(textOf(args["code"]), "python");
  return [];
}

function textContent(text: string): ToolContent[] {
  return text === "" ? [] : [{ type: "content", content: { type: "text", text } }];
}

function locationsOf({ args, paths = [], edits = [] }: ToolStartEvent): { path: string; line?: number }[] {
  const files = paths.length > 0 ? paths : edits.map(({ path }) => path);
  const line = args["offset"];
  return files.map((path) => ({ path, ...(typeof line === "number" && line > 0 && { line }) }));
}

type Plan = Extract<SessionUpdate, { sessionUpdate: "plan" }>;

/** Hermes' `todo` list as a plan; ACP has no cancelled steps, so those are done with, and say so. */
function planOf(result: string): Plan | undefined {
  const { todos } = recordOf(resultValue(result));
  if (!Array.isArray(todos)) return undefined;
  const entries = listOf(todos).map(recordOf).map(planEntry);
  return { sessionUpdate: "plan", entries };
}

function planEntry({ content, status }: ReturnType<typeof recordOf>): Plan["entries"][number] {
  const text = textOf(content);
  if (status === "cancelled") return { content: `Cancelled: ${text}`, priority: "medium", status: "completed" };
  const known = status === "in_progress" || status === "completed" ? status : "pending";
  return { content: text, priority: "medium", status: known };
}
