import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { PiTool, toolsOf } from "../src/dialects/pi-tools.js";

function announced(name: string, args: Record<string, unknown>): unknown {
  return new PiTool({ id: "call", name, arguments: args }, toolsOf("/project")).announced();
}

describe("a tool call as it is announced", () => {
  test.each([
    [
      "grep",
      { pattern: "x+", path: "src" },
      { kind: "search", title: 'Search "x+" in src', locations: [{ path: "/project/src" }] },
    ],
    ["find", { pattern: "*.ts" }, { kind: "search", title: 'Find "*.ts"', locations: [] }],
    ["ls", {}, { kind: "read", title: "List ." }],
    ["bash", {}, { kind: "execute", title: "Run a command" }],
    ["read", { file_path: "~/notes" }, { locations: [{ path: `${homedir()}/notes` }] }],
    ["read", { path: "/etc/hosts" }, { locations: [{ path: "/etc/hosts" }] }],
    ["some_extension_tool", { a: 1 }, { kind: "other", title: "some_extension_tool", rawInput: { a: 1 } }],
    ["toString", {}, { kind: "other", title: "toString" }],
  ])("%s %j", (name, args, expected) => {
    expect(announced(name, args)).toMatchObject(expected);
  });

  test.each([
    [
      "a list",
      {
        edits: [
          { oldText: "a", newText: "b" },
          { oldText: "c", newText: "d" },
        ],
      },
      ["a", "c"],
    ],
    ["JSON text", { edits: '[{"oldText":"a","newText":"b"}]' }, ["a"]],
    ["one edit beside the list", { oldText: "a", newText: "b" }, ["a"]],
    ["rubbish", { edits: "[", oldText: 7 }, []],
  ])("edits as %s become diffs", (_form, args, oldTexts) => {
    expect(announced("edit", { path: "a.txt", ...args })).toMatchObject({
      content: oldTexts.map((oldText) => ({ type: "diff", path: "/project/a.txt", oldText })),
    });
  });

  test("a write shows what it replaces, where that is still there to be read", () => {
    const folder = mkdtempSync(join(tmpdir(), "acp-steering-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "old.txt"), "before");
    const write = (path: string, content: string): unknown =>
      new PiTool({ id: "call", name: "write", arguments: { path, content } }, toolsOf(folder)).announced();
    const oldTextOf = (oldText: string | null): object => ({ content: [{ type: "diff", oldText }] });
    expect(write("old.txt", "after")).toMatchObject(oldTextOf("before"));
    expect(write("old.txt", "before")).toMatchObject(oldTextOf(null));
    expect(write("new.txt", "after")).toMatchObject(oldTextOf(null));
  });
});
