import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ModelRequest, occurrencesOf, type Reply, shellCall } from "@acp-steering/testkit/model-server";
import { describe, expect, test, vi } from "vitest";
import { NEVER_ASKS, openClaude } from "./claude-stage.js";
import { pidIn, statesOf } from "./stage.js";

const SPEAKS: Reply = { hold: "busy", holdAt: "afterFirstChunk", text: ["a", "b"] };

const sleepOnce = (request: ModelRequest): Reply =>
  request.index === 0
    ? { toolCalls: [shellCall(request, "echo $$ > pid; exec sleep 600") ?? NO_TOOL] }
    : { text: "Done." };

const NO_TOOL = { name: "none", arguments: {} };

describe("G1 running", () => {
  test("G1 running: a steer breaks off what the model says, and is answered in the same turn", async () => {
    const { client, model, sessionId } = await openClaude((request) =>
      occurrencesOf(request, "no, that file").length > 0 ? { text: "Understood." } : SPEAKS,
    );
    const turn = client.prompt(sessionId, "this file");
    await model.held("busy");
    await client.waitForUpdate("agent_message_chunk");
    expect(await client.steer(sessionId, "no, that file")).toMatchObject({ outcome: "injected" });
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(statesOf(client)).toEqual(["delivered"]);
    expect(client.agentText(sessionId)).toBe("aUnderstood.");
    expect(model.requests).toHaveLength(2);
  });

  test("G1 running: while a tool runs, a steer waits for it, and the tool is not moved into the background", async () => {
    const { client, cwd, model, sessionId } = await openClaude(
      (request) =>
        request.index === 0
          ? { toolCalls: [shellCall(request, "echo $$ > pid; until [ -e go ]; do sleep 0.05; done") ?? NO_TOOL] }
          : { text: "Done." },
      { mode: NEVER_ASKS },
    );
    const turn = client.prompt(sessionId, "wait");
    await vi.waitFor(() => pidIn(cwd), 20_000);
    expect(await client.steer(sessionId, "meanwhile")).toMatchObject({ outcome: "injected" });
    writeFileSync(join(cwd, "go"), "");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(occurrencesOf(model.requests[1] as ModelRequest, "meanwhile")).toHaveLength(1);
    expect(statesOf(client)).toEqual(["delivered"]);
  });

  test("G1 running: a steer that looks like a command is a message", async () => {
    const { client, model, sessionId } = await openClaude((request) =>
      occurrencesOf(request, "/cost").length > 0 ? { text: "Understood." } : SPEAKS,
    );
    const turn = client.prompt(sessionId, "Prompt one.");
    await model.held("busy");
    await client.steer(sessionId, "/cost is no command here");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(occurrencesOf(model.requests[1] as ModelRequest, "/cost is no command here")).toHaveLength(1);
  });

  test("G1 no lost steer, G2 no duplicate: steers all along a turn, and around its end, are read once, within it", async () => {
    const { client, model, sessionId } = await openClaude(() => ({ text: ["a", "b", "c", "d"] }));
    for (let trial = 0; trial < 60; trial += 1) {
      const turn = client.prompt(sessionId, `prompt ${trial}.`);
      for (let chunk = 0; chunk < trial % 5; chunk += 1) await client.waitForUpdate("agent_message_chunk");
      const steer = await client.steer(sessionId, `steer ${trial}.`);
      await turn.answer;
      const last = model.requests.at(-1);
      const times = last ? occurrencesOf(last, `steer ${trial}.`).length : 0;
      expect([steer.outcome, times]).toEqual(steer.outcome === "injected" ? ["injected", 1] : ["promptRequired", 0]);
    }
  });
});

