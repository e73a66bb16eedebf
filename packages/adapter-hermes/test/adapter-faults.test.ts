import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { hermesVendor } from "../src/index.js";
import { connectAdapter, hermesPid, openAdapter, RECEIPTS } from "./adapter-stage.js";
import { createHome, heldCommand, run, SECRET, temporaryFolder, told } from "./stand-in/stage.js";

describe("G8 containment: Hermes' process is killed with -9", () => {
  test("in the middle of a turn: the prompt fails with what happened, the next one works with the history", async () => {
    const stage = await openAdapter({ script: [{ text: "One." }, { text: "x", hold: "model" }, { text: "Three." }] });
    const { client, model, sessionId } = stage;
    await client.prompt(sessionId, "First task").answer;
    const turn = client.prompt(sessionId, "Second task");
    await model.held("model");
    process.kill(hermesPid(stage), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Hermes is gone .*SIGKILL.*next prompt starts it again/),
      data: { reason: "agentExited" },
    });
    expect(await client.prompt(sessionId, "Third task").answer).toMatchObject({ stopReason: "end_turn" });
    expect(told(model, 2)).toMatch(/First task[\s\S]*Third task/);
  });

  test("the settings of the session live on", async () => {
    const stage = await openAdapter({ script: [{ text: "x", hold: "model" }, { text: "One." }] });
    const { client, cwd, model, sessionId } = stage;
    await client.request("session/set_config_option", { sessionId, configId: "mode", value: "dont_ask" });
    const turn = client.prompt(sessionId, "Task");
    await model.held("model");
    process.kill(hermesPid(stage), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({ data: { reason: "agentExited" } });
    await client.prompt(sessionId, "Go").answer;
    const resumed = await client.request<{ configOptions: unknown }>("session/resume", {
      sessionId,
      cwd,
      mcpServers: [],
    });
    expect(resumed.configOptions).toContainEqual(expect.objectContaining({ id: "mode", currentValue: "dont_ask" }));
  });

  test("G1: a steer that the model has not seen is handed back with its content", async () => {
    const stage = await openAdapter({ clientCapabilities: RECEIPTS, script: [{ text: "x", hold: "model" }] });
    const { client, model, sessionId } = stage;
    const turn = client.prompt(sessionId, "Task");
    await model.held("model");
    await client.steer(sessionId, "not that file");
    process.kill(hermesPid(stage), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({
      data: { steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
    const receipt = client.log.find(({ raw }) => raw.includes('"undelivered"') && raw.includes("not that file"));
    expect(receipt).toBeDefined();
  });

  test("a tool call that ran is closed at the client", async () => {
    const stage = await openAdapter();
    const { client, home, model, sessionId } = stage;
    const { command, running } = heldCommand(home);
    model.enqueue(run(command));
    const turn = client.prompt(sessionId, "Task");
    await running;
    process.kill(hermesPid(stage), "SIGKILL");
    await expect(turn.answer).rejects.toMatchObject({ data: { reason: "agentExited" } });
    expect(client.updates(sessionId).at(-1)).toMatchObject({ sessionUpdate: "tool_call_update", status: "failed" });
  });

  test("costs the running turns of all its sessions, and no session", async () => {
    const stage = await openAdapter({ script: ({ messages }) => ({ text: "x", hold: messages.at(-1)?.text ?? "" }) });
    const { client, cwd, model, sessionId } = stage;
    const other = await client.newSession(cwd);
    const turns = [client.prompt(sessionId, "one"), client.prompt(other, "two")];
    await Promise.all([model.held("one"), model.held("two")]);
    process.kill(hermesPid(stage), "SIGKILL");
    for (const { answer } of turns) await expect(answer).rejects.toMatchObject({ data: { reason: "agentExited" } });
    const next = [client.prompt(sessionId, "three"), client.prompt(other, "four")];
    await Promise.all([model.held("three"), model.held("four")]);
    for (const hold of ["three", "four"]) model.release(hold);
    for (const { answer } of next) expect(await answer).toMatchObject({ stopReason: "end_turn" });
    expect(stage.log.filter((line) => line.startsWith("started Hermes"))).toHaveLength(2);
  });
});

describe("a cancelled turn that does not end", () => {
  test("ends with its process, and the next prompt works with the history", async () => {
    const { client, home, model, sessionId, log } = await openAdapter({
      script: [{ text: "One." }, { text: "x", hold: "model" }, { text: "Three." }],
    });
    await client.prompt(sessionId, "First task").answer;
    home.fault("deaf");
    const turn = client.prompt(sessionId, "Second task");
    await model.held("model");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Third task").answer).toMatchObject({ stopReason: "end_turn" });
    expect(told(model, 2)).toMatch(/First task[\s\S]*Third task/);
    expect(log).toContainEqual(expect.stringContaining("does not end"));
  });
});

describe("what cannot start", () => {
  test("no Hermes: initialize works, a session says where it was looked for; installed later, it opens", async () => {
    const folder = await temporaryFolder();
    const vendor = hermesVendor({ env: { PATH: folder, HOME: folder, HERMES_HOME: folder }, log: () => {} });
    const agent = steeringAgent(vendor);
    onTestFinished(() => agent.dispose());
    const client = WireClient.connect(agent);
    expect(await client.initialize()).toMatchObject({ authMethods: [{ id: "hermes" }] });
    await expect(client.newSession(folder)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Cannot find Hermes Agent[\s\S]*python3 on PATH/),
      data: { reason: "hermesNotFound" },
    });
  });

  test("a Hermes that cannot be loaded says why, and names its interpreter", async () => {
    const folder = await temporaryFolder();
    const python = join(folder, "python");
    const modules = join(folder, "modules");
    const script = `#!/bin/sh\nif [ "$1" = -c ]; then exit 0; fi\nPYTHONPATH=${modules} exec python3 "$@"\n`;
    await writeFile(python, script, { mode: 0o755 });
    const agent = steeringAgent(hermesVendor({ python, hermesHome: folder, log: () => {} }));
    onTestFinished(() => agent.dispose());
    const client = WireClient.connect(agent);
    await client.initialize();
    await expect(client.newSession(folder)).rejects.toMatchObject({
      message: expect.stringMatching(/^Cannot start Hermes with .*python: .*run_agent|hermes_cli/),
      data: { reason: "agentStartFailed" },
    });
  });
});

describe("authentication", () => {
  async function withoutKey() {
    const { home, model } = await createHome({ script: [{ text: "In." }] });
    await writeFile(
      join(home.path, "config.yaml"),
      JSON.stringify({ model: { provider: "custom", default: "scripted", base_url: model.url } }),
    );
    const { client, log } = connectAdapter(home.path, { STAND_IN_API_KEY: undefined });
    return { home, client, log, initialized: await client.initialize() };
  }

  test("a missing key is auth_required with the way out; set, it works without a restart", async () => {
    const { client, home, initialized } = await withoutKey();
    expect(initialized["authMethods"]).toMatchObject([{ id: "hermes" }]);
    const missing = { code: -32000, message: expect.stringContaining("STAND_IN_API_KEY") };
    await expect(client.request("authenticate", { methodId: "hermes" })).rejects.toMatchObject(missing);
    const cwd = await temporaryFolder();
    const go = async (): Promise<unknown> => client.prompt(await client.newSession(cwd), "Go").answer;
    await expect(go()).rejects.toMatchObject({ code: -32000 });
    await writeFile(join(home.path, ".env"), `STAND_IN_API_KEY=${SECRET}\n`);
    await client.request("authenticate", { methodId: "hermes" });
    expect(await go()).toMatchObject({ stopReason: "end_turn" });
  });

  test("secrets reach neither the wire nor the log", async () => {
    const { client, home, sessionId, log } = await openAdapter({
      script: [{ text: "One." }, { error: { status: 401, message: `bad key ${SECRET}` } }],
    });
    home.fault("failed");
    await client.prompt(sessionId, "Go").answer.catch(() => {});
    await client.prompt(sessionId, "Go").answer.catch(() => {});
    expect(client.log.map(({ raw }) => raw).join("\n")).not.toContain(SECRET);
    expect(log.join("\n")).not.toContain(SECRET);
  });
});
