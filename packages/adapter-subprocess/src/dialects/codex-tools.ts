import { basename } from "node:path";
import type { ContentBlock } from "@acp-steering/core";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { fromToolContent } from "./codex-content.js";
import { hunksOf } from "./codex-diff.js";

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolContent = NonNullable<ToolCall["content"]>[number];
type ToolKind = NonNullable<ToolCall["kind"]>;
type ToolStatus = NonNullable<ToolCall["status"]>;
type ToolLocation = NonNullable<ToolCall["locations"]>[number];

/** How one of Codex' items looks as a tool call. */
export interface ToolView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content?: ToolContent[];
  readonly locations?: ToolLocation[];
  readonly rawInput?: unknown;
  readonly rawOutput?: unknown;
}

const VIEWS: ReadonlyMap<unknown, (item: JsonRecord) => ToolView> = new Map([
  ["commandExecution", commandView],
  ["fileChange", fileChangeView],
  ["mcpToolCall", mcpView],
  ["dynamicToolCall", dynamicView],
  ["webSearch", searchView],
  ["imageView", imageView],
  ["imageGeneration", imageGenerationView],
  ["collabAgentToolCall", agentView],
  ["contextCompaction", () => ({ title: "Compact the conversation", kind: "think" })],
]);

/** What an item of Codex' looks like now, as it starts, changes and ends; `undefined` where it is no tool. */
export function toolView(item: JsonRecord): ToolView | undefined {
  return VIEWS.get(item["type"])?.(item);
}

/** How an item ended. Codex says `declined` where the user did. */
export function endStatus({ status, success }: JsonRecord): ToolStatus {
  return status === "failed" || status === "declined" || success === false ? "failed" : "completed";
}

/** Diffs of `changes`, the member of a file change. */
export function diffsOf(changes: unknown): ToolContent[] {
  return changesOf(changes).flatMap(({ path, kind, diff }): ToolContent[] => {
    // The diff of a file that comes or goes is its text.
    if (kind === "add") return [{ type: "diff", path, oldText: null, newText: diff }];
    if (kind === "delete") return [{ type: "diff", path, oldText: diff, newText: "" }];
    return hunksOf(diff).map(({ oldText, newText }) => ({ type: "diff", path, oldText, newText }));
  });
}

interface FileChange {
  readonly path: string;
  readonly target: string;
  readonly kind: string;
  readonly diff: string;
}

function changesOf(changes: unknown): FileChange[] {
  return listOf(changes)
    .filter(isRecord)
    .map((change) => {
      const { type, move_path: target } = recordOf(change["kind"]);
      const path = textOf(change["path"]);
      return { path, target: textOf(target) || path, kind: textOf(type), diff: textOf(change["diff"]) };
    });
}

function commandView(item: JsonRecord): ToolView {
  const actions = listOf(item["commandActions"]).filter(isRecord);
  // Codex runs all in a shell; what the model typed stands in the actions.
  const typed = actions.map(({ command }) => textOf(command)).join(" && ");
  const output = item["aggregatedOutput"];
  return {
    ...actionsView(actions, typed || textOf(item["command"])),
    rawInput: { command: item["command"], cwd: item["cwd"] },
    ...(typeof output === "string" && { content: [textContent(output)] }),
    ...(typeof item["exitCode"] === "number" && { rawOutput: { exitCode: item["exitCode"] } }),
  };
}

function actionsView(actions: readonly JsonRecord[], command: string): Pick<ToolView, "title" | "kind" | "locations"> {
  const types = new Set(actions.map(({ type }) => type));
  const [type] = types;
  const locations = actions.flatMap(({ path }) => (typeof path === "string" ? [{ path }] : []));
  if (types.size === 1 && type === "read") {
    return { title: `Read ${actions.map(({ name }) => textOf(name)).join(", ")}`, kind: "read", locations };
  }
  if (types.size === 1 && type === "search") return { title: command, kind: "search", locations };
  if (types.size === 1 && type === "listFiles") return { title: command, kind: "read", locations };
  return { title: command, kind: "execute" };
}

function fileChangeView({ changes }: JsonRecord): ToolView {
  const files = changesOf(changes);
  const [verb, kind] = verbOf(files);
  const names = [...new Set(files.map(({ target }) => basename(target)))].join(", ");
  return {
    title: `${verb} ${names || "files"}`,
    kind,
    content: diffsOf(changes),
    locations: files.map(({ target, diff, kind: change }) => {
      const [first] = change === "update" ? hunksOf(diff) : [];
      return { path: target, ...(first && { line: first.line }) };
    }),
  };
}

function verbOf(files: readonly FileChange[]): [string, ToolKind] {
  const isAll = (test: (file: FileChange) => boolean): boolean => files.length > 0 && files.every(test);
  if (isAll(({ kind }) => kind === "delete")) return ["Delete", "delete"];
  if (isAll(({ kind }) => kind === "add")) return ["Write", "edit"];
  if (isAll(({ path, target }) => path !== target)) return ["Move", "move"];
  return ["Edit", "edit"];
}

function mcpView(item: JsonRecord): ToolView {
  const { content } = recordOf(item["result"]);
  const failure = textOf(recordOf(item["error"])["message"]);
  const said = failure === "" ? fromToolContent(content).map(toToolContent) : [textContent(failure)];
  return {
    title: `${textOf(item["server"])}: ${textOf(item["tool"])}`,
    kind: "other",
    rawInput: item["arguments"],
    ...(said.length > 0 && { content: said }),
  };
}

function dynamicView(item: JsonRecord): ToolView {
  const said = fromToolContent(item["contentItems"]).map(toToolContent);
  return {
    title: textOf(item["tool"]),
    kind: "other",
    rawInput: item["arguments"],
    ...(said.length > 0 && { content: said }),
  };
}

function searchView({ query, action }: JsonRecord): ToolView {
  const { type, url, pattern, query: asked } = recordOf(action);
  const words = textOf(asked) || textOf(query);
  if (type === "openPage") return { title: `Open ${textOf(url) || "a page"}`, kind: "fetch" };
  if (type === "findInPage") return { title: `Find "${textOf(pattern)}" in ${textOf(url)}`, kind: "fetch" };
  return { title: words ? `Search the web: ${words}` : "Search the web", kind: "fetch" };
}

function imageView({ path }: JsonRecord): ToolView {
  return { title: `Look at ${basename(textOf(path))}`, kind: "read", locations: [{ path: textOf(path) }] };
}

function imageGenerationView({ revisedPrompt, savedPath }: JsonRecord): ToolView {
  const path = textOf(savedPath);
  return { title: "Make an image", kind: "other", rawInput: revisedPrompt, ...(path && { locations: [{ path }] }) };
}

function agentView({ tool, prompt }: JsonRecord): ToolView {
  return { title: `Another agent: ${textOf(tool)}`, kind: "other", rawInput: prompt };
}

/** A tool's text as its content. */
export function textContent(text: string): ToolContent {
  return toToolContent({ type: "text", text });
}

function toToolContent(content: ContentBlock): ToolContent {
  return { type: "content", content };
}
