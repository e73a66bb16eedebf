import type { Script } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { PIS } from "./pis.js";
import { openStage as openPiStage, type Stage, type StageOptions, untilPiHas, userTexts } from "./stage.js";

const injected = expect.objectContaining({ outcome: "injected" });
const receipts = { _meta: { steering: { receipts: true } } };

describe.each(PIS)("steering the real Pi: $name", (pi) => {
  const openStage = (script: Script, options: StageOptions = {}): Promise<Stage> =>
    openPiStage(script, { ...options, pi });

  test("the advertisement says what Pi can do", async () => {
    const { client } = await openStage([]);
    const initialized = client.log.find(({ message }) => message?.id === 1 && message.result !== undefined);
    expect(initialized?.message?.result).toMatchObject({
      agentInfo: { title: "Pi" },
      agentCapabilities: { promptCapabilities: { image: true, embeddedContext: true } },
      _meta: { steering: { supported: true, emulated: false, content: expect.arrayContaining(["text", "image"]) } },
    });
  });

  test("G1 G2 G3 G4: steers in the middle of a turn are seen once, in order, before the one answer", async () => {
    const { client, model, sessionId } = await openStage([
      { text: "Looking.", toolCalls: [{ name: "bash", arguments: { command: "echo hello" } }], hold: "first" },
      { toolCalls: [{ name: "bash", arguments: { command: "echo again" } }] },
      { text: "Finished." },
    ]);
    const turn = client.prompt(sessionId, "Do the work");
    await model.held("first");
    expect(await client.steer(sessionId, "first steer")).toEqual(injected);
    expect(await client.steer(sessionId, "second steer")).toEqual(injected);
    await untilPiHas(2, client, sessionId);
    model.release("first");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.answersTo(turn.id)).toHaveLength(1);
    expect(userTexts(model)).toEqual([
      ["Do the work"],
      ["Do the work", "first steer"],
      ["Do the work", "first steer", "second steer"],
    ]);
  });

  test("with the steering mode of the user, all steers of a step reach the model at once", async () => {
    const script = [
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "first" },
      { text: "Done." },
    ];
    const { client, model, sessionId } = await openStage(script, { settings: { steeringMode: "all" } });
    const turn = client.prompt(sessionId, "Work");
    await model.held("first");
    await client.steer(sessionId, "one");
    await client.steer(sessionId, "two");
    await untilPiHas(2, client, sessionId);
    model.release("first");
    await turn.answer;
    expect(userTexts(model)).toEqual([["Work"], ["Work", "one", "two"]]);
  });

  test("G1 G2: a steer during the last reply is answered in the same turn", async () => {
    const { client, model, sessionId } = await openStage([
      { text: "All done.", hold: "last", holdAt: "afterText" },
      { text: "And the steer." },
    ]);
    const turn = client.prompt(sessionId, "Do it");
    await model.held("last");
    expect(await client.steer(sessionId, "one more thing")).toEqual(injected);
    model.release("last");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Do it"], ["Do it", "one more thing"]]);
    expect(client.agentText(sessionId)).toContain("And the steer.");
  });

  test("G2: identical steers, and one identical to the prompt, are each seen once more", async () => {
    const { client, model, sessionId } = await openStage([
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "first" },
      { text: "One." },
      { text: "Two." },
      { text: "Three." },
    ]);
    const turn = client.prompt(sessionId, "same");
    await model.held("first");
    for (let count = 0; count < 3; count += 1) await client.steer(sessionId, "same");
    model.release("first");
    const answer = await turn.answer;
    expect(answer).toMatchObject({ stopReason: "end_turn", _meta: { steering: { undelivered: [] } } });
    expect(userTexts(model).at(-1)).toEqual(["same", "same", "same", "same"]);
    expect(model.requests).toHaveLength(4);
  });

  test("G1 G2: a steer that Pi expands from a template is still recognised when Pi uses it", async () => {
    const script = [
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "first" },
      { text: "Done." },
    ];
    const { client, model, sessionId } = await openStage(script, {
      templates: { fix: "Fix it well: $1" },
      clientCapabilities: receipts,
    });
    const turn = client.prompt(sessionId, "Work");
    await model.held("first");
    await client.steer(sessionId, "/fix soon");
    await client.steer(sessionId, "plain");
    model.release("first");
    expect(await turn.answer).toMatchObject({ _meta: { steering: { undelivered: [] } } });
    expect(userTexts(model).at(-1)).toEqual(["Work", "Fix it well: soon", "plain"]);
    const delivered = client.log.filter(({ raw }) => raw.includes('"delivered"') && !raw.includes("assumed"));
    expect(delivered).toHaveLength(2);
  });

  test("G1: a steer right behind its prompt waits for Pi's run to begin", async () => {
    const { client, model, sessionId } = await openStage([{ text: "First." }, { text: "Second." }]);
    const turn = client.prompt(sessionId, "Begin");
    expect(await client.steer(sessionId, "at once")).toEqual(injected);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn", _meta: { steering: { undelivered: [] } } });
    expect(userTexts(model).at(-1)).toEqual(["Begin", "at once"]);
  });

  test("G1 G2: a steer survives Pi's retry of a failed model request, and is seen once", async () => {
    const { client, model, sessionId } = await openStage([
      { error: { status: 400, message: "overloaded" }, hold: "failing" },
      { text: "Recovered." },
    ]);
    const turn = client.prompt(sessionId, "Try");
    await model.held("failing");
    expect(await client.steer(sessionId, "while it fails")).toEqual(injected);
    model.release("failing");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn", _meta: { steering: { undelivered: [] } } });
    expect(userTexts(model).at(-1)).toEqual(["Try", "while it fails"]);
  });

  test("a steer is delivered with its receipt, at the place in the stream where Pi used it", async () => {
    const script = [
      { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "first" },
      { text: "After." },
    ];
    const { client, model, sessionId } = await openStage(script, { clientCapabilities: receipts });
    const turn = client.prompt(sessionId, "Work");
    await model.held("first");
    await client.steer(sessionId, "look here");
    model.release("first");
    await turn.answer;
    const order = client.log.flatMap(({ message }) => eventOf(message?.method, message?.params as never));
    expect(order).toEqual(["tool ended", "delivered", "text"]);
  });

  test("G6: cancel hands the pending steer back, and Pi does not use it in the next turn", async () => {
    const script = [{ text: "Working", hold: "held", holdAt: "afterText" as const }, { text: "Next." }];
    const { client, model, sessionId } = await openStage(script, { clientCapabilities: receipts });
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    const { _meta } = await client.steer(sessionId, "never used");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({
      stopReason: "cancelled",
      _meta: { steering: { undelivered: [{ messageId: _meta?.steering?.["messageId"], reason: "cancelled" }] } },
    });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Long work"], ["Long work", "Next"]]);
  });

  test("G6 G7: a steer that Pi takes while it stops a running tool is handed back, and not in the next turn", async () => {
    const bash = { name: "bash", arguments: { command: "sleep 60" } };
    const script = [{ text: "Waiting", toolCalls: [bash] }, { text: "Next." }];
    const { client, model, sessionId } = await openStage(script, { clientCapabilities: receipts });
    const turn = client.prompt(sessionId, "Long work");
    await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
    const steers = [await client.steer(sessionId, "first"), await client.steer(sessionId, "second")];
    client.cancel(sessionId);
    const undelivered = steers.map(({ _meta }) => ({
      messageId: _meta?.steering?.["messageId"],
      reason: "cancelled",
    }));
    const { stopReason, _meta } = (await turn.answer) as { stopReason: string; _meta: { steering: unknown } };
    expect([stopReason, _meta.steering]).toMatchObject([
      "cancelled",
      { undelivered: expect.arrayContaining(undelivered) },
    ]);
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Long work"], ["Long work", "Next"]]);
  });

  test("G1: closing the session hands the pending steer back", async () => {
    const script = [{ text: "Working", hold: "held", holdAt: "afterText" as const }];
    const { client, model, sessionId } = await openStage(script, { clientCapabilities: receipts });
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "never used");
    const closed = client.request("session/close", { sessionId });
    expect(await turn.answer).toMatchObject({
      stopReason: "cancelled",
      _meta: { steering: { undelivered: [{ reason: "closed" }] } },
    });
    await closed;
  });

  test("G6: a cancel right behind its prompt stops a run that has not begun", async () => {
    const { client, sessionId } = await openStage(({ messages }) =>
      messages.at(-1)?.text === "Next" ? { text: "Next." } : { text: "never read", hold: "for good" },
    );
    const turn = client.prompt(sessionId, "Long work");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
  });

  test("G1: a model that fails for good loses no steer: Pi goes on with it, or it is handed back and not used later", async () => {
    const { client, model, sessionId } = await openStage([
      { error: { status: 400, message: "no such deployment" }, hold: "failing" },
      { text: "Next." },
      { text: "And next." },
    ]);
    const turn = client.prompt(sessionId, "Try");
    await model.held("failing");
    await client.steer(sessionId, "once");
    await untilPiHas(1, client, sessionId);
    model.release("failing");
    if (pi.goesOnAfterFailure) {
      expect(await turn.answer).toMatchObject({ stopReason: "end_turn", _meta: { steering: { undelivered: [] } } });
    } else {
      await expect(turn.answer).rejects.toMatchObject({
        code: -32603,
        message: expect.stringMatching(/Pi's model failed.*no such deployment/),
        data: { steering: { undelivered: [{ reason: "agentFailed" }] } },
      });
    }
    await client.prompt(sessionId, "Next").answer;
    expect(userTexts(model).at(-1)).toEqual(pi.goesOnAfterFailure ? ["Try", "once", "Next"] : ["Try", "Next"]);
  });

  test("G2: without a session file the queue is emptied as well, and the history stays", async () => {
    const script = [{ text: "Working", hold: "held", holdAt: "afterText" as const }, { text: "Next." }];
    const { client, model, sessionId } = await openStage(script, { piArguments: ["--no-session"] });
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "never used");
    client.cancel(sessionId);
    await turn.answer;
    await client.prompt(sessionId, "Next").answer;
    expect(userTexts(model).at(-1)).toEqual(["Long work", "Next"]);
  });

  test("G5: an idle steer reaches nothing, and can be sent as a prompt", async () => {
    const { client, model, sessionId } = await openStage([{ text: "Hello." }]);
    expect(await client.steer(sessionId, "too late")).toMatchObject({
      outcome: "promptRequired",
      reason: "noRunningTurn",
    });
    expect(model.requests).toHaveLength(0);
    expect(await client.prompt(sessionId, "too late").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["too late"]]);
  });

  test("G7: two sessions at once keep their steers apart", async () => {
    const toolStep = { toolCalls: [{ name: "bash", arguments: { command: "true" } }] };
    const { client, model, sessionId, cwd } = await openStage(({ messages }) => {
      const users = messages.filter(({ role }) => role === "user").map(({ text }) => text);
      return users.length === 1 ? { ...toolStep, hold: users[0] ?? "" } : { text: `Heard ${users.join(", ")}.` };
    });
    const other = await client.newSession(cwd);
    const turns = [client.prompt(sessionId, "left"), client.prompt(other, "right")];
    await Promise.all([model.held("left"), model.held("right")]);
    await Promise.all([client.steer(sessionId, "for left"), client.steer(other, "for right")]);
    model.release("left");
    model.release("right");
    await Promise.all(turns.map(({ answer }) => answer));
    expect(client.agentText(sessionId)).toBe("Heard left, for left.");
    expect(client.agentText(other)).toBe("Heard right, for right.");
  });
});

