import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Line } from "./stand-in/bridge-process.js";
import { createHome, createStage, prompt, run, SECRET, startBridge, temporaryFolder, told } from "./stand-in/stage.js";

test("a session says its folder, model, models and mode", async () => {
  const { bridge, cwd } = await createStage();
  expect(await bridge.request("open", { cwd })).toEqual({
    session: expect.any(String),
    cwd,
    provider: "custom",
    model: "custom:scripted",
    models: [
      { id: "custom:scripted", name: "scripted", description: "the one of the tests" },
      { id: "custom:other", name: "other" },
    ],
    mode: "default",
  });
});

test("each session's commands and files are in its own folder", async () => {
  const stage = await createStage();
  const other = await temporaryFolder();
  const { session } = await stage.bridge.request("open", { cwd: other });
  stage.model.enqueue(run("pwd"), { text: "Here." }, run("pwd"), { text: "There." });
  await prompt(stage, "t1");
  await prompt({ ...stage, session }, "t2");
  const [here, there] = stage.bridge.all("tool_end").map(({ result }) => result as string);
  expect(here).toContain(stage.cwd);
  expect(there).toContain(other);
});

test("a Windows path is where Hermes inside WSL sees it", async () => {
  const root = await temporaryFolder();
  mkdirSync(join(root, "e", "Projects"), { recursive: true });
  const stage = await createStage({ env: { STAND_IN_WSL_ROOT: root } });
  const opened = await stage.bridge.request("open", { cwd: "E:\\Projects" });
  expect(opened.cwd).toBe(`${root}/e/Projects`);
  stage.model.enqueue(run("pwd"), { text: "There." });
  await prompt({ ...stage, session: opened.session }, "t1");
  expect(stage.bridge.all("tool_end")[0]?.["result"]).toContain(`${root}/e/Projects`);
});

test("loading replays the history in order, resuming does not; both know it afterwards", async () => {
  const stage = await createStage();
  const { bridge, session, home, cwd, model } = stage;
  model.enqueue(
    { reasoning: "Hm.", text: "Let me see. ", toolCalls: run("echo hi").toolCalls },
    { text: "It says hi." },
    { text: "Yes." },
  );
  await prompt(stage, "t1", "Look");
  const next = { ...stage, bridge: startBridge(home.path) };
  await next.bridge.greet();

  await next.bridge.request("load", { session, cwd, replay: false });
  expect(next.bridge.all("history")).toEqual([]);
  await next.bridge.request("load", { session, cwd, replay: true });
  const { entries } = (await next.bridge.next("history")) as unknown as { entries: Line[] };
  expect(entries).toEqual([
    { type: "user", text: "Look" },
    { type: "reasoning", text: "Hm." },
    { type: "text", text: "Let me see. " },
    { type: "tool_start", call: "call_0_0", name: "terminal", args: { command: "echo hi" }, paths: [] },
    {
      type: "tool_end",
      call: "call_0_0",
      name: "terminal",
      result: expect.stringContaining("hi"),
      length: expect.any(Number),
      failed: false,
    },
    { type: "text", text: "It says hi." },
  ]);
  await prompt(next, "t2", "Sure?");
  expect(told(model, 2)).toContain("Look");
  expect(bridge.all("history")).toEqual([]);
});

test("loading during a turn leaves the turn and its history alone", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }, { text: "Two." }] });
  const { bridge, session, cwd, model } = stage;
  const turn = prompt(stage, "t1", "the question");
  await model.held("model");
  await bridge.request("load", { session, cwd, replay: true });
  await expect(prompt(stage, "t2")).rejects.toMatchObject({ code: "busy" });
  model.release("model");
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
  await prompt(stage, "t3");
  expect(told(model, 1)).toContain("the question");
});

