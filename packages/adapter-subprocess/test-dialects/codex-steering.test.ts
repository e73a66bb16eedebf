import { type ModelRequest, occurrencesOf, shellCall } from "@acp-steering/testkit/model-server";
import { describe, expect, test, vi } from "vitest";
import { NEVER_ASKS, openCodex, userTexts } from "./codex-stage.js";
import { pidIn, statesOf } from "./stage.js";

const NO_TOOL = { name: "none", arguments: {} };

/** The process that a command has noted there. */
describe("steering the real Codex", () => {
  test("G1 no lost steer, G2 no duplicate: steers around the end of Codex' turn are read once, within their turn", async () => {
    const { client, model, sessionId } = await openCodex(() => ({ text: ["One", " two"] }));
    for (let trial = 0; trial < 40; trial += 1) {
      const from = client.log.length;
      const turn = client.prompt(sessionId, `prompt ${trial}.`);
      await client.waitForUpdate(trial % 4 === 0 ? "agent_message_chunk" : "usage_update", undefined, from);
      const steer = await client.steer(sessionId, `steer ${trial}.`);
      await turn.answer;
      const last = model.requests.at(-1);
      const times = last ? occurrencesOf(last, `steer ${trial}.`).length : 0;
      expect([steer.outcome, times]).toEqual(steer.outcome === "injected" ? ["injected", 1] : ["promptRequired", 0]);
    }
  });

  test("G6 cancel: a steer that a cancel overtakes is not in the next turn, and the cancelled prompt still is", async () => {
    const { client, cwd, model, sessionId, connect } = await openCodex((request) =>
      occurrencesOf(request, "next").length > 0
        ? { text: "Done." }
        : { hold: "busy", holdAt: "afterFirstChunk", text: ["a", "b"] },
    );
    const turn = client.prompt(sessionId, "first");
    await model.held("busy");
    await client.waitForUpdate("agent_message_chunk");
    const steer = client.steer(sessionId, "overtaken");
    client.cancel(sessionId);
    expect((await steer).outcome).toBe("injected");
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    const wasRead = statesOf(client)[0] === "delivered";
    const asked = model.requests.length;
    if (wasRead) expect(userTexts(model).flat()).toContain("overtaken");
    expect(await client.prompt(sessionId, "next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).slice(asked)).toEqual([wasRead ? ["first", "overtaken", "next"] : ["first", "next"]]);
    // What was taken back and put there again is a conversation that Codex opens.
    await client.request("session/close", { sessionId });
    const later = await connect();
    await later.request("session/resume", { sessionId, cwd, mcpServers: [] });
    await later.prompt(sessionId, "next again").answer;
    expect(userTexts(model).at(-1)).toEqual([...(userTexts(model)[asked] ?? []), "next again"]);
  });

  test("G6 cancel: a command that runs is ended with its turn", async () => {
    const { client, cwd, sessionId } = await openCodex(
      (request) => ({
        toolCalls: [shellCall(request, "echo $$ > pid; exec sleep 600") ?? NO_TOOL],
      }),
      NEVER_ASKS,
    );
    const turn = client.prompt(sessionId, "sleep");
    await client.waitForUpdate("tool_call");
    const pid = await vi.waitFor(() => pidIn(cwd), 20_000);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 20_000);
  });

  test("G6 cancel: an agent that Codex has started is ended with the turn", async () => {
    const isOfAgent = (request: ModelRequest): boolean => occurrencesOf(request, "the errand").length > 0;
    const { client, cwd, model, sessionId } = await openCodex((request) => {
      if (isOfAgent(request)) return { toolCalls: [shellCall(request, "echo $$ > pid; exec sleep 600") ?? NO_TOOL] };
      return model.requests.length === 1
        ? { toolCalls: [{ name: "spawn_agent", arguments: { message: "the errand" } }] }
        : { text: "I wait.", hold: "waiting", holdAt: "beforeEnd" };
    }, NEVER_ASKS);
    const turn = client.prompt(sessionId, "Send somebody");
    const pid = await vi.waitFor(() => pidIn(cwd), 20_000);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 20_000);
    expect(model.requests.filter(isOfAgent)).toHaveLength(1);
  });

  test("G8 containment: a child that is killed costs its turn, and the next prompt has the conversation so far", async () => {
    const { client, cwd, model, sessionId } = await openCodex((request) => {
      const look = shellCall(request, "echo $PPID > pid; exec sleep 600") ?? NO_TOOL;
      return occurrencesOf(request, "sleep").length > 0 && model.requests.length === 2
        ? { toolCalls: [look] }
        : { text: "Done." };
    }, NEVER_ASKS);
    await client.prompt(sessionId, "first").answer;
    const turn = client.prompt(sessionId, "sleep");
    process.kill(await vi.waitFor(() => pidIn(cwd), 20_000), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      message: expect.stringMatching(/Codex is gone .*with the conversation so far/),
      data: { reason: "agentExited" },
    });
    await client.prompt(sessionId, "next").answer;
    expect(userTexts(model).at(-1)).toEqual(expect.arrayContaining(["first", "next"]));
  });

  test("G8 containment: a model that fails costs its turn, and Codex' words are in the error", async () => {
    const { client, model, sessionId } = await openCodex([
      { error: { status: 400, message: "no such thing" } },
      { text: "Here again." },
    ]);
    const failed = client.prompt(sessionId, "first");
    await expect(failed.answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Codex failed: .*no such thing.*Send the prompt again/),
      data: { reason: "modelFailed" },
    });
    expect(await client.prompt(sessionId, "second").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["first", "second"]);
  });
});
