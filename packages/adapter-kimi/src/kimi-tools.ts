import { isAbsolute, resolve } from "node:path";
import type { Turn } from "@acp-steering/kit";
import { currentText, isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";

type SessionUpdate = Parameters<Turn["update"]>[0];
type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolContent = NonNullable<ToolCall["content"]>[number];
type ToolKind = NonNullable<ToolCall["kind"]>;

/** A map, since the model may name any tool, `toString` too. */
const KINDS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ["Read", "read"],
  ["ReadMediaFile", "read"],
  ["Glob", "search"],
  ["Grep", "search"],
  ["Write", "edit"],
  ["Edit", "edit"],
  ["Bash", "execute"],
  ["FetchURL", "fetch"],
  ["WebSearch", "fetch"],
  ["EnterPlanMode", "switch_mode"],
  ["ExitPlanMode", "switch_mode"],
]);

/** A tool's output while it runs is sent again with every piece: only its end. */
const SHOWN_PROGRESS_CHARACTERS = 8_000;
const SHOWN_RESULT_CHARACTERS = 1_000_000;

/** A tool call as Kimi tells of it: asked for by the model, or waiting for an approval, or running. */
export interface KimiToolCall {
  readonly name: string;
  readonly args?: unknown;
  /** Kimi's own description, such as "Editing a.txt". */
  readonly description?: string;
  /** Kimi's own view of the arguments: `{ kind: "file_io" | "command" | "plan_review" | …, … }`. */
  readonly display?: unknown;
}

/** What `tool_call`, `tool_call_update` and permission requests have in common. */
type ToolCard = Pick<ToolCall, "toolCallId" | "title" | "kind" | "locations" | "rawInput" | "content">;

/** One tool call as ACP shows it, from the model's request to its result. */
export class KimiTool {
  readonly id: string;
  readonly #cwd: string;
  #name: string;
  #shown: readonly ToolContent[] = [];
  #progress = "";

  constructor(id: string, name: string, cwd: string) {
    this.id = id;
    this.#name = name;
    this.#cwd = cwd;
  }

  announced(): SessionUpdate {
    const kind = kindOf(this.#name);
    return { sessionUpdate: "tool_call", toolCallId: this.id, title: this.#name, kind, status: "pending" };
  }

  /** What Kimi knows of the call before it runs. */
  described(call: KimiToolCall): SessionUpdate {
    return { sessionUpdate: "tool_call_update", ...this.card(call) };
  }

  started(call: KimiToolCall): SessionUpdate {
    return { sessionUpdate: "tool_call_update", ...this.card(call), status: "in_progress" };
  }

  /** The call as a permission request shows it. */
  card(call: KimiToolCall): ToolCard {
    const { name, args, description, display } = call;
    this.#name = name;
    this.#shown = this.#shown.length > 0 ? this.#shown : contentOf(call, this.#cwd);
    return {
      toolCallId: this.id,
      title: description || name,
      kind: kindOf(name),
      locations: locationsOf(recordOf(display), recordOf(args), this.#cwd),
      ...(args !== undefined && { rawInput: args }),
      ...(this.#shown.length > 0 && { content: [...this.#shown] }),
    };
  }

  progressed(update: JsonRecord): SessionUpdate | undefined {
    const text = textOf(update["text"]);
    if (text === "") return undefined;
    if (update["kind"] === "status") return { sessionUpdate: "tool_call_update", toolCallId: this.id, title: text };
    this.#progress = (this.#progress + text).slice(-SHOWN_PROGRESS_CHARACTERS);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: this.id,
      content: [...this.#shown, textContent(this.#progress)],
    };
  }

  ended(output: unknown, isError: boolean): SessionUpdate {
    const showsDiff = !isError && this.#shown.some(({ type }) => type === "diff");
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: this.id,
      status: isError ? "failed" : "completed",
      content: showsDiff ? [...this.#shown] : outputContent(output),
      rawOutput: output,
    };
  }

  /** The turn ended before the tool did. */
  abandoned(): SessionUpdate {
    return { sessionUpdate: "tool_call_update", toolCallId: this.id, status: "failed" };
  }
}

/** The plan that a call of Kimi's todo tool makes. */
export function planOf(display: unknown): SessionUpdate | undefined {
  const { kind, items } = recordOf(display);
  if (kind !== "todo_list") return undefined;
  const entries = listOf(items).map((item) => {
    const { title, status } = recordOf(item);
    return { content: textOf(title), priority: "medium", status: planStatus(status) } as const;
  });
  return { sessionUpdate: "plan", entries };
}

function planStatus(status: unknown): "pending" | "in_progress" | "completed" {
  if (status === "done" || status === "completed") return "completed";
  return status === "in_progress" ? "in_progress" : "pending";
}

function kindOf(name: string): ToolKind {
  return KINDS.get(name) ?? "other";
}

function contentOf({ args, display }: KimiToolCall, cwd: string): ToolContent[] {
  const shown = recordOf(display);
  switch (shown["kind"]) {
    case "diff":
    case "file_io":
      return diffOf(shown, recordOf(args), cwd);
    case "plan_review":
      return [textContent(textOf(shown["plan"]))];
    default:
      return [];
  }
}

/** Kimi shows an edit by the two texts of its arguments, and a new file by its content alone. */
function diffOf(display: JsonRecord, args: JsonRecord, cwd: string): ToolContent[] {
  const path = absolute(textOf(display["path"]) || textOf(args["path"]), cwd);
  const { before, after, content } = display;
  if (typeof before === "string" && typeof after === "string")
    return [{ type: "diff", path, oldText: before, newText: after }];
  if (display["operation"] !== "write" || typeof content !== "string") return [];
  const oldText = currentText(path);
  // Equal texts most likely mean that Kimi was faster than we are: what stood there before is unknown.
  return [{ type: "diff", path, oldText: oldText === content ? null : oldText, newText: content }];
}

function locationsOf(display: JsonRecord, args: JsonRecord, cwd: string): { path: string; line?: number }[] {
  const path = textOf(display["path"]) || textOf(args["path"]);
  if (path === "") return [];
  const line = args["line_offset"];
  return [{ path: absolute(path, cwd), ...(typeof line === "number" && line > 0 && { line }) }];
}

function absolute(path: string, cwd: string): string {
  return isAbsolute(path) ? path : resolve(cwd, path);
}

/** Text, a list of parts (text and images), or anything that an MCP tool made. */
function outputContent(output: unknown): ToolContent[] {
  if (typeof output === "string") return output === "" ? [] : [textContent(output)];
  if (Array.isArray(output)) return output.flatMap(partContent);
  return output === undefined || output === null ? [] : [textContent(JSON.stringify(output))];
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

function partContent(part: unknown): ToolContent[] {
  if (!isRecord(part)) return [];
  if (part["type"] === "text") return [textContent(textOf(part["text"]))];
  const { url } = recordOf(part["imageUrl"] ?? part["image_url"]);
  const [, mimeType, data] = DATA_URL.exec(textOf(url)) ?? [];
  return mimeType && data ? [{ type: "content", content: { type: "image", mimeType, data } }] : [];
}

function textContent(text: string): ToolContent {
  return { type: "content", content: { type: "text", text: text.slice(0, SHOWN_RESULT_CHARACTERS) } };
}
