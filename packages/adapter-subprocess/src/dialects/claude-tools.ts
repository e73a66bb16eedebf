import { basename } from "node:path";
import type { ContentBlock } from "@acp-steering/core";
import { isRecord, type JsonRecord, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { SessionUpdate } from "../dialect.js";
import { fromClaudeContent } from "./claude-content.js";

type ToolCall = Extract<SessionUpdate, { sessionUpdate: "tool_call" }>;
type ToolContent = NonNullable<ToolCall["content"]>[number];
type ToolKind = NonNullable<ToolCall["kind"]>;
type ToolLocation = NonNullable<ToolCall["locations"]>[number];

/** How a call of one of Claude Code's tools looks. */
export interface ToolView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content?: ToolContent[];
  readonly locations?: ToolLocation[];
}

/** What a tool gave, as Claude Code gives it on. */
export interface ToolOutcome {
  readonly content: unknown;
  /** The same in the tool's own shape. */
  readonly details: unknown;
  readonly isError: boolean;
}

const VIEWS: ReadonlyMap<string, (input: JsonRecord) => ToolView> = new Map([
  ["Bash", commandView],
  ["Read", ({ file_path, offset }) => fileView("Read", "read", file_path, numberOf(offset))],
  ["Write", writeView],
  ["Edit", editView],
  ["NotebookEdit", ({ notebook_path }) => fileView("Edit", "edit", notebook_path)],
  ["Glob", ({ pattern }) => ({ title: `Find ${textOf(pattern)}`, kind: "search" })],
  ["Grep", ({ pattern }) => ({ title: `Search ${textOf(pattern)}`, kind: "search" })],
  ["WebFetch", ({ url }) => ({ title: `Open ${textOf(url)}`, kind: "fetch" })],
  ["WebSearch", ({ query }) => ({ title: `Search the web: ${textOf(query)}`, kind: "fetch" })],
  ["Task", agentView],
  ["Agent", agentView],
  ["Skill", ({ skill }) => ({ title: `Skill ${textOf(skill)}`, kind: "other" })],
  ["AskUserQuestion", ({ questions }) => ({ title: questionsOf(questions) || "Ask the user", kind: "other" })],
  ["EnterPlanMode", () => ({ title: "Begin to plan", kind: "switch_mode" })],
  ["ExitPlanMode", planView],
]);

/** A call as it begins, or as the user is asked about it. While its input still comes, only the tool's name is known. */
export function toolView(name: string, input: JsonRecord): ToolView {
  return VIEWS.get(name)?.(input) ?? { title: titleOfOther(name), kind: "other" };
}

/** What is to be seen of a call's end, beside what {@link toolView} shows. */
export function outcomeView(name: string, { content, details, isError }: ToolOutcome): Partial<ToolView> {
  const said = fromClaudeContent(content).map(toToolContent);
  if (isError || !EDITORS.includes(name)) return said.length > 0 ? { content: said } : {};
  const { structuredPatch, filePath, type } = recordOf(details);
  const [first] = listOf(structuredPatch).filter(isRecord);
  const path = textOf(filePath);
  const before = recordOf(details)["originalFile"];
  return {
    ...(first && path !== "" && { locations: [{ path, line: numberOf(first["newStart"]) }] }),
    ...(type === "update" &&
      typeof before === "string" && { content: [diffOf(path, before, textOf(recordOf(details)["content"]))] }),
  };
}

/** A tool's text as its content. */
export function textContent(text: string): ToolContent {
  return toToolContent({ type: "text", text });
}

/** Their results only say that it was done; the call shows what. */
const EDITORS: readonly string[] = ["Write", "Edit", "NotebookEdit"];

function commandView({ command, description }: JsonRecord): ToolView {
  const said = textOf(description);
  return {
    title: textOf(command) || "Run a command",
    kind: "execute",
    ...(said !== "" && { content: [textContent(said)] }),
  };
}

function writeView({ file_path, content }: JsonRecord): ToolView {
  const view = fileView("Write", "edit", file_path);
  return typeof content === "string" ? { ...view, content: [diffOf(textOf(file_path), null, content)] } : view;
}

function editView({ file_path, old_string, new_string }: JsonRecord): ToolView {
  const view = fileView("Edit", "edit", file_path);
  const isWhole = typeof old_string === "string" && typeof new_string === "string";
  return isWhole ? { ...view, content: [diffOf(textOf(file_path), old_string, new_string)] } : view;
}

function fileView(verb: string, kind: ToolKind, file: unknown, line = 0): ToolView {
  const path = textOf(file);
  if (path === "") return { title: `${verb} a file`, kind };
  return { title: `${verb} ${basename(path)}`, kind, locations: [{ path, ...(line > 0 && { line }) }] };
}

function agentView({ description, prompt }: JsonRecord): ToolView {
  const errand = textOf(prompt);
  return {
    title: textOf(description) || "Another agent",
    kind: "think",
    ...(errand !== "" && { content: [textContent(errand)] }),
  };
}

function planView({ plan }: JsonRecord): ToolView {
  const text = textOf(plan);
  return { title: "Ready to go to work?", kind: "switch_mode", ...(text !== "" && { content: [textContent(text)] }) };
}

function questionsOf(questions: unknown): string {
  return listOf(questions)
    .map((question) => textOf(recordOf(question)["question"]))
    .join(" ");
}

/** Tools of MCP servers are named `mcp__server__tool`. */
function titleOfOther(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server !== undefined && tool !== undefined ? `${server}: ${tool}` : name;
}

function diffOf(path: string, oldText: string | null, newText: string): ToolContent {
  return { type: "diff", path, oldText, newText };
}

function toToolContent(content: ContentBlock): ToolContent {
  return { type: "content", content };
}