describe("G6 cancel", () => {
  test("G6 cancel: a steer that a cancel overtakes is not in the next turn, and the cancelled prompt still is", async () => {
    const { client, cwd, model, sessionId, connect } = await openClaude((request) =>
      occurrencesOf(request, "go on").length > 0 ? { text: "Done." } : { ...SPEAKS, hold: "busy" },
    );
    const turn = client.prompt(sessionId, "Prompt one.");
    await model.held("busy");
    await client.waitForUpdate("agent_message_chunk");
    const steer = client.steer(sessionId, "overtaken");
    client.cancel(sessionId);
    expect((await steer).outcome).toBe("injected");
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    const wasRead = statesOf(client)[0] === "delivered";
    expect(await client.prompt(sessionId, "go on").answer).toMatchObject({ stopReason: "end_turn" });
    const told = model.requests.at(-1) as ModelRequest;
    expect(occurrencesOf(told, "Prompt one.")).toHaveLength(1);
    expect(occurrencesOf(told, "overtaken")).toHaveLength(wasRead ? 1 : 0);
    await client.request("session/close", { sessionId });
    const later = await connect();
    await later.request("session/resume", { sessionId, cwd, mcpServers: [] });
    await later.prompt(sessionId, "once more").answer;
    expect(occurrencesOf(model.requests.at(-1) as ModelRequest, "overtaken")).toHaveLength(wasRead ? 1 : 0);
  });

  test.each(["at once", "with the prompt"])("G6 cancel: %s, and no prompt after it is lost", async (when) => {
    const { client, model, sessionId } = await openClaude((request) =>
      occurrencesOf(request, "go on").length > 0 ? { text: "Done." } : SPEAKS,
    );
    const turn = client.prompt(sessionId, "Prompt one.");
    if (when === "at once") await model.held("busy");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    client.cancel(sessionId);
    expect(await client.prompt(sessionId, "go on").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("G6 cancel: a command that runs is ended with its turn", async () => {
    const { client, cwd, sessionId } = await openClaude(sleepOnce, { mode: NEVER_ASKS });
    const turn = client.prompt(sessionId, "sleep");
    const pid = await vi.waitFor(() => pidIn(cwd), 20_000);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"), 20_000);
  });
});

describe("G8 containment", () => {
  test("G8 containment: a child that is killed costs its turn, and the next prompt has the conversation so far", async () => {
    const { client, cwd, model, sessionId } = await openClaude(
      (request) =>
        occurrencesOf(request, "sleep").length > 0 && model.requests.length === 2
          ? { toolCalls: [shellCall(request, "echo $PPID > pid; exec sleep 600") ?? NO_TOOL] }
          : { text: "Done." },
      { mode: NEVER_ASKS },
    );
    await client.prompt(sessionId, "Prompt one.").answer;
    const turn = client.prompt(sessionId, "sleep");
    process.kill(await vi.waitFor(() => pidIn(cwd), 20_000), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      message: expect.stringMatching(/Claude Code is gone .*with the conversation so far/),
      data: { reason: "agentExited" },
    });
    await client.prompt(sessionId, "go on").answer;
    const told = model.requests.at(-1) as ModelRequest;
    expect(["Prompt one.", "go on"].map((text) => occurrencesOf(told, text).length)).toEqual([1, 1]);
  });

  test("G8 containment: a model that fails with a steer unread costs its turn, and the steer is handed back", async () => {
    const { client, model, sessionId } = await openClaude((request) => {
      if (occurrencesOf(request, "go on").length > 0) return { text: "Here again." };
      return occurrencesOf(request, "steered").length > 0
        ? { error: { status: 400, message: "no such thing" } }
        : SPEAKS;
    });
    const turn = client.prompt(sessionId, "Prompt one.");
    await model.held("busy");
    await client.steer(sessionId, "steered");
    await expect(turn.answer).rejects.toMatchObject({ data: { reason: "modelFailed" } });
    expect(statesOf(client)).toEqual(["undelivered"]);
    await client.prompt(sessionId, "go on").answer;
    const told = model.requests.at(-1) as ModelRequest;
    expect(["Prompt one.", "steered"].map((text) => occurrencesOf(told, text).length)).toEqual([1, 0]);
  });

  test("G8 containment: a model that fails costs its turn, and its words are in the error", async () => {
    // It asks a second time without what the server may not know.
    const { client, sessionId } = await openClaude((request) =>
      occurrencesOf(request, "go on").length > 0
        ? { text: "Here again." }
        : { error: { status: 400, message: "no such thing" } },
    );
    await expect(client.prompt(sessionId, "begin").answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Claude Code failed: .*no such thing.*Send the prompt again/),
      data: { reason: "modelFailed" },
    });
    expect(await client.prompt(sessionId, "go on").answer).toMatchObject({ stopReason: "end_turn" });
  });
});
