import { expect, test } from "vitest";
import { openAdapter } from "./adapter-stage.js";
import { heldCommand, run, told } from "./stand-in/stage.js";

// Rows of docs/cases.md whose answer is the layer's: shown here with Hermes' bridge below it.
test("/steer right after a cancel replays the task with the correction", async () => {
  const stage = await openAdapter({ script: [{ text: "Never.", hold: "model" }, { text: "Two." }] });
  const { client, model, sessionId } = stage;
  const first = client.prompt(sessionId, "the first task");
  await model.held("model");
  client.cancel(sessionId);
  await first.answer;
  await client.prompt(sessionId, "/steer not that file").answer;
  expect(model.requests[1]?.messages.at(-1)?.text).toMatch(/the first task[\s\S]*not that file/);
});

test("G4 one answer: a queued prompt is answered at the end of its own work, and keeps its image", async () => {
  const stage = await openAdapter({
    script: [
      { text: "One.", hold: "one" },
      { text: "Two.", hold: "two" },
    ],
  });
  const { client, model, sessionId } = stage;
  const first = client.prompt(sessionId, "the first task");
  await model.held("one");
  const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" } as const;
  const second = client.prompt(sessionId, [{ type: "text", text: "What is it?" }, image]);
  model.release("one");
  expect(await first.answer).toMatchObject({ stopReason: "end_turn" });
  await model.held("two");
  expect(client.answersTo(second.id)).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ text: "What is it?", images: 1 });
  model.release("two");
  expect(await second.answer).toMatchObject({ stopReason: "end_turn" });
});

test("a prompt in the last moment of a turn leaves that turn's answer whole and runs next", async () => {
  const { client, model, home, sessionId } = await openAdapter({ script: [{ text: "One." }, { text: "Two." }] });
  const end = home.gate("stored");
  const first = client.prompt(sessionId, "the first task");
  const release = await end;
  const second = client.prompt(sessionId, "the second task");
  await release();
  expect(await first.answer).toMatchObject({ stopReason: "end_turn" });
  expect(await second.answer).toMatchObject({ stopReason: "end_turn" });
  expect(client.agentText(sessionId)).toBe("One.Two.");
  expect(told(model, 1)).toContain("the second task");
});

test.each(["drained", "cleared", "stored"])(
  "G1 no lost steer: one at the point '%s' of the end is answered injected and runs in the same turn",
  async (point) => {
    const { client, model, home, sessionId } = await openAdapter({ script: [{ text: "One." }, { text: "Two." }] });
    const end = home.gate(point);
    const turn = client.prompt(sessionId, "the task");
    const release = await end;
    expect(await client.steer(sessionId, "one more thing")).toMatchObject({ outcome: "injected" });
    await release();
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(told(model, 1)).toMatch(/the task[\s\S]*one more thing/);
    expect(model.requests).toHaveLength(2);
  },
);

test("G1 no lost steer: after a truncated answer it continues the turn, once", async () => {
  const stage = await openAdapter({ script: [{ text: "One.", hold: "model" }, { text: "Two." }] });
  const { client, model, home, sessionId } = stage;
  home.fault("truncated");
  const turn = client.prompt(sessionId, "the task");
  await model.held("model");
  await client.steer(sessionId, "one more thing");
  model.release("model");
  expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
  expect(model.requests.map((_, index) => told(model, index).match(/one more thing/g)?.length ?? 0)).toEqual([0, 1]);
});

test("a small steer does not replace the task: both are before the model, in order", async () => {
  const { client, model, home, sessionId } = await openAdapter();
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { text: "Both." });
  const turn = client.prompt(sessionId, "the large task");
  const release = await running;
  await client.steer(sessionId, "a small thing");
  await release();
  await turn.answer;
  expect(told(model, 1)).toMatch(/the large task[\s\S]*a small thing/);
});
