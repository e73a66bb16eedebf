import { describe, expect, test } from "vitest";
import type { ToolEndEvent, ToolStartEvent } from "../src/bridge-protocol.js";
import type { SessionUpdate } from "../src/session-update.js";
import { ToolCard } from "../src/tool-cards.js";
import { RESULT_CHARACTERS } from "../src/tool-results.js";

function start(name: string, args: Record<string, unknown> = {}, more: Partial<ToolStartEvent> = {}): ToolStartEvent {
  return { type: "tool_start", call: "c1", name, args, ...more };
}

function end(name: string, result: unknown, more: Partial<ToolEndEvent> = {}): ToolEndEvent {
  const text = typeof result === "string" ? result : JSON.stringify(result);
  return { type: "tool_end", call: "c1", name, result: text, length: text.length, failed: false, ...more };
}

function ended(name: string, result: unknown, more: Partial<ToolEndEvent> = {}): SessionUpdate[] {
  return new ToolCard(start(name)).ended(end(name, result, more));
}

/** The text that an editor shows for a result. */
function shown(name: string, result: unknown, more: Partial<ToolEndEvent> = {}): string {
  const [update] = ended(name, result, more) as { content?: { content: { text: string } }[] }[];
  return (update?.content ?? []).map(({ content }) => content.text).join("\n");
}

describe("a tool call", () => {
  test.each([
    ["read_file", { path: "a.ts" }, "read", "Read a.ts"],
    ["write_file", { path: "a.ts" }, "edit", "Write a.ts"],
    ["patch", { path: "a.ts" }, "edit", "Edit a.ts"],
    ["patch", { mode: "patch" }, "edit", "Edit files"],
    ["search_files", { pattern: "foo", path: "src" }, "search", 'Search "foo" in src'],
    ["search_files", { pattern: "*.ts", target: "files" }, "search", 'Find "*.ts"'],
    ["terminal", { command: "npm test\n" }, "execute", "npm test"],
    ["execute_code", { code: "import os\nprint(1)" }, "execute", "Run Python: import os"],
    ["delegate_task", { goal: "Review" }, "execute", "Delegate: Review"],
    ["delegate_task", { tasks: [{}, {}] }, "execute", "Delegate 2 tasks"],
    ["web_search", { query: "acp" }, "fetch", 'Search the web "acp"'],
    [
      "web_extract",
      { urls: ["https://a.example", { url: "https://b.example" }] },
      "fetch",
      "Read https://a.example, https://b.example",
    ],
    ["todo", { todos: [] }, "other", "Update the plan"],
    ["skill_view", { name: "pdf" }, "read", "Read skill pdf"],
    ["browser_click", { ref: "@e1" }, "execute", "Browser: click @e1"],
    ["_thinking", {}, "think", "Think"],
    ["mcp_server_tool", { path: 3 }, "other", "mcp_server_tool"],
    ["toString", {}, "other", "toString"],
    ["read_file", { path: 3 }, "read", "Read"],
  ])("%s %j is shown as %s: %s", (name, args, kind, title) => {
    expect(new ToolCard(start(name, args)).started()).toMatchObject({
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      status: "in_progress",
      kind,
      title,
      rawInput: args,
    });
  });

  test("a long title is cut, the command stands whole in the card", () => {
    const command = `echo ${"x".repeat(200)}`;
    const card = new ToolCard(start("terminal", { command })).started() as { title: string; content: unknown };
    expect(card.title).toHaveLength(100);
    expect(card.content).toEqual([
      { type: "content", content: { type: "text", text: `\`\`\`sh\n${command}\n\`\`\`` } },
    ]);
  });

  test("locations are the files it is about, with the line where reading begins", () => {
    const card = new ToolCard(start("read_file", { path: "a.ts", offset: 7 }, { paths: ["/p/a.ts"] }));
    expect(card.started()).toMatchObject({ locations: [{ path: "/p/a.ts", line: 7 }] });
  });

  test("edits are diffs at the start and at the end, unless the tool failed", () => {
    const edits = [{ path: "/p/a.ts", oldText: "a", newText: "b" }];
    const diff = [{ type: "diff", path: "/p/a.ts", oldText: "a", newText: "b" }];
    const card = new ToolCard(start("patch", {}, { edits }));
    expect(card.started()).toMatchObject({ content: diff, locations: [{ path: "/p/a.ts" }] });
    expect(card.ended(end("patch", { success: true }))).toMatchObject([{ status: "completed", content: diff }]);
    expect(card.ended(end("patch", { error: "no match" }, { failed: true }))).toMatchObject([
      { status: "failed", content: [{ type: "content", content: { text: "no match" } }] },
    ]);
  });

  test("one that the turn's end cut off has failed, without a made-up result", () => {
    const [update] = ended("terminal", "", { unfinished: true });
    expect(update).toEqual({ sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" });
  });
});

describe("a result", () => {
  test("of a command is its output and an exit code that is not 0", () => {
    expect(shown("terminal", { output: "hello\n", exit_code: 0, error: null })).toBe("```\nhello\n```");
    expect(shown("terminal", { output: "no", exit_code: 2, error: "boom" })).toBe(
      "```\nno\n```\n\nExit code 2\n\nboom",
    );
  });

  test("of a read file is its text without Hermes' line numbers", () => {
    expect(shown("read_file", { content: "     1|# Title\n    10|a|b", total_lines: 2 })).toBe(
      "```\n# Title\na|b\n```",
    );
  });

  test("of a search is its matches, also with a hint for the model behind the JSON", () => {
    const matches = { total_count: 1, matches: [{ path: "a.ts", line: 3, content: "foo" }] };
    expect(shown("search_files", matches)).toBe("```\na.ts:3: foo\n```");
    expect(shown("search_files", `${JSON.stringify(matches)}\n\n[Hint: use offset]`)).toBe("```\na.ts:3: foo\n```");
    expect(shown("search_files", { total_count: 1, files: ["b.ts"] })).toBe("```\nb.ts\n```");
    expect(shown("search_files", { total_count: 1, matches_text: "a.ts\n  3: foo" })).toBe("```\na.ts\n  3: foo\n```");
    expect(shown("search_files", { total_count: 0 })).toBe("Nothing found");
  });

  test("that contains a fence cannot break out of it", () => {
    expect(shown("terminal", { output: "````\n# not a title", exit_code: 0 })).toBe(
      "`````\n````\n# not a title\n`````",
    );
  });

  test("that is long is cut with a note of how much", () => {
    const text = shown("some_tool", "x".repeat(RESULT_CHARACTERS + 500));
    expect(text).toMatch(/x\n```\n\n500 of 8500 characters are not shown\.$/);
    expect(shown("terminal", '{"output": "xx', { length: 300_000 })).toMatch(/of 300000 characters are not shown\.$/);
  });

  test("of todo is also a plan, cancelled steps done with", () => {
    const todos = [
      { id: "1", content: "Read", status: "completed" },
      { id: "2", content: "Write", status: "in_progress" },
      { id: "3", content: "Skip", status: "cancelled" },
      { id: "4", content: "Later", status: "pending" },
    ];
    expect(ended("todo", { todos })[1]).toEqual({
      sessionUpdate: "plan",
      entries: [
        { content: "Read", priority: "medium", status: "completed" },
        { content: "Write", priority: "medium", status: "in_progress" },
        { content: "Cancelled: Skip", priority: "medium", status: "completed" },
        { content: "Later", priority: "medium", status: "pending" },
      ],
    });
    expect(ended("todo", "{broken")).toHaveLength(1);
  });
});
