import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireClient } from "@acp-steering/testkit";
import { describe, expect, test } from "vitest";
import { type AdapterStage, openAdapter, RECEIPTS, said } from "./adapter-stage.js";
import { heldCommand, run, told } from "./stand-in/stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function receipts({ client }: AdapterStage): Record<string, unknown>[] {
  return client.log
    .filter(({ message }) => message?.method === "_session/steering/update")
    .map(({ message }) => message?.params as Record<string, unknown>)
    .filter(({ state }) => state === "delivered" || state === "undelivered");
}

/** A turn that stands in the middle of a command. */
async function inTool(stage: AdapterStage) {
  const { client, home, model, sessionId } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command));
  const turn = client.prompt(sessionId, "Main task");
  return { turn, release: await running };
}

/** A steer is answered before Hermes has it; what is asked of Hermes after it is answered after it. */
async function heardByHermes(client: WireClient): Promise<void> {
  await client.request("session/list", {});
}

describe("a steer", () => {
  test("G1 no lost steer: during a tool it is before the model in its next request, in the same run", async () => {
    const stage = await openAdapter({ clientCapabilities: RECEIPTS });
    const { client, model, sessionId } = stage;
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "Understood." });
    expect(await client.steer(sessionId, "not that file")).toMatchObject({ outcome: "injected" });
    await heardByHermes(client);
    await release();
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(model.requests).toHaveLength(2);
    expect(told(model, 1)).toMatch(/Main task[\s\S]*not that file/);
    expect(receipts(stage)).toMatchObject([{ state: "delivered" }]);
    expect(receipts(stage)[0]).not.toHaveProperty("assumed");
    const shown = said(stage).map(({ sessionUpdate }) => sessionUpdate);
    expect(shown.indexOf("user_message_chunk")).toBeGreaterThan(shown.indexOf("tool_call"));
    expect(shown.indexOf("user_message_chunk")).toBeLessThan(shown.indexOf("agent_message_chunk"));
  });

  test("G1 no lost steer: during the last model request it continues the turn", async () => {
    const stage = await openAdapter({
      clientCapabilities: RECEIPTS,
      script: [{ text: "First.", hold: "last" }, { text: "Second." }],
    });
    const { client, model, sessionId } = stage;
    const turn = client.prompt(sessionId, "Main task");
    await model.held("last");
    await client.steer(sessionId, "one more thing");
    model.release("last");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.answersTo(turn.id)).toHaveLength(1);
    expect(client.agentText(sessionId)).toBe("First.Second.");
    expect(told(model, 1)).toMatch(/Main task[\s\S]*one more thing/);
    expect(receipts(stage)).toMatchObject([{ state: "delivered" }]);
  });

  test("G2, G3: several of them arrive once each, in order", async () => {
    const stage = await openAdapter();
    const { client, model, sessionId } = stage;
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "Understood." });
    for (const word of ["alpha", "beta", "gamma"]) await client.steer(sessionId, word);
    await release();
    await turn.answer;
    const all = told(model, model.requests.length - 1);
    expect([...all.matchAll(/alpha|beta|gamma/g)].map(([word]) => word)).toEqual(["alpha", "beta", "gamma"]);
  });

  test("with an image comes to the model with the image, in a continuation", async () => {
    const stage = await openAdapter();
    const { client, model, sessionId } = stage;
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "First." }, { text: "Seen." });
    await client.steer(sessionId, [
      { type: "text", text: "like this" },
      { type: "image", data: PIXEL, mimeType: "image/png" },
    ]);
    await release();
    await turn.answer;
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ text: "like this", images: 1 });
  });

  test("with a link to an image file comes with the image too", async () => {
    const stage = await openAdapter();
    const { client, cwd, model, sessionId } = stage;
    await writeFile(join(cwd, "shot.png"), Buffer.from(PIXEL, "base64"));
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "First." }, { text: "Seen." });
    await client.steer(sessionId, [{ type: "resource_link", name: "shot.png", uri: `file://${cwd}/shot.png` }]);
    await heardByHermes(client);
    await release();
    await turn.answer;
    expect(model.requests[2]?.messages.at(-1)).toMatchObject({ images: 1 });
  });

  test("G6: that the turn's cancel overtakes is handed back, and is not in the next turn", async () => {
    const stage = await openAdapter({ clientCapabilities: RECEIPTS });
    const { client, model, sessionId } = stage;
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "Next." });
    await client.steer(sessionId, "never mind");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await release();
    expect(receipts(stage)).toMatchObject([{ state: "undelivered", reason: "cancelled" }]);
    await client.prompt(sessionId, "Next").answer;
    expect(told(model, 1)).not.toContain("never mind");
  });

  test("G5: while idle it consumes nothing", async () => {
    const { client, model, sessionId } = await openAdapter({ script: [{ text: "Alone." }] });
    expect(await client.steer(sessionId, "hello?")).toMatchObject({ outcome: "promptRequired" });
    await client.prompt(sessionId, "Main task").answer;
    expect(told(model, 0)).toBe("Main task");
  });

  test("is answered without waiting for Python", async () => {
    const stage = await openAdapter();
    const { client, home, model, sessionId } = stage;
    model.enqueue({ text: "Done." });
    const standing = home.gate("start");
    const turn = client.prompt(sessionId, "Main task");
    const goOn = await standing;
    expect(await client.steer(sessionId, "early")).toMatchObject({ outcome: "injected" });
    model.enqueue({ text: "Heard." });
    await goOn();
    await turn.answer;
    expect(told(model, 1)).toContain("early");
  });

  test("that comes before Hermes has the prompt is not too late", async () => {
    const { client, cwd, home, model, sessionId } = await openAdapter();
    const { command, running } = heldCommand(home);
    model.enqueue(run(command), { text: "Understood." });
    await writeFile(join(cwd, "a.txt"), "linked");
    const link = { type: "resource_link", name: "a.txt", uri: `file://${cwd}/a.txt` };
    const turn = client.prompt(sessionId, [{ type: "text", text: "Main task" }, link]);
    const steered = client.steer(sessionId, "not that file");
    await (await running)();
    expect(await steered).toMatchObject({ outcome: "injected" });
    await turn.answer;
    expect(model.requests).toHaveLength(2);
    expect(told(model, 1)).toContain("not that file");
  });

  test("as /steer does the same", async () => {
    const stage = await openAdapter();
    const { client, model, sessionId } = stage;
    const { turn, release } = await inTool(stage);
    model.enqueue({ text: "Understood." });
    expect(await client.prompt(sessionId, "/steer not that file").answer).toMatchObject({ stopReason: "end_turn" });
    await release();
    await turn.answer;
    expect(told(model, 1)).toContain("not that file");
  });
});

