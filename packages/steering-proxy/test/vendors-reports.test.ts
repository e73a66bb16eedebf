import { describe, expect, test } from "vitest";
import { type Json, ScriptedAgent, type Steered, settled, steer } from "./stand-ins/scripted-agent.js";

describe("what an agent says of a steer that it has", () => {
  test("goose waits for the run to be announced, and names it", async () => {
    const agent = new ScriptedAgent("goose");
    const { verdict } = steer(agent);
    await settled();
    expect(agent.sent).toEqual([]);
    agent.updates({ _meta: { goose: { activeRunId: "r7" } } }, "another session");
    agent.updates({ _meta: { goose: { activeRunId: "r8" } } });
    await settled();
    expect(agent.last.params["expectedRunId"]).toBe("r8");
    agent.last.answer({ result: { runId: "r8", messageId: "steer_1" } });
    expect(await verdict).toBe("accepted");
  });

  test("goose: a run that ends before it was announced", async () => {
    const agent = new ScriptedAgent("goose");
    const { verdict, abort } = steer(agent);
    abort();
    expect(await verdict).toBe("tooLate");
    expect(agent.sent).toEqual([]);
  });

  const shown = (messageId: string): Json => ({
    sessionUpdate: "user_message_chunk",
    messageId,
    content: { type: "text", text: "look at b.txt" },
    _meta: { goose: { messageId, steer: true } },
  });

  async function gooseTakes(agent: ScriptedAgent, messageId: string): Promise<Steered> {
    agent.updates({ _meta: { goose: { activeRunId: "r1" } } });
    const steered = steer(agent);
    await settled();
    agent.last.answer({ result: { runId: "r1", messageId } });
    await steered.verdict;
    return steered;
  }

  test("goose shows what it gives its model", async () => {
    const agent = new ScriptedAgent("goose");
    const { reports } = await gooseTakes(agent, "steer_1");
    expect(agent.updates(shown("steer_other"))).toBe(false);
    agent.updates({ ...shown("steer_1"), _meta: { goose: { messageId: "steer_1" } } });
    expect(reports).toEqual([]);
    expect(agent.updates(shown("steer_1"))).toBe(false);
    expect(reports).toEqual(["delivered"]);
  });

  test("goose: shown before the answer was read", async () => {
    const agent = new ScriptedAgent("goose");
    agent.updates({ _meta: { goose: { activeRunId: "r1" } } });
    const { reports, verdict } = steer(agent);
    await settled();
    agent.last.answer({ result: { runId: "r1", messageId: "steer_1" } });
    agent.updates(shown("steer_1"));
    await verdict;
    expect(reports).toEqual(["delivered"]);
  });

  test("goose drops what it has not shown when the run ends; one that has never shown any may have", async () => {
    const agent = new ScriptedAgent("goose");
    const first = await gooseTakes(agent, "steer_1");
    agent.updates({ _meta: { goose: { activeRunId: null } } });
    expect(first.reports).toEqual([]);
    agent.updates(shown("steer_1"));
    const second = await gooseTakes(agent, "steer_2");
    agent.updates({ _meta: { goose: { activeRunId: null } } }, "another session");
    expect(second.reports).toEqual([]);
    agent.updates({ _meta: { goose: { activeRunId: null } } });
    expect(second.reports).toEqual(["undelivered"]);
  });

  test("goose: the run's end and the answer in one piece", async () => {
    const agent = new ScriptedAgent("goose");
    await gooseTakes(agent, "steer_1");
    agent.updates(shown("steer_1"));
    const { reports, verdict } = steer(agent);
    await settled();
    agent.last.answer({ result: { runId: "r1", messageId: "steer_2" } });
    agent.updates({ _meta: { goose: { activeRunId: null } } });
    await verdict;
    expect(reports).toEqual(["undelivered"]);
  });

  test("Kimchi shows what it gives its model, and names what a cancel drops", async () => {
    const agent = new ScriptedAgent("kimchi");
    const [one, two, three] = [steer(agent, "same"), steer(agent, "same"), steer(agent, "other")];
    for (const { answer } of agent.sent) answer({ result: { status: "injected" } });
    agent.updates({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "same" } });
    expect([one.reports, two.reports, three.reports]).toEqual([["delivered"], [], []]);
    const dropped = { sessionId: "s1", reason: "cancelled", steering: ["same", "other"] };
    expect(agent.says({ method: "_kimchi.dev/queue_dropped", params: dropped })).toBe(false);
    expect([two.reports, three.reports]).toEqual([["undelivered"], ["undelivered"]]);
  });

  test("Kimchi: what it has refused and the user says again is another message", async () => {
    const agent = new ScriptedAgent("kimchi");
    const { reports, verdict } = steer(agent, "again");
    agent.last.answer({ result: { status: "promptRequired" } });
    await verdict;
    agent.updates({ sessionUpdate: "user_message_chunk", content: { type: "text", text: "again" } });
    expect(reports).toEqual([]);
  });

  test("Poolside names what its turn has taken", async () => {
    const agent = new ScriptedAgent("poolside");
    const { call, reports, verdict } = steer(agent);
    agent.last.answer({ result: { inputId: call.messageId } });
    await verdict;
    const update = { sessionUpdate: "session_info_update", _meta: { "poolside/clientInputId": call.messageId } };
    agent.updates(update, "another session");
    expect(reports).toEqual([]);
    agent.updates(update);
    expect(reports).toEqual(["delivered"]);
  });

  test.each<[string, (messageId: string) => Json, string]>([
    [
      "its text",
      () => ({ sessionUpdate: "steering_consumed", content: "<user_message>look at b.txt</user_message>" }),
      "delivered",
    ],
    [
      "its id",
      (messageId) => ({
        sessionUpdate: "session_info_update",
        _meta: { kiro: { kind: "steering_injected", messageId } },
      }),
      "delivered",
    ],
    [
      "its id among those left unread",
      (messageId) => ({ _meta: { kiro: { kind: "steering_cleared", messageIds: ["other", messageId] } } }),
      "undelivered",
    ],
  ])("Kiro says %s", async (_, update, report) => {
    const agent = new ScriptedAgent("kiro");
    const { call, reports, verdict } = steer(agent);
    agent.last.answer({ result: { queued: true, messageId: call.messageId } });
    expect(await verdict).toBe("accepted");
    agent.updates(update(call.messageId));
    expect(reports).toEqual([report]);
  });

  test("a layer of less than the contract: its receipts are for the layer in front", async () => {
    const agent = new ScriptedAgent("native");
    const { reports, verdict } = steer(agent);
    agent.last.answer({ result: { outcome: "injected", _meta: { steering: { messageId: "below" } } } });
    const receipt = (params: Json): boolean =>
      agent.says({ method: "_session/steering/update", params: { sessionId: "s1", ...params } });
    expect(receipt({ messageId: "other", state: "delivered" })).toBe(true);
    await verdict;
    expect(receipt({ state: "turnEnded", stopReason: "end_turn" })).toBe(true);
    expect(receipt({ messageId: "below", state: "delivered", assumed: true })).toBe(true);
    expect(reports).toEqual([]);
    expect(receipt({ messageId: "below", state: "delivered" })).toBe(true);
    expect(reports).toEqual(["delivered"]);
  });
});
