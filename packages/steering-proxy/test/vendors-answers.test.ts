import type { ContentBlock, Verdict } from "@acp-steering/core";
import { describe, expect, test } from "vitest";
import type { AgentAnswer } from "../src/vendor-steering.js";
import { answered, error, INITIALIZED, type Json, ScriptedAgent, settled, steer } from "./stand-ins/scripted-agent.js";

describe("what is asked of each", () => {
  test.each<[string, string, Json]>([
    ["reasonix", "_reasonix.io/session/steer", { prompt: [{ type: "text", text: "a" }] }],
    ["kimchi", "_kimchi.dev/steering", { prompt: "a" }],
    ["minimax", "mcode/session/steer", { text: "a" }],
    ["poolside", "_poolside/session_steer", { prompt: [{ type: "text", text: "a" }] }],
    ["nooa", "_nooa/session/inject", { mode: "steer", prompt: [{ type: "text", text: "a" }] }],
    ["kiro", "_session/steer", { message: "<user_message>a</user_message>" }],
    ["prompt", "session/prompt", { prompt: [{ type: "text", text: "a" }] }],
    ["native", "_session/steering", { _meta: { steering: { idleBehavior: "promptRequired" } } }],
  ])("%s: %s", (dialect, method, params) => {
    const agent = new ScriptedAgent(dialect);
    steer(agent, "a");
    expect(agent.last.method).toBe(method);
    expect(agent.last.params).toMatchObject({ sessionId: "s1", ...params });
  });

  test("each has the steer's own id where there is room for one", () => {
    for (const [dialect, member] of [
      ["minimax", "clientRequestId"],
      ["poolside", "inputId"],
      ["kiro", "messageId"],
    ] as const) {
      const agent = new ScriptedAgent(dialect);
      const { call } = steer(agent);
      expect(agent.last.params[member]).toBe(call.messageId);
    }
  });

  test("several blocks of text are one text, a line each, and nothing is lost", () => {
    const agent = new ScriptedAgent("kimchi");
    const blocks = ["  first\n", "", "/second"].map((text): ContentBlock => ({ type: "text", text }));
    steer(agent, blocks);
    expect(agent.last.params["prompt"]).toBe("  first\n\n\n/second");
  });

  test("prompts have as long as they take", () => {
    const agent = new ScriptedAgent("prompt");
    steer(agent);
    expect(agent.last.timeoutMs).toBe(Number.POSITIVE_INFINITY);
  });

  test("opencrabs is notified", async () => {
    const agent = new ScriptedAgent("opencrabs");
    expect(await steer(agent, "a").verdict).toBe("accepted");
    expect(agent.notified).toEqual([
      { method: "session/steer", params: { sessionId: "s1", prompt: [{ type: "text", text: "a" }] } },
    ]);
    expect(agent.sent).toEqual([]);
  });
});

describe("G1 no lost steer: what is not there is continued", () => {
  test.each<[string, Verdict, AgentAnswer]>([
    ["native", "tooLate", { result: { outcome: "promptRequired", reason: "noRunningTurn" } }],
    ["native", "unsupported", { result: { outcome: "failed" } }],
    ["goose", "tooLate", error(-32602, "no active run to steer")],
    ["goose", "tooLate", error(-32602, { expectedRunId: "r1", actualRunId: "r2" })],
    ["goose", "unsupported", error(-32602, "prompt must contain steerable content")],
    ["kimchi", "tooLate", { result: { status: "promptRequired" } }],
    ["kimchi", "unsupported", error(-32602)],
    ["reasonix", "tooLate", error(-32600)],
    ["kiro", "tooLate", { result: { queued: false } }],
    ["minimax", "unsupported", error(-32602)],
    ["poolside", "unsupported", error(-32602)],
    ["prompt", "unsupported", error(-32600)],
  ])("%s: %s", async (dialect, verdict, answer) => {
    expect(await answered(dialect, answer)).toBe(verdict);
  });

  test.each(Object.keys(INITIALIZED).filter((dialect) => !["opencrabs", "command"].includes(dialect)))(
    "%s without the method, or with a session that it does not know",
    async (dialect) => {
      expect(await answered(dialect, error(-32601))).toBe("unsupported");
      expect(await answered(dialect, error(-32002))).toBe("unsupported");
    },
  );

  test("NOOA: what it has queued for a turn of its own is taken back", async () => {
    const agent = new ScriptedAgent("nooa");
    const { verdict } = steer(agent);
    agent.last.answer({ result: { messageId: "q1", delivered: "queued" } });
    await settled();
    expect(agent.last).toMatchObject({
      method: "_nooa/session/revoke_inject",
      params: { sessionId: "s1", messageId: "q1" },
    });
    agent.last.answer({ result: { revoked: true } });
    expect(await verdict).toBe("tooLate");
  });
});

describe("G2 no duplicate: what may be there is never sent again", () => {
  test.each<[string, AgentAnswer]>([
    ["native", { result: { outcome: "condition" } }],
    ["native", { result: null }],
    ["native", error(-32603)],
    ["goose", { result: {} }],
    ["kimchi", { result: { status: "queued" } }],
    ["kimchi", { result: { status: "toString" } }],
    ["reasonix", { result: {} }],
    ["kiro", { result: {} }],
    ["minimax", { result: { mode: "later" } }],
    ["minimax", { result: { mode: "duplicate", turnId: "t" } }],
    ["poolside", error(-32000)],
    ["prompt", { result: { stopReason: "end_turn" } }],
  ])("%s: %j", async (dialect, answer) => {
    expect(await answered(dialect, answer)).toBe("accepted");
  });

  test("NOOA: what could not be taken back is there", async () => {
    const agent = new ScriptedAgent("nooa");
    const { verdict } = steer(agent);
    agent.last.answer({ result: { messageId: "q1", delivered: "queued" } });
    await settled();
    agent.last.answer({ result: { revoked: false } });
    expect(await verdict).toBe("accepted");
  });

  test("a turn of its own that an agent began with the steer has it", async () => {
    expect(await answered("native", { result: { outcome: "startedNewTurn" } })).toBe("delivered");
  });

  test("without an answer in time it throws, which the driver counts as handed over", async () => {
    const agent = new ScriptedAgent("reasonix");
    const { verdict } = steer(agent);
    agent.last.fail(new Error("no answer within 30 s"));
    await expect(verdict).rejects.toThrow("no answer within 30 s");
  });
});