test("compacted histories show a repeated steer once", async () => {
  const { home } = await createHome();
  const cwd = await temporaryFolder();
  const steered = "\n\n[OUT-OF-BAND USER MESSAGE — from the user]\nnot that file\n[/OUT-OF-BAND USER MESSAGE]";
  const messages = [
    { role: "user", content: "Begin" },
    { role: "user", content: steered.trim() },
    { role: "user", content: steered.trim() },
    { role: "user", content: steered.trim() },
    { role: "assistant", content: "Understood." },
  ];
  mkdirSync(join(home.path, "sessions"), { recursive: true });
  const row = {
    id: "s1",
    source: "acp",
    cwd,
    model: "scripted",
    title: null,
    updated_at: "2026-01-01T00:00:00Z",
    messages,
  };
  writeFileSync(join(home.path, "sessions", "s1.json"), JSON.stringify(row));
  const bridge = startBridge(home.path);
  await bridge.greet();
  await bridge.request("load", { session: "s1", cwd, replay: true });
  const { entries } = (await bridge.next("history")) as unknown as { entries: Line[] };
  expect(entries.map(({ text }) => text)).toEqual(["Begin", "not that file", "Understood."]);
});

test("a fork has the history, its own id and folder, and lives on its own", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }, { text: "Three." }] });
  const { bridge, session, model } = stage;
  await prompt(stage, "t1", "before the fork");
  const other = await temporaryFolder();
  await bridge.request("set", { session, mode: "accept_edits" });
  const fork = await bridge.request("fork", { session, cwd: other });
  expect(fork).toMatchObject({ cwd: other, mode: "accept_edits" });
  expect(fork.session).not.toBe(session);
  await prompt({ ...stage, session: fork.session }, "t2", "in the fork");
  await prompt(stage, "t3", "in the original");
  expect(told(model, 1)).toBe("before the fork\nin the fork");
  expect(told(model, 2)).toBe("before the fork\nin the original");
});

test("sessions are listed newest first, in pages of 50, without empty ones, for one folder where asked", async () => {
  const { home } = await createHome();
  const bridge = startBridge(home.path);
  mkdirSync(join(home.path, "sessions"), { recursive: true });
  for (let number = 0; number < 120; number += 1) {
    const id = `s${String(number).padStart(3, "0")}`;
    const messages = number === 7 ? [] : [{ role: "user", content: `Question ${number}` }];
    const day = `2026-01-01T00:${String(Math.floor(number / 60)).padStart(2, "0")}:${String(number % 60).padStart(2, "0")}Z`;
    const row = {
      id,
      source: "acp",
      cwd: number % 2 ? "/odd" : "/even",
      model: "scripted",
      title: null,
      updated_at: day,
      messages,
    };
    writeFileSync(join(home.path, "sessions", `${id}.json`), JSON.stringify(row));
  }
  await bridge.greet();
  const seen: string[] = [];
  const sizes: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await bridge.request("list", { cursor });
    sizes.push(page.sessions.length);
    seen.push(...page.sessions.map(({ session }: { session: string }) => session));
    cursor = page.cursor;
  } while (cursor);
  expect(sizes).toEqual([50, 50, 19]);
  expect(seen).toEqual([...seen].sort().reverse());
  expect(seen).not.toContain("s007");
  expect((await bridge.request("list", { cwd: "/odd" })).sessions[0]).toEqual({
    session: "s119",
    cwd: "/odd",
    title: "Question 119",
    updatedAt: "2026-01-01T00:01:59Z",
  });
  expect((await bridge.request("list", { cursor: "unknown" })).sessions).toEqual([]);
});

test("a closed session is still in Hermes' store", async () => {
  const stage = await createStage({ script: [{ text: "One." }] });
  await prompt(stage, "t1");
  await stage.bridge.request("close", { session: stage.session });
  expect((await stage.bridge.request("list")).sessions).toHaveLength(1);
  await stage.bridge.request("load", { session: stage.session, cwd: stage.cwd });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
});

test.each(["load", "fork", "prompt", "close", "set", "command"])(
  "%s of an unknown session is refused",
  async (type) => {
    const { bridge, cwd } = await createStage();
    const request = bridge.request(type, { session: "unknown", cwd, content: "x", text: "x", turn: "t1" });
    await expect(request).rejects.toMatchObject({ code: "unknownSession" });
  },
);

