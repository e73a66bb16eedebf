import type { Verdict } from "@acp-steering/core";
import { describe, expect, test } from "vitest";
import { error, type Json, ScriptedAgent, type Steered, settled, steer } from "./stand-ins/scripted-agent.js";

describe("/steer as a prompt", () => {
  const ANNOUNCED = { sessionUpdate: "available_commands_update", availableCommands: [{ name: "steer" }] };
  const says = (text: string): Json => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  const QUEUED = says("⏩ Steer queued for the active turn: look at b.txt");
  const tool = (status: string): Json => ({ sessionUpdate: "tool_call_update", toolCallId: "1", status });

  function hermes(): ScriptedAgent {
    const agent = new ScriptedAgent("command");
    agent.updates(ANNOUNCED);
    return agent;
  }

  async function putAside(agent: ScriptedAgent): Promise<Steered> {
    const steered = steer(agent);
    agent.updates(QUEUED);
    agent.last.answer({ result: { stopReason: "end_turn" } });
    await settled();
    return steered;
  }

  test("it is sent verbatim behind the command, where the session has announced that", async () => {
    const agent = hermes();
    steer(agent, "/clear\nnow");
    expect(agent.last).toMatchObject({
      method: "session/prompt",
      params: { sessionId: "s1", prompt: [{ type: "text", text: "/steer /clear\nnow" }] },
    });
    expect(await steer(new ScriptedAgent("command")).verdict).toBe("unsupported");
  });

  test("the agent's word on it is not shown in the middle of the model's", async () => {
    const agent = hermes();
    steer(agent);
    expect(agent.updates(says("Steer queued is what I would say."))).toBe(false);
    expect(agent.updates(QUEUED)).toBe(true);
    agent.last.answer({ result: { stopReason: "end_turn" } });
    await settled();
    expect(agent.updates(QUEUED)).toBe(false);
  });

  test("G1 no lost steer: a run without tools loses it, so it is continued", async () => {
    const agent = hermes();
    const { verdict, abort } = await putAside(agent);
    agent.updates(says("Done."));
    abort();
    expect(await verdict).toBe("tooLate");
  });

  test("it is delivered when the model goes on after a tool", async () => {
    const agent = hermes();
    const { verdict } = await putAside(agent);
    agent.updates(tool("in_progress"));
    agent.updates(tool("completed"));
    agent.updates(says("I see."));
    expect(await verdict).toBe("delivered");
  });

  test.each(["before it", "after it"])("G2 no duplicate: a tool that ran %s may have brought it", async (when) => {
    const agent = hermes();
    if (when === "before it") agent.updates(tool("completed"));
    const { verdict, abort } = await putAside(agent);
    if (when === "after it") agent.updates(tool("in_progress"));
    abort();
    expect(await verdict).toBe("accepted");
  });

  test("the tools of an earlier run do not count, nor those of another session", async () => {
    const agent = hermes();
    agent.updates(tool("completed"));
    agent.session.runBegins?.("s1");
    agent.updates(tool("completed"), "s2");
    const { verdict, abort } = await putAside(agent);
    abort();
    expect(await verdict).toBe("tooLate");
  });

  test.each<[string, Verdict]>([
    ["⚠️ Steer failed: no agent", "unsupported"],
    ["No active turn — queued for the next turn. (1 queued)", "accepted"],
  ])("%s: %s", async (text, verdict) => {
    const agent = hermes();
    const steered = steer(agent);
    expect(agent.updates(says(text))).toBe(true);
    agent.last.answer({ result: { stopReason: "end_turn" } });
    expect(await steered.verdict).toBe(verdict);
  });

  test("without a word on it, it may have run as a prompt", async () => {
    const agent = hermes();
    const { verdict } = steer(agent);
    agent.last.answer({ result: { stopReason: "end_turn" } });
    expect(await verdict).toBe("accepted");
  });

  test("an agent that refuses a second prompt has not got it", async () => {
    const agent = hermes();
    const { verdict } = steer(agent);
    agent.last.answer(error(-32600));
    expect(await verdict).toBe("unsupported");
  });
});
