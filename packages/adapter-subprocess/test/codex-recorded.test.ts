import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { SteerMessage } from "@acp-steering/kit";
import { describe, expect, test } from "vitest";
import type { Opening } from "../src/dialect.js";
import { keptItems } from "../src/dialects/codex-withdrawal.js";
import { CodexPlayback, fixture, turnOf } from "./codex-playback.js";

const OPENING: Opening = { kind: "new", cwd: "/project", mcpServers: [], additionalDirectories: [] };

/** The steers' names in the recordings. */
const LATE = "c6aae054-bb80-45db-9d1a-89d2c664a446";
const OVERTAKEN = "4c9d35c7-eeab-4595-b271-a6920cb059ea";

function steerOf(messageId: string): { message: SteerMessage; reports: string[] } {
  const reports: string[] = [];
  const message: SteerMessage = {
    messageId,
    turnId: "turn",
    prompt: [{ type: "text", text: "And this" }],
    signal: new AbortController().signal,
    delivered: () => reports.push("delivered"),
    undelivered: () => reports.push("undelivered"),
  };
  return { message, reports };
}

describe("recorded sessions of Codex", () => {
  test("a turn with a thought, a question, commands and a new file is shown as such", async () => {
    const codex = new CodexPlayback("codex-turn.jsonl");
    await codex.session.start(OPENING);
    const { turn, updates, questions } = turnOf("Look around");
    const outcome = await codex.session.prompt(turn);
    expect(outcome).toMatchObject({
      stopReason: "end_turn",
      usage: { inputTokens: 100, outputTokens: 10, totalTokens: 110 },
    });
    expect(questions).toMatchObject([
      {
        toolCall: { toolCallId: "call_0_1", title: "touch made" },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    ]);
    expect(updates.filter(({ sessionUpdate }) => sessionUpdate !== "usage_update")).toMatchObject([
      { sessionUpdate: "agent_thought_chunk", content: { text: "I think." } },
      { sessionUpdate: "agent_message_chunk", content: { text: "I look." } },
      { sessionUpdate: "tool_call", title: "touch made", kind: "execute", status: "in_progress" },
      { sessionUpdate: "tool_call_update", toolCallId: "call_0_1", status: "completed" },
      { sessionUpdate: "tool_call", title: "Read hostname", kind: "read", locations: [{ path: "/etc/hostname" }] },
      { sessionUpdate: "tool_call_update", toolCallId: "call_0_0", status: "completed" },
      {
        sessionUpdate: "tool_call",
        title: "Write notes.txt",
        kind: "edit",
        content: [{ type: "diff", newText: "one\n" }],
      },
      { sessionUpdate: "tool_call_update", toolCallId: "call_1_0", status: "completed" },
      { sessionUpdate: "agent_message_chunk", content: { text: "Done." } },
    ]);
    expect(codex.finished).toBe(true);
  });

  test("G1 no lost steer: one that comes with the end of Codex' turn has the model asked again, in the same prompt", async () => {
    const codex = new CodexPlayback("codex-late-steer.jsonl");
    await codex.session.start(OPENING);
    const { turn } = turnOf("Look around");
    const { message, reports } = steerOf(LATE);
    const steering = codex.untilItIs("turn/steer").then(() => codex.session.steer(message));
    const asking = codex.untilItIs("turn/start").then(() => [...reports]);
    const outcome = await codex.session.prompt(turn);
    expect(await steering).toBe("accepted");
    expect(await asking).toEqual([]);
    expect([outcome.stopReason, reports]).toEqual(["end_turn", ["delivered"]]);
    expect(outcome.usage?.totalTokens).toBe(24);
    expect(codex.finished).toBe(true);
  });

  test("G7 isolation: a steer that nobody has read is taken out of the conversation with the cancelled turn", async () => {
    const codex = new CodexPlayback("codex-overtaken-steer.jsonl", {
      "/codex-home/rollout.jsonl": fileURLToPath(fixture("codex-rollout.jsonl")),
    });
    await codex.session.start(OPENING);
    const { message, reports } = steerOf(OVERTAKEN);
    const steering = codex.untilItIs("turn/steer").then(() => codex.session.steer(message));
    void codex.untilItIs("turn/interrupt").then(() => codex.session.interrupt());
    const outcome = await codex.session.prompt(turnOf("Look around").turn);
    expect([await steering, outcome.stopReason, reports]).toEqual(["accepted", "cancelled", ["undelivered"]]);
    expect(await codex.session.prompt(turnOf("Next").turn)).toMatchObject({ stopReason: "end_turn" });
    expect(codex.finished).toBe(true);
    expect(codex.logged).toEqual([]);
  });

  test("what stays of a turn is all that the model had and gave, without the message that is taken out", () => {
    const rollout = readFileSync(fixture("codex-rollout.jsonl"), "utf8");
    const turnId = /"turn_context","payload":\{"turn_id":"([^"]+)"/.exec(rollout)?.[1] ?? "";
    const textsOf = (items: readonly object[]): unknown[] =>
      items.map((item) => (item as { content: { text: string }[] }).content[0]?.text);
    expect(textsOf(keptItems(rollout, turnId, [OVERTAKEN]))).toEqual(["Look around", "<turn_aborted>"]);
    expect(textsOf(keptItems(rollout, turnId, []))).toEqual(["Look around", "And this", "<turn_aborted>"]);
    expect(() => keptItems(rollout, "another", [])).toThrow("no turn another");
  });
});
