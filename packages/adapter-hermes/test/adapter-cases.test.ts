/** Public reports of Hermes' own adapter, by their numbers: the order of events, and what has to come of it here. */

import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { expect, onTestFinished, test } from "vitest";
import { hermesVendor } from "../src/index.js";
import { connectAdapter, openAdapter, said } from "./adapter-stage.js";
import { STAND_IN_PYTHON } from "./stand-in/bridge-process.js";
import { createHome, environment, heldCommand, run, temporaryFolder, told } from "./stand-in/stage.js";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("18258: /steer while idle runs as a prompt", async () => {
  const { client, model, sessionId } = await openAdapter({ script: [{ text: "Done." }] });
  expect(await client.prompt(sessionId, "/steer tidy up").answer).toMatchObject({ stopReason: "end_turn" });
  expect(told(model, 0)).toBe("tidy up");
});

test("56624: /steer after a normal turn does not revive a prompt that was cancelled before it", async () => {
  const { client, model, sessionId } = await openAdapter({
    script: [{ text: "x", hold: "model" }, { text: "Second." }, { text: "Third." }],
  });
  const first = client.prompt(sessionId, "First task");
  await model.held("model");
  client.cancel(sessionId);
  expect(await first.answer).toMatchObject({ stopReason: "cancelled" });
  await client.prompt(sessionId, "Second task").answer;
  await client.prompt(sessionId, "/steer third task").answer;
  expect(model.requests[2]?.messages.at(-1)?.text).toBe("third task");
});

test("55183: a cancel answers the queued prompt cancelled, and it does not run", async () => {
  const { client, model, sessionId } = await openAdapter({
    script: [{ text: "x", hold: "model" }, { text: "Third." }],
  });
  const first = client.prompt(sessionId, "First task");
  await model.held("model");
  const queued = client.prompt(sessionId, "/queue second task");
  client.cancel(sessionId);
  expect(await first.answer).toMatchObject({ stopReason: "cancelled" });
  expect(await queued.answer).toMatchObject({ stopReason: "cancelled" });
  await client.prompt(sessionId, "Third task").answer;
  expect(told(model, 1)).not.toContain("second task");
});

test("73409: a client that is gone in the middle of a turn leaves the session idle, for the next connection", async () => {
  const { home, model } = await createHome({ script: [{ text: "x", hold: "model" }, { text: "Back." }] });
  const agent = steeringAgent(
    hermesVendor({ python: STAND_IN_PYTHON, hermesHome: home.path, env: environment(home.path), log: () => {} }),
  );
  onTestFinished(() => agent.dispose());
  const [gone, next] = [WireClient.connect(agent), WireClient.connect(agent)];
  const cwd = await temporaryFolder();
  await gone.initialize();
  const sessionId = await gone.newSession(cwd);
  gone.prompt(sessionId, "First task");
  await model.held("model");
  await gone.close();
  await next.initialize();
  await next.request("session/load", { sessionId, cwd, mcpServers: [] });
  expect(await next.prompt(sessionId, "Second task").answer).toMatchObject({ stopReason: "end_turn" });
  expect(told(model, 1)).toContain("Second task");
});

test("39245: the answer of a prompt waits for no other message to be answered", async () => {
  const { client, sessionId } = await openAdapter({
    script: [{ text: "One.", usage: { inputTokens: 9, outputTokens: 1 } }],
  });
  const turn = client.prompt(sessionId, "Go");
  await turn.answer;
  const requests = client.log.filter(
    ({ direction, message }) => direction === "in" && message?.method && message.id !== undefined,
  );
  expect(requests).toEqual([]);
});

test("41051: a queued prompt keeps its image", async () => {
  const { client, model, sessionId } = await openAdapter({
    script: [{ text: "One.", hold: "model" }, { text: "Two." }],
  });
  const first = client.prompt(sessionId, "First task");
  await model.held("model");
  const image = { type: "image", data: PIXEL, mimeType: "image/png" };
  const second = client.prompt(sessionId, [{ type: "text", text: "Look" }, image]);
  model.release("model");
  await Promise.all([first.answer, second.answer]);
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ text: "Look", images: 1 });
});

test("31658: a cancel while the model is awaited shows no text", async () => {
  const stage = await openAdapter({ script: [{ text: "x", hold: "model", holdAt: "start" }] });
  const { client, model, sessionId } = stage;
  const turn = client.prompt(sessionId, "Go");
  await model.held("model");
  client.cancel(sessionId);
  expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
  await client.request("session/list", {});
  expect(said(stage).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk")).toEqual([]);
});

test("97371: a steer just after the turn's end is refused clearly, and is not in the next turn", async () => {
  const { client, model, sessionId } = await openAdapter({ script: [{ text: "One." }, { text: "Two." }] });
  await client.prompt(sessionId, "First task").answer;
  expect(await client.steer(sessionId, "too late")).toMatchObject({
    outcome: "promptRequired",
    reason: "noRunningTurn",
  });
  await client.prompt(sessionId, "Second task").answer;
  expect(told(model, 1)).not.toContain("too late");
});

test("54466: a steer between a cancel and the end of the turn is refused", async () => {
  const { client, home, model, sessionId } = await openAdapter();
  const { command, running } = heldCommand(home);
  model.enqueue(run(command));
  const turn = client.prompt(sessionId, "Go");
  const release = await running;
  client.cancel(sessionId);
  expect(await client.steer(sessionId, "too late")).toMatchObject({ outcome: "promptRequired" });
  expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
  await release();
});

test("a session that another adapter made is found and loaded, its title with it", async () => {
  const { client, cwd, home, sessionId } = await openAdapter({ script: [{ text: "One." }] });
  await client.prompt(sessionId, "First task").answer;
  const { client: other } = connectAdapter(home.path);
  await other.initialize();
  const { sessions } = await other.request<{ sessions: { sessionId: string; cwd: string }[] }>("session/list", {});
  expect(sessions).toMatchObject([{ sessionId, cwd }]);
});
