import pc from "picocolors";
import { describe, expect, test } from "vitest";
import type { RecordedMessage, RecordingHead } from "../src/record/recording.js";
import { htmlTimeline } from "../src/trace/html-timeline.js";
import { textTimeline } from "../src/trace/text-timeline.js";
import type { Timeline } from "../src/trace/timeline.js";
import { traceOf } from "../src/trace/trace.js";

const HEAD: RecordingHead = {
  recording: "acp-steer-1",
  started: "2026-01-02T03:04:05.000Z",
  command: ["an-agent"],
  content: true,
};
const sessionId = "session-1";
const turnId = "turn-1";

type Line = readonly [at: number, flow: RecordedMessage["flow"], message: Record<string, unknown>];

const update = (at: number, kind: string, more: Record<string, unknown> = {}): Line => [
  at,
  "toClient",
  { method: "session/update", params: { sessionId, update: { sessionUpdate: kind, ...more } } },
];
const receipt = (at: number, state: string, more: Record<string, unknown> = {}): Line => [
  at,
  "toClient",
  { method: "_session/steering/update", params: { sessionId, turnId, state, ...more } },
];
const prompt = (text: string) => ({ sessionId, prompt: [{ type: "text", text }] });

async function trace(lines: readonly Line[]): Promise<Timeline> {
  async function* entries() {
    yield HEAD;
    for (const [at, flow, message] of lines) yield { at, flow, message, bytes: 1 };
  }
  return traceOf(entries());
}

/** A turn with a tool that asks, a steer that continues it, one that comes too late, and a prompt that waits. */
const STORY: readonly Line[] = [
  [0, "fromClient", { id: 1, method: "session/prompt", params: prompt("Fix <it>") }],
  receipt(1, "turnStarted"),
  [2, "toAgent", { id: "run-1", method: "session/prompt", params: prompt("Fix <it>") }],
  update(100, "agent_message_chunk"),
  update(200, "tool_call", { toolCallId: "t-1", kind: "execute", status: "pending" }),
  [210, "toClient", { id: 9, method: "session/request_permission", params: { sessionId } }],
  [400, "fromClient", { id: 9, result: { outcome: { outcome: "selected", optionId: "allow" } } }],
  [450, "fromClient", { id: 2, method: "_session/steering", params: prompt("not that file") }],
  [452, "toClient", { id: 2, result: { outcome: "injected", _meta: { steering: { messageId: "m-1", turnId } } } }],
  [460, "fromClient", { id: 3, method: "session/prompt", params: prompt("Next") }],
  update(500, "tool_call_update", { toolCallId: "t-1", status: "completed" }),
  [600, "fromAgent", { id: "run-1", result: { stopReason: "end_turn" } }],
  [
    601,
    "toAgent",
    {
      id: "run-2",
      method: "session/prompt",
      params: { ...prompt("x"), _meta: { steering: { turnId, continuation: true, messageIds: ["m-1"] } } },
    },
  ],
  receipt(650, "delivered", { messageId: "m-1" }),
  [700, "fromClient", { id: 4, method: "_session/steering", params: prompt("and quickly") }],
  [701, "toClient", { id: 4, result: { outcome: "injected", _meta: { steering: { messageId: "m-2", turnId } } } }],
  [800, "fromClient", { method: "session/cancel", params: { sessionId } }],
  [900, "fromAgent", { id: "run-2", result: { stopReason: "cancelled" } }],
  receipt(901, "undelivered", { messageId: "m-2", reason: "cancelled" }),
  [902, "toClient", { id: 1, result: { stopReason: "cancelled" } }],
  [903, "toClient", { id: 3, result: { stopReason: "cancelled" } }],
];

describe("a recording, read", () => {
  test("is turns with all that happened in them", async () => {
    const { turns } = await trace(STORY);
    expect(turns).toHaveLength(1);
    expect(turns[0]).toMatchObject({
      turnId,
      number: 1,
      begin: 2,
      end: 902,
      ending: "cancelled",
      runs: [
        { begin: 2, end: 600 },
        { begin: 601, end: 900 },
      ],
      tools: [{ label: "execute", begin: 200, end: 500, status: "completed" }],
      questions: [{ what: "permission", begin: 210, end: 400, answer: "allow" }],
      cancels: [800],
      steers: [
        { asked: 450, answered: 452, outcome: "injected", handedOver: 601, delivered: 650 },
        { asked: 700, outcome: "injected", undelivered: { at: 901, reason: "cancelled" } },
      ],
    });
  });

  test("without receipts, a steer's end is told by the owner's answer", async () => {
    const lines = STORY.filter(([, , { method }]) => method !== "_session/steering/update");
    const report = { turnId, undelivered: [{ messageId: "m-2", reason: "cancelled" }] };
    const { turns } = await trace(
      lines.map(
        ([at, flow, message]): Line =>
          flow === "toClient" && message["id"] === 1
            ? [at, flow, { id: 1, result: { stopReason: "cancelled", _meta: { steering: report } } }]
            : [at, flow, message],
      ),
    );
    expect(turns[0]?.steers).toMatchObject([{ delivered: 601 }, { undelivered: { at: 902, reason: "cancelled" } }]);
  });

  test("a steer by a method of the agent's own is handed over where it is sent", async () => {
    const { turns } = await trace([
      ...STORY.slice(0, 9),
      [455, "toAgent", { id: "own-1", method: "_vendor/steer", params: { sessionId } }],
    ]);
    expect(turns[0]?.steers).toMatchObject([{ handedOver: 455 }]);
    expect(turns[0]?.end).toBeUndefined();
  });

  test("lines that are no messages are counted", async () => {
    async function* entries() {
      yield HEAD;
      yield { at: 1, flow: "fromAgent", bytes: 3 } as const;
    }
    expect(await traceOf(entries())).toMatchObject({ turns: [], unreadable: 1 });
  });
});

describe("a recording, drawn", () => {
  const plain = { colors: pc.createColors(false), width: 120 };

  test("in a terminal, every line fits, and each thing has its row", async () => {
    const text = textTimeline(await trace(STORY), plain);
    for (const label of ["run", "continued", "says", "execute", "permission", "steer 1", "steer 2", "cancel"]) {
      expect(text).toMatch(new RegExp(`^ {2}${label} `, "m"));
    }
    expect(text).toContain("injected after 2 ms, at the agent after 151 ms, delivered after 200 ms");
    expect(text).toContain("not delivered: cancelled");
    expect(text).toContain("Fix <it>");
    expect(text).not.toContain("\u001b");
  });

  test("control characters of a text do not reach the terminal", async () => {
    const [, ...rest] = STORY;
    const text = textTimeline(
      await trace([
        [0, "fromClient", { id: 1, method: "session/prompt", params: prompt("a\u001b[31m\u0007b") }],
        ...rest,
      ]),
      plain,
    );
    expect(text).not.toMatch(/[^\P{Cc}\n]/u);
  });

  test("as a page, texts are texts, and nothing is fetched", async () => {
    const page = htmlTimeline(await trace(STORY));
    expect(page).toContain("Fix &lt;it&gt;");
    expect(page).not.toMatch(/<script|https?:|url\(|@import/);
    expect(page).toContain('class="point delivered"');
  });

  test("a turn of no length and one that did not end are drawn too", async () => {
    const [first, , third] = STORY;
    if (!first || !third) throw new Error("the story has begun otherwise");
    expect(textTimeline(await trace([first, third]), plain)).toContain("not ended");
    expect(htmlTimeline(await trace([first, third]))).not.toContain("NaN");
  });
});