describe("a steer while a permission is open", () => {
  /** A turn that waits for the user, with a steer, and what answers him. */
  async function asking() {
    const stage = await openAdapter({ clientCapabilities: RECEIPTS, script: [run("rm -rf build")] });
    const { client, sessionId } = stage;
    let answer: (optionId: string) => void = () => {};
    client.permission = () =>
      new Promise((resolve) => {
        answer = (optionId) => resolve({ outcome: { outcome: "selected", optionId } });
      });
    const turn = client.prompt(sessionId, "Main task");
    await client.waitFor(({ message }) => message?.method === "session/request_permission");
    expect(await client.steer(sessionId, "not that folder")).toMatchObject({ outcome: "injected" });
    expect(receipts(stage)).toEqual([]);
    return { stage, turn, answer };
  }

  test.each(["allow_once", "deny"])("is held, and delivered after the answer '%s'", async (optionId) => {
    const { stage, turn, answer } = await asking();
    stage.model.enqueue({ text: "Understood." });
    stage.model.enqueue({ text: "Understood." });
    answer(optionId);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(told(stage.model, stage.model.requests.length - 1)).toContain("not that folder");
    expect(receipts(stage)).toMatchObject([{ state: "delivered" }]);
  });

  test("G6: is handed back when the turn is cancelled", async () => {
    const { stage, turn } = await asking();
    stage.client.cancel(stage.sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(receipts(stage)).toMatchObject([{ state: "undelivered", reason: "cancelled" }]);
  });
});
