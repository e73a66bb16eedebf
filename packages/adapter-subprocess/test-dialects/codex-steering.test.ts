import { readFileSync } from "node:fs";
import { join } from "node:path";
import { occurrencesOf, shellCall } from "@acp-steering/testkit/model-server";
import { describe, expect, test, vi } from "vitest";
import { NEVER_ASKS, openCodex, statesOf, userTexts } from "./codex-stage.js";

describe("steering the real Codex", () => {
  test("G1 no lost steer, G2 no duplicate: steers around the end of Codex' turn are read once, within their turn", async () => {
    const { client, model, sessionId } = await openCodex(() => ({ text: ["One", " two"] }));
    for (let trial = 0; trial < 24; trial += 1) {
      const from = client.log.length;
      const turn = client.prompt(sessionId, `prompt ${trial}.`);
      await client.waitForUpdate(trial % 2 === 0 ? "agent_message_chunk" : "usage_update", undefined, from);
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
    const steer = await client.steer(sessionId, "overtaken");
    client.cancel(sessionId);
    expect(steer.outcome).toBe("injected");
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    const wasRead = statesOf(client)[0] === "delivered";
    const asked = model.requests.length;
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
        toolCalls: [shellCall(request, "echo $$ > pid; exec sleep 600") ?? { name: "none", arguments: {} }],
      }),
      NEVER_ASKS,
    );
    const turn = client.prompt(sessionId, "sleep");
    await client.waitForUpdate("tool_call");
    const pid = await vi.waitFor(() => Number(readFileSync(join(cwd, "pid"), "utf8").trim() || Number.NaN), 20_000);
    expect(pid).toBeGreaterThan(1);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 20_000);
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
