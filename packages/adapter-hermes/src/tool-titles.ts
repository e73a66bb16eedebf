import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { ToolStartEvent } from "./bridge-protocol.js";
import type { SessionUpdate } from "./session-update.js";

type ToolKind = NonNullable<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>["kind"]>;

const TITLE_CHARACTERS = 100;

interface Presentation {
  readonly kind: ToolKind;
  readonly title: (args: JsonRecord) => string;
}

const PRESENTATIONS: Readonly<Record<string, Presentation>> = {
  read_file: { kind: "read", title: ({ path }) => `Read ${textOf(path)}` },
  write_file: { kind: "edit", title: ({ path }) => `Write ${textOf(path)}` },
  patch: { kind: "edit", title: ({ path }) => `Edit ${textOf(path) || "files"}` },
  search_files: { kind: "search", title: searchTitle },
  terminal: { kind: "execute", title: ({ command }) => textOf(command) || "Run a command" },
  process: { kind: "execute", title: ({ action, session_id }) => `Process: ${textOf(action)} ${textOf(session_id)}` },
  execute_code: { kind: "execute", title: ({ code }) => `Run Python: ${firstLine(textOf(code))}` },
  delegate_task: { kind: "execute", title: delegateTitle },
  todo: { kind: "other", title: ({ todos }) => (Array.isArray(todos) ? "Update the plan" : "Read the plan") },
  memory: { kind: "other", title: ({ action, target }) => `Memory: ${textOf(action)} ${textOf(target)}` },
  session_search: { kind: "search", title: ({ query }) => `Search past sessions ${quoted(query)}` },
  skill_view: { kind: "read", title: ({ name }) => `Read skill ${textOf(name)}` },
  skills_list: { kind: "read", title: () => "List skills" },
  skill_manage: { kind: "edit", title: ({ action, name }) => `Skill: ${textOf(action)} ${textOf(name)}` },
  web_search: { kind: "fetch", title: ({ query }) => `Search the web ${quoted(query)}` },
  web_extract: { kind: "fetch", title: ({ urls }) => `Read ${listOf(urls).map(urlOf).join(", ")}` },
  browser_navigate: { kind: "fetch", title: ({ url }) => `Open ${textOf(url)}` },
  browser_snapshot: { kind: "read", title: () => "Browser: read the page" },
  browser_vision: { kind: "read", title: ({ question }) => `Browser: look at the page ${quoted(question)}` },
  browser_get_images: { kind: "read", title: () => "Browser: list images" },
  browser_click: { kind: "execute", title: ({ ref }) => `Browser: click ${textOf(ref)}` },
  browser_type: { kind: "execute", title: ({ ref }) => `Browser: type into ${textOf(ref)}` },
  browser_press: { kind: "execute", title: ({ key }) => `Browser: press ${textOf(key)}` },
  browser_scroll: { kind: "execute", title: ({ direction }) => `Browser: scroll ${textOf(direction)}` },
  browser_back: { kind: "execute", title: () => "Browser: go back" },
  vision_analyze: { kind: "read", title: ({ question }) => `Look at an image ${quoted(question)}` },
  image_generate: { kind: "execute", title: ({ prompt }) => `Generate an image ${quoted(prompt)}` },
  text_to_speech: { kind: "execute", title: () => "Speak" },
  _thinking: { kind: "think", title: () => "Think" },
};

/** A map, since the model may name any tool, `toString` too. */
const KNOWN: ReadonlyMap<string, Presentation> = new Map(Object.entries(PRESENTATIONS));

export function toolKind(name: string): ToolKind {
  return KNOWN.get(name)?.kind ?? "other";
}

/** One line that tells the user what the tool is about to do. */
export function toolTitle({ name, args }: Pick<ToolStartEvent, "name" | "args">): string {
  const title = KNOWN.get(name)?.title(args).replaceAll(/\s+/g, " ").trim() || name;
  return title.length > TITLE_CHARACTERS ? `${title.slice(0, TITLE_CHARACTERS - 1)}…` : title;
}

function searchTitle({ pattern, path, target }: JsonRecord): string {
  const verb = target === "files" ? "Find" : "Search";
  return `${verb} ${quoted(pattern)}${textOf(path) ? ` in ${textOf(path)}` : ""}`;
}

function delegateTitle({ tasks, goal }: JsonRecord): string {
  return Array.isArray(tasks) ? `Delegate ${tasks.length} tasks` : `Delegate: ${textOf(goal)}`;
}

function urlOf(value: unknown): string {
  return textOf(value) || textOf(recordOf(value)["url"]);
}

function firstLine(text: string): string {
  return text.trim().split("\n", 1)[0] ?? "";
}

function quoted(value: unknown): string {
  const text = textOf(value);
  return text === "" ? "" : `"${text}"`;
}
