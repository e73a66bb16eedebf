import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelServer } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { receipts, sharedKimi, userTexts } from "./stage.js";

const { openStage } = sharedKimi();

/**
 * What the user told the model in the request of that prompt, and that there is no more than one of a turn that Kimi began by
 * itself. That one may have been under way when its turn was ended, and be counted late: what it says tells them apart.
 */
function onlyRequest(model: ModelServer, prompt: string): string {
  const asked = userTexts(model).map((texts) => texts.join(" "));
  const found = asked.filter((texts) => texts.includes(prompt));
  expect(found).toHaveLength(1);
  expect(asked.length).toBeLessThanOrEqual(3);
  return found[0] ?? "";
}

/** Outcomes of the real Kimi that the adapter has to make ACP outcomes of: each test names what Kimi does. */
describe("steering the real Kimi", () => {
  test("G1: a steer while the model speaks joins the turn, which goes on after the speech", async () => {
    const { client, model, sessionId } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "As you say." },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    expect(await client.steer(sessionId, "not that file")).toMatchObject({ outcome: "injected" });
    model.release("held");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      _meta: { steering: { runs: [{ stopReason: "end_turn" }], undelivered: [] } },
    });
    expect(userTexts(model)).toEqual([["Long work"], ["Long work", "not that file"]]);
    expect(client.agentText(sessionId)).toBe("Working on it.As you say.");
    expect(receipts(client)).toMatchObject([{ state: "delivered" }]);
    expect(receipts(client)[0]).not.toHaveProperty("assumed");
  });

  test("G1: a steer while a command runs reaches the model with its result; the command runs to its end", async () => {
    const { client, cwd, model, sessionId, verdicts } = await openStage([
      { toolCalls: [{ name: "Bash", arguments: { command: "until [ -e go ]; do sleep 0.05; done; echo done" } }] },
      { text: "Seen." },
    ]);
    const turn = client.prompt(sessionId, "Run it");
    await client.waitForUpdate("tool_call_update", ({ status }) => status === "in_progress");
    expect(await client.steer(sessionId, "then stop")).toMatchObject({ outcome: "injected" });
    await verdicts.reach(1);
    await writeFile(join(cwd, "go"), "");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Run it"], ["Run it", "then stop"]]);
    expect(JSON.stringify(client.updates(sessionId))).toContain("done");
  });

  test("G5: an idle steer is not Kimi's business", async () => {
    const { client, model, sessionId } = await openStage([{ text: "One." }]);
    expect(await client.steer(sessionId, "hello?")).toMatchObject({ outcome: "promptRequired" });
    await client.prompt(sessionId, "Hello").answer;
    expect(await client.steer(sessionId, "hello?")).toMatchObject({ outcome: "promptRequired" });
    expect(userTexts(model)).toEqual([["Hello"]]);
  });

  test.each([
    ["allowed", "allow_once"],
    ["rejected", "reject_once"],
  ])("a steer while an approval is open waits for it, and is read after what was %s", async (_what, kind) => {
    const { client, model, sessionId } = await openStage([
      { toolCalls: [{ name: "Bash", arguments: { command: "echo x > y" } }] },
      { text: "Understood." },
    ]);
    let answer: (value: unknown) => void = () => {};
    const asked = new Promise<void>((resolve) => {
      client.permission = (params) => {
        const { options } = params as { options: { optionId: string; kind: string }[] };
        const optionId = options.find((option) => option.kind === kind)?.optionId;
        resolve();
        return new Promise((settle) => {
          answer = () => settle({ outcome: { outcome: "selected", optionId } });
        });
      };
    });
    const turn = client.prompt(sessionId, "Write it");
    await asked;
    expect(await client.steer(sessionId, "and tell me")).toMatchObject({ outcome: "injected" });
    answer(undefined);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Write it"], ["Write it", "and tell me"]]);
  });

  test("G6: a cancel with a steer that Kimi has and has not read: no ghost turn outlives the answer", async () => {
    const { client, model, sessionId, verdicts } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "Here." },
      { text: "Here." },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.waitForUpdate("agent_message_chunk", () => true);
    const { _meta } = await client.steer(sessionId, "not that file");
    await verdicts.reach(1);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("WorkingHere.");
    // Kimi keeps its text in the conversation, so it must not be handed back as unread.
    expect(onlyRequest(model, "Still there?").split("not that file")).toHaveLength(2);
    expect(receipts(client)).toMatchObject([
      { state: "delivered", assumed: true, messageId: _meta?.steering?.["messageId"] },
    ]);
  });

  test("G6: two such steers and a cancel: neither runs", async () => {
    const { client, model, sessionId, verdicts } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "Here." },
      { text: "Here." },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.waitForUpdate("agent_message_chunk", () => true);
    await client.steer(sessionId, "one");
    await client.steer(sessionId, "two");
    await verdicts.reach(2);
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("WorkingHere.");
    expect(onlyRequest(model, "Still there?")).toMatch(/one.*two/s);
  });

  test("G2: where the model fails with a steer unread, the failure is the answer, and nothing runs after it", async () => {
    const { client, model, sessionId, verdicts } = await openStage([
      { hold: "held", error: { status: 400, message: "nope" } },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "try it otherwise");
    await verdicts.reach(1);
    model.release("held");
    await expect(turn.answer).rejects.toMatchObject({ data: { reason: "modelFailed" } });
    expect(await client.prompt(sessionId, "Still there?").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Done.");
    expect(onlyRequest(model, "Still there?").split("try it otherwise")).toHaveLength(2);
    expect(receipts(client)).toMatchObject([{ state: "delivered", assumed: true }]);
  });

  test("G6: a cancel after the steer was read is a plain cancel", async () => {
    const { client, model, sessionId } = await openStage([
      { text: ["Working", " on it."], hold: "first", holdAt: "afterFirstChunk" },
      { text: ["As", " you say."], hold: "second", holdAt: "afterFirstChunk" },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("first");
    await client.steer(sessionId, "not that file");
    model.release("first");
    await model.held("second");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(model.requests).toHaveLength(2);
    expect(receipts(client)).toMatchObject([{ state: "delivered" }]);
  });

  test("G3: steers are read in order, in one request", async () => {
    const { client, model, sessionId, verdicts } = await openStage([
      { text: ["Working", " on it."], hold: "held", holdAt: "afterFirstChunk" },
      { text: "As you say." },
    ]);
    const turn = client.prompt(sessionId, "Long work");
    await model.held("held");
    await client.steer(sessionId, "one");
    await client.steer(sessionId, "two");
    await client.steer(sessionId, "three");
    await verdicts.reach(3);
    model.release("held");
    await turn.answer;
    expect(userTexts(model).at(-1)?.join(" ")).toMatch(/Long work.*one.*two.*three/s);
    expect(model.requests).toHaveLength(2);
  });

  test("G6: a cancel with a question open ends the turn; a late answer does nothing", async () => {
    const { client, model, sessionId } = await openStage([
      { toolCalls: [{ name: "Bash", arguments: { command: "echo x > y" } }] },
      { text: "Here." },
    ]);
    const asked = new Promise<void>((resolve) => {
      client.permission = () => {
        resolve();
        return new Promise(() => {});
      };
    });
    const turn = client.prompt(sessionId, "Write it");
    await asked;
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toContain("Next");
  });

  test("G6: cancels while idle, and in one write with a prompt, leave the next prompt alone", async () => {
    const { client, sessionId } = await openStage([{ text: "One." }, { text: "Two." }]);
    client.cancel(sessionId);
    client.cancel(sessionId);
    expect(await client.prompt(sessionId, "Hello").answer).toMatchObject({ stopReason: "end_turn" });
    const turn = client.prompt(sessionId, "Hello again");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
  });
});
