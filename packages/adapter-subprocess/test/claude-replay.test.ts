import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { SessionUpdate } from "../src/dialect.js";
import { ClaudeReplay } from "../src/dialects/claude-replay.js";
import { currentBranch, readEntries, summaryOf } from "../src/dialects/claude-session-file.js";

/** A session of the real Claude Code: a task, a steer while a tool ran, `/cost`, `/compact`, another prompt. */
const RECORDED = fileURLToPath(new URL("fixtures/claude-session.jsonl", import.meta.url));

function shownOf(entries: Parameters<ClaudeReplay["entries"]>[0]): SessionUpdate[] {
  const shown: SessionUpdate[] = [];
  new ClaudeReplay((update) => shown.push(update)).entries(entries);
  return shown;
}

describe("a recorded session of Claude Code", () => {
  test("is shown with what the user said meanwhile, what was before the compaction, and nothing in the user's name", async () => {
    const shown = shownOf(currentBranch(await readEntries(RECORDED)));
    expect(shown).toMatchObject([
      { sessionUpdate: "user_message_chunk", content: { text: "Look around" } },
      { sessionUpdate: "agent_thought_chunk", content: { text: "Hm." } },
      { sessionUpdate: "agent_message_chunk", content: { text: "I look." } },
      { sessionUpdate: "tool_call", title: "sleep 0.5; echo seen", kind: "execute" },
      { sessionUpdate: "tool_call_update", status: "in_progress" },
      { sessionUpdate: "tool_call_update", status: "completed", content: [{ content: { text: "seen" } }] },
      { sessionUpdate: "user_message_chunk", content: { text: "And mind the steer" } },
      { sessionUpdate: "tool_call", title: "Write notes.txt", kind: "edit" },
      { sessionUpdate: "tool_call_update", status: "in_progress", content: [{ type: "diff", newText: "one\n" }] },
      { sessionUpdate: "tool_call_update", status: "completed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done 2." } },
      { sessionUpdate: "user_message_chunk", content: { text: "/usage" } },
      { sessionUpdate: "user_message_chunk", content: { text: "/compact" } },
      { sessionUpdate: "user_message_chunk", content: { text: "Go on" } },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done 5." } },
    ]);
  });

  test("is named by its first words, by a model's name for it, and by the user's before all", async () => {
    const entries = await readEntries(RECORDED);
    expect(summaryOf(entries)).toEqual({ cwd: "/project", title: "Look around" });
    const named = [...entries, { type: "ai-title", aiTitle: "A look" }];
    expect(summaryOf(named).title).toBe("A look");
    expect(summaryOf([...named, { type: "custom-title", customTitle: "Mine" }]).title).toBe("Mine");
  });

  test("is shown without a branch that was left", async () => {
    const entries = await readEntries(RECORDED);
    const anchor = entries.find(
      ({ type, message }) => type === "assistant" && JSON.stringify(message).includes("I look."),
    );
    const uuid = "00000000-0000-4000-8000-000000000099";
    const message = { role: "user", content: [{ type: "text", text: "Otherwise" }] };
    const shown = shownOf(currentBranch([...entries, { type: "user", uuid, parentUuid: anchor?.["uuid"], message }]));
    expect(shown.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "user_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "user_message_chunk",
    ]);
  });
});