// Pi 1.6 uses it by itself: its run is over only when nothing waits.
describe("steering Pi 0.73", () => {
  test("G1 G2: a steer that Pi takes after its last step is withdrawn from Pi and continued, once", async () => {
    // The hook holds Pi's own announcement of its end back until the model server lets go of the request. Loading the
    // session anew loads the extension anew: what it remembers has to stand outside.
    const extension = `export default (pi) => {
      pi.on("agent_end", async (event, ctx) => {
        if (globalThis.held) return;
        globalThis.held = true;
        const body = JSON.stringify({ model: "hook", messages: [{ role: "user", content: "hook" }] });
        await fetch(ctx.model.baseUrl + "/chat/completions", { method: "POST", body });
      });
    };`;
    const script = [
      { text: "Done." },
      { text: "hook", hold: "hook" },
      { text: "Now the late one." },
      { text: "Next." },
    ];
    const { client, model, sessionId } = await openPiStage(script, { extension, clientCapabilities: receipts });
    const turn = client.prompt(sessionId, "Do it");
    await model.held("hook");
    expect(await client.steer(sessionId, "late steer")).toEqual(injected);
    model.release("hook");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      _meta: { steering: { runs: [{ stopReason: "end_turn" }, { stopReason: "end_turn" }], undelivered: [] } },
    });
    await client.prompt(sessionId, "Next").answer;
    expect(userTexts(model)).toEqual([["Do it"], ["hook"], ["Do it", "late steer"], ["Do it", "late steer", "Next"]]);
  });
});

function eventOf(
  method: string | undefined,
  params: { state?: string; update?: { sessionUpdate: string; status?: string } },
): string[] {
  if (method === "_session/steering/update" && params.state === "delivered") return ["delivered"];
  if (method !== "session/update") return [];
  if (params.update?.sessionUpdate === "agent_message_chunk") return ["text"];
  return params.update?.status === "completed" ? ["tool ended"] : [];
}