test("switching the model keeps the history; an unknown one and one during a turn are refused", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two.", hold: "model" }] });
  const { bridge, session, model } = stage;
  await prompt(stage, "t1", "before the switch");
  expect(await bridge.request("set", { session, model: "custom:other" })).toMatchObject({ model: "custom:other" });
  const turn = prompt(stage, "t2");
  await model.held("model");
  expect(model.requests[1]?.body).toMatchObject({ model: "other" });
  expect(told(model, 1)).toContain("before the switch");
  await expect(bridge.request("set", { session, model: "custom:scripted" })).rejects.toMatchObject({ code: "busy" });
  model.release("model");
  await turn;
  await expect(bridge.request("set", { session, model: "custom:none" })).rejects.toMatchObject({
    code: "unknownModel",
  });
});

test("the client's MCP servers bring their tools, also after a change of the model", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  const { bridge, cwd, model } = stage;
  const files = { name: "files", command: "files-server", args: ["--stdio"], env: [{ name: "DEBUG", value: "1" }] };
  const { session } = await bridge.request("open", { cwd, mcpServers: [files] });
  await prompt({ ...stage, session }, "t1");
  await bridge.request("set", { session, model: "custom:other" });
  await prompt({ ...stage, session }, "t2");
  const offered = model.requests.map(({ tools }) => tools.map(({ name }) => name).includes("mcp-files_call"));
  expect(offered).toEqual([true, true]);
});

test("an MCP server that cannot be reached is told, and the session opens", async () => {
  const { bridge, cwd } = await createStage();
  await bridge.request("open", {
    cwd,
    mcpServers: [{ name: "unreachable", type: "http", url: "http://127.0.0.1:1", headers: [] }],
  });
  expect(await bridge.next("log")).toMatchObject({ level: "warning", text: expect.stringContaining("MCP") });
});

test("without credentials a session is refused with what to do, and works once they are there", async () => {
  const { home } = await createHome({ script: [{ text: "One." }], configuration: { model: { provider: "custom" } } });
  const bridge = startBridge(home.path);
  await bridge.greet();
  expect(await bridge.request("auth")).toMatchObject({
    configured: false,
    provider: "custom",
    variables: ["STAND_IN_API_KEY"],
    message: expect.stringContaining("hermes model"),
  });
  await expect(bridge.request("open", { cwd: home.path })).rejects.toMatchObject({
    code: "authRequired",
    message: expect.stringContaining("STAND_IN_API_KEY"),
  });
  writeFileSync(join(home.path, ".env"), `STAND_IN_API_KEY=${SECRET}\n`);
  expect(await bridge.request("auth")).toMatchObject({ configured: true, message: null });
  expect(await bridge.request("open", { cwd: home.path })).toMatchObject({ mode: "default" });
});

test("slash commands of Hermes answer with text", async () => {
  const stage = await createStage({ script: [{ text: "One." }] });
  await prompt(stage, "t1", "Hello");
  const command = async (name: string, args = "") =>
    (await stage.bridge.request("command", { session: stage.session, turn: "c1", name, args })).text as string;
  expect(await command("help")).toContain("`/compress`");
  expect(await command("version")).toBe("Hermes Agent 0.19.0");
  expect(await command("tools")).toContain("`terminal`");
  expect(await command("context")).toContain("2 messages: 1 user, 1 assistant, 0 tool.");
  expect(await command("model")).toBe("The model is scripted (provider: custom).");
  expect(await command("model", "other")).toBe("The model is now other (provider: custom).");
  expect(await command("compress")).toContain("2 messages became 1");
  await expect(command("nothing")).rejects.toMatchObject({ code: "unknownCommand" });
});

test("a command waits for no turn: while one runs it is refused", async () => {
  const stage = await createStage({ script: [{ text: "One.", hold: "model" }] });
  const turn = prompt(stage, "t1");
  await stage.model.held("model");
  const reset = stage.bridge.request("command", { session: stage.session, turn: "c1", name: "reset", args: "" });
  await expect(reset).rejects.toMatchObject({ code: "busy" });
  stage.model.release("model");
  await turn;
});

test("reset forgets the conversation, in the store too", async () => {
  const stage = await createStage({ script: [{ text: "One." }, { text: "Two." }] });
  const { bridge, session, cwd, model } = stage;
  await prompt(stage, "t1", "to be forgotten");
  await bridge.request("command", { session, turn: "c1", name: "reset", args: "" });
  await bridge.request("close", { session });
  await bridge.request("load", { session, cwd, replay: true });
  await prompt(stage, "t2", "what was it?");
  expect(told(model, 1)).toBe("what was it?");
});
