import { describe, expect, test } from "vitest";
import type { AnswerFacts, SceneEvent, SceneFacts } from "../src/scene/scene-event.js";
import { textReport } from "../src/scene/text-report.js";
import { timelineOf } from "../src/scene/timeline.js";

const answered = (result: Record<string, unknown>, before: number, after: number): AnswerFacts => ({
  result,
  answers: 1,
  modelRequestsBefore: before,
  modelRequestsAfter: after,
});

const FACTS: SceneFacts = {
  owner: answered({ stopReason: "end_turn" }, 0, 5),
  steer: answered({ outcome: "injected" }, 2, 2),
  steerSeen: { request: 3, userMessages: 1, newest: true },
  steerReceipts: [],
  idleSteer: answered({ outcome: "promptRequired" }, 5, 5),
  ownTurn: answered({ stopReason: "end_turn" }, 5, 6),
  ownTurnSeen: { request: 6, userMessages: 1, newest: true },
  toolCalls: 0,
  steerObeyed: false,
  modelRequests: 6,
};

function shown(events: readonly SceneEvent[], options: { color?: boolean; width?: number } = {}): string[] {
  const lines: string[] = [];
  const report = textReport({ writeLine: (line) => lines.push(line), color: false, width: 160, ...options });
  for (const event of events) report(event);
  return lines;
}

const chunk = (at: number, text: string, name = "agent_message_chunk"): SceneEvent => ({
  type: "message",
  at,
  from: "agent",
  to: "client",
  name,
  text,
  chunk: true,
});
const prompt: SceneEvent = {
  type: "message",
  at: 7,
  from: "client",
  to: "agent",
  name: "session/prompt",
  text: "“go”",
};
const request: SceneEvent = {
  type: "message",
  at: 1_234,
  from: "agent",
  to: "model",
  name: "request 1",
  text: "2 messages",
};

describe("lines", () => {
  test("each message is one line, aligned, with its time and direction", () => {
    expect(shown([prompt, request])).toEqual([
      "     7 ms  client ──▶ agent            session/prompt              “go”",
      "  1234 ms             agent ──▶ model  request 1                   2 messages",
    ]);
  });

  test("the pieces of one text are one line, with the time of the first", () => {
    expect(shown([chunk(1, "Hel"), chunk(2, "lo"), chunk(3, "hm", "agent_thought_chunk"), prompt])).toEqual([
      "     1 ms  client ◀── agent            agent_message_chunk         Hello",
      "     3 ms  client ◀── agent            agent_thought_chunk         hm",
      expect.stringContaining("session/prompt"),
    ]);
  });

  test("a text of several lines stays on one line and within the width", () => {
    const long = { ...prompt, text: `first\n  second ${"x".repeat(200)}` } as SceneEvent;
    for (const width of [80, 120]) {
      const [line] = shown([long], { width });
      expect(line).toMatch(/first ⏎ second x+…$/);
      expect(line).toHaveLength(width);
    }
  });

  test("a narrow terminal gets narrow columns", () => {
    expect(shown([prompt, request], { width: 80 })).toEqual([
      "    7  client → agent  session/prompt             “go”",
      " 1234  agent → model   request 1                  2 messages",
    ]);
  });

  test("the cast comes first: who plays", () => {
    const cast: SceneEvent = { type: "cast", at: 0, agent: "some-agent --acp", model: "http://127.0.0.1:1/v1" };
    expect(shown([cast])).toEqual([
      "client  a small ACP client, in this process",
      "agent   some-agent --acp",
      "model   scripted, at http://127.0.0.1:1/v1",
    ]);
  });

  test("without colour there is no escape sequence, with colour the steer stands out", () => {
    const steer: SceneEvent = { ...prompt, about: "steer" } as SceneEvent;
    const escapeSequence = "\u001b[";
    expect(shown([steer]).join("")).not.toContain(escapeSequence);
    expect(shown([steer], { color: true }).join("")).toContain(escapeSequence);
    expect(shown([steer], { color: true })).not.toEqual(shown([prompt], { color: true }));
  });
});

describe("the summary", () => {
  test("the timeline shows the requests of each turn and where the steer came in", () => {
    expect(timelineOf(FACTS)).toEqual([
      "turn 1   prompt ──1──2──◆──[3]──4──5──▶ end_turn",
      "                        ╰ steer: injected, seen by the model in request 3",
      "idle     steer ──▶ promptRequired",
      "turn 2   prompt ──6──▶ end_turn",
    ]);
  });

  test("the timeline of an agent that answered nothing says so", () => {
    const silent: AnswerFacts = { answers: 0, modelRequestsBefore: 0, modelRequestsAfter: 0 };
    const failed: AnswerFacts = { ...silent, error: { code: -32603, message: "x" } };
    const facts = { ...FACTS, owner: failed, steer: silent, steerSeen: { userMessages: 0, newest: false } };
    expect(timelineOf(facts).slice(0, 2)).toEqual([
      "turn 1   prompt ──◆──▶ error -32603",
      "                  ╰ steer: no answer",
    ]);
  });

  test("every check has its line and mark, and the last line says how it ended", () => {
    const check = (verdict: "true" | "false" | "unverified"): SceneEvent => ({
      type: "check",
      at: 9,
      id: "injected",
      title: `is ${verdict}`,
      verdict,
      detail: "seen",
    });
    const lines = shown([
      check("true"),
      check("false"),
      check("unverified"),
      { type: "summary", at: 9, passed: false, facts: FACTS },
    ]);
    expect(lines.filter((line) => /^ {2}[✓✗?]/.test(line)).map((line) => line.slice(2, 9).trim())).toEqual([
      "✓ is tr",
      "✗ is fa",
      "? is un",
    ]);
    expect(lines.at(-1)).toBe("Not true: 1. Could not be verified: 1.");
    expect(shown([check("true"), { type: "summary", at: 9, passed: true, facts: FACTS }]).at(-1)).toBe(
      "All 1 are true.",
    );
  });
});
