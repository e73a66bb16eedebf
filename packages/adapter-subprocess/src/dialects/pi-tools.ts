import { homedir } from "node:os";
import { resolve } from "node:path";
import { currentText, isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";

import type { SessionUpdate } from "../dialect.js";
import { type PiContent, readContent } from "./pi-records.js";

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolContent = NonNullable<ToolCall["content"]>[number];
type ToolKind = NonNullable<ToolCall["kind"]>;

/** A tool call of Pi's model. */
export interface PiToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonRecord;
}

interface ToolPresentation {
  readonly kind: ToolKind;
  title(call: ToolArguments): string;
  diffs?(call: ToolArguments, place: ToolPlace): ToolContent[];
}

/** Where and when tool calls happen. */
export interface ToolPlace {
  readonly cwd: string;
  /** What stands in a file before a call changes it; `null` where that is not known. */
  readonly before: (path: string) => string | null;
}

/** Tool calls that happen now. */
export function toolsOf(cwd: string): ToolPlace {
  return { cwd, before: currentText };
}

/** Tool calls of a conversation of before: what the files held then is not known any more. */
export function pastToolsOf(cwd: string): ToolPlace {
  return { cwd, before: () => null };
}

interface ToolArguments {
  readonly path: string;
  readonly all: JsonRecord;
}

const PI_TOOLS: Readonly<Record<string, ToolPresentation>> = {
  read: { kind: "read", title: ({ path }) => `Read ${path}` },
  ls: { kind: "read", title: ({ path }) => `List ${path || "."}` },
  grep: { kind: "search", title: ({ path, all }) => `Search ${quoted(all["pattern"])}${path ? ` in ${path}` : ""}` },
  find: { kind: "search", title: ({ path, all }) => `Find ${quoted(all["pattern"])}${path ? ` in ${path}` : ""}` },
  bash: { kind: "execute", title: ({ all }) => textOf(all["command"]) || "Run a command" },
  edit: { kind: "edit", title: ({ path }) => `Edit ${path}`, diffs: editDiffs },
  write: { kind: "edit", title: ({ path }) => `Write ${path}`, diffs: writeDiffs },
};

/** A map, since the model may name any tool, `toString` too. */
const TOOLS: ReadonlyMap<string, ToolPresentation> = new Map(Object.entries(PI_TOOLS));

/** One tool call as ACP shows it, from the model's request to its result. */
export class PiTool {
  readonly #call: PiToolCall;
  readonly #diffs: readonly ToolContent[];
  readonly #cwd: string;

  constructor(call: PiToolCall, place: ToolPlace) {
    this.#call = call;
    this.#cwd = place.cwd;
    this.#diffs = TOOLS.get(call.name)?.diffs?.(argumentsOf(call), place) ?? [];
  }

  announced(): SessionUpdate {
    const { id, name } = this.#call;
    const presentation = TOOLS.get(name);
    return {
      sessionUpdate: "tool_call",
      toolCallId: id,
      title: presentation?.title(argumentsOf(this.#call)) ?? name,
      kind: presentation?.kind ?? "other",
      status: "pending",
      content: [...this.#diffs],
      locations: this.#locations(),
      rawInput: this.#call.arguments,
    };
  }

  started(): SessionUpdate {
    return { sessionUpdate: "tool_call_update", toolCallId: this.#call.id, status: "in_progress" };
  }

  progressed(partialResult: unknown): SessionUpdate {
    const content = readContent(recordOf(partialResult)["content"]).flatMap(toToolContent);
    return { sessionUpdate: "tool_call_update", toolCallId: this.#call.id, content };
  }

  ended(result: unknown, isError: boolean): SessionUpdate {
    const { content, details } = recordOf(result);
    const said = readContent(content).flatMap(toToolContent);
    const showsDiff = !isError && this.#diffs.length > 0;
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: this.#call.id,
      status: isError ? "failed" : "completed",
      content: showsDiff ? [...this.#diffs] : said,
      ...(showsDiff && { locations: this.#locations(recordOf(details)["firstChangedLine"]) }),
      rawOutput: details,
    };
  }

  /** The turn ended before the tool did. */
  abandoned(): SessionUpdate {
    return { sessionUpdate: "tool_call_update", toolCallId: this.#call.id, status: "failed" };
  }

  #locations(changedLine?: unknown): { path: string; line?: number }[] {
    const { path, all } = argumentsOf(this.#call);
    if (path === "") return [];
    const line = changedLine ?? all["offset"];
    return [{ path: absolute(path, this.#cwd), ...(typeof line === "number" && { line }) }];
  }
}

function argumentsOf(call: PiToolCall): ToolArguments {
  return { path: textOf(call.arguments["path"]) || textOf(call.arguments["file_path"]), all: call.arguments };
}

function toToolContent(content: PiContent): ToolContent[] {
  if (content.type === "text") return [{ type: "content", content: { type: "text", text: content.text ?? "" } }];
  if (content.type !== "image") return [];
  const { data = "", mimeType = "" } = content;
  return [{ type: "content", content: { type: "image", data, mimeType } }];
}

function editDiffs({ path, all }: ToolArguments, { cwd }: ToolPlace): ToolContent[] {
  return editsOf(all).map(({ oldText, newText }) => ({ type: "diff", path: absolute(path, cwd), oldText, newText }));
}

/** Models give `edits` as a list, as JSON text, or one edit beside it; Pi takes all three. */
function editsOf(all: JsonRecord): { oldText: string; newText: string }[] {
  const list = typeof all["edits"] === "string" ? parsed(all["edits"]) : all["edits"];
  const edits: unknown[] = [...(Array.isArray(list) ? list : []), all];
  return edits.filter(isEdit).map(({ oldText, newText }) => ({ oldText, newText }));
}

function isEdit(value: unknown): value is { oldText: string; newText: string } {
  return isRecord(value) && typeof value["oldText"] === "string" && typeof value["newText"] === "string";
}

function writeDiffs({ path, all }: ToolArguments, { cwd, before }: ToolPlace): ToolContent[] {
  const newText = textOf(all["content"]);
  const target = absolute(path, cwd);
  const oldText = before(target);
  // Equal texts most likely mean that Pi was faster than we are: what stood there before is unknown.
  return [{ type: "diff", path: target, oldText: oldText === newText ? null : oldText, newText }];
}

function absolute(path: string, cwd: string): string {
  const named = path.replace(/^@/, "");
  return named === "~" || named.startsWith("~/") ? homedir() + named.slice(1) : resolve(cwd, named);
}

function quoted(value: unknown): string {
  return `"${textOf(value)}"`;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
