import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createStage, prompt, run, type Stage } from "./stand-in/stage.js";

const write = (path: string, content = "new\n") => ({
  toolCalls: [{ name: "write_file", arguments: { path, content } }],
});

/** Runs the dangerous command once, with this answer of the user; whether it ran. */
async function dangerous(stage: Stage, answer: string, command = "rm -rf x; echo ran > ran.txt"): Promise<boolean> {
  stage.model.enqueue(run(command), { text: "Done." });
  const turn = prompt(stage, "t1");
  const { ask } = await stage.bridge.next("ask");
  stage.bridge.send({ type: "answer", ask, choice: answer });
  await turn;
  return existsSync(join(stage.cwd, "ran.txt"));
}

test("a dangerous command is asked about with its words, its call and all choices", async () => {
  const stage = await createStage();
  expect(await dangerous(stage, "once")).toBe(true);
  const [ask] = stage.bridge.all("ask");
  expect(ask).toMatchObject({
    kind: "command",
    command: "rm -rf x; echo ran > ran.txt",
    description: "recursive delete",
    choices: ["once", "session", "always", "deny"],
    call: "call_0_0",
    turn: "t1",
  });
});

test("G6 permissions: what Hermes does not allow for ever is not offered for ever", async () => {
  const stage = await createStage();
  await dangerous(stage, "deny", "tirith; rm -rf x");
  expect(stage.bridge.all("ask")[0]).toMatchObject({ choices: ["once", "session", "deny"] });
});

test.each(["deny", "", "yes", "ALWAYS", "allow_once"])("anything unexpected is a denial: %j", async (answer) => {
  expect(await dangerous(await createStage(), answer)).toBe(false);
});

test("a choice that was not offered is a denial", async () => {
  expect(await dangerous(await createStage(), "always", "tirith; rm -rf x; echo ran > ran.txt")).toBe(false);
});

test("'session' holds for the session alone, 'once' for the command alone", async () => {
  const stage = await createStage();
  expect(await dangerous(stage, "session")).toBe(true);
  stage.model.enqueue(run("rm -rf y"), { text: "Done." });
  await prompt(stage, "t2");
  expect(stage.bridge.all("ask").length).toBe(1);

  const { session } = await stage.bridge.request("open", { cwd: stage.cwd });
  expect(await dangerous({ ...stage, session }, "once")).toBe(true);
  expect(await dangerous({ ...stage, session }, "deny")).toBe(true);
  expect(stage.bridge.all("ask").length).toBe(3);
});

test("no answer is a denial after the time that is configured, and the question is closed", async () => {
  const stage = await createStage({ configuration: { approvals: { timeout: 0.05 } } });
  stage.model.enqueue(run("rm -rf x; echo ran > ran.txt"), { text: "Done." });
  const turn = prompt(stage, "t1");
  const { ask } = await stage.bridge.next("ask");
  await stage.bridge.next("ask_closed", { ask });
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
  stage.bridge.send({ type: "answer", ask, choice: "once" });
  expect(existsSync(join(stage.cwd, "ran.txt"))).toBe(false);
});

test("an edit that was not answered is not asked about again in the same turn", async () => {
  const stage = await createStage({ configuration: { approvals: { timeout: 0.05 } } });
  stage.model.enqueue(write("a.txt"), write("a.txt"), { text: "Done." });
  await prompt(stage, "t1");
  expect(stage.bridge.all("ask").length).toBe(1);
  expect(existsSync(join(stage.cwd, "a.txt"))).toBe(false);
});

test("two sessions that are asked at the same time get their own answers", async () => {
  const stage = await createStage({
    script: ({ messages }) =>
      messages.at(-1)?.role === "user" ? run(`rm -rf x; echo ran > ${messages.at(-1)?.text}.txt`) : { text: "Done." },
  });
  const { session } = await stage.bridge.request("open", { cwd: stage.cwd });
  const turns = [prompt(stage, "t1", "first"), prompt({ ...stage, session }, "t2", "second")];
  const first = await stage.bridge.next("ask", { turn: "t1" });
  const second = await stage.bridge.next("ask", { turn: "t2" });
  stage.bridge.send({ type: "answer", ask: second["ask"], choice: "once" });
  stage.bridge.send({ type: "answer", ask: first["ask"], choice: "deny" });
  await Promise.all(turns);
  expect(existsSync(join(stage.cwd, "first.txt"))).toBe(false);
  expect(existsSync(join(stage.cwd, "second.txt"))).toBe(true);
});

test("what another Hermes left in the environment does not turn the question into a yes", async () => {
  const leaked = [
    "HERMES_EXEC_ASK",
    "HERMES_GATEWAY_SESSION",
    "HERMES_CRON_SESSION",
    "HERMES_SINGLE_QUERY_SESSION",
    "HERMES_YOLO_MODE",
  ];
  const stage = await createStage({ env: Object.fromEntries(leaked.map((name) => [name, "1"])) });
  expect(await dangerous(stage, "deny")).toBe(false);
});

test("parallel dangerous commands are asked about one by one, each with its call", async () => {
  const stage = await createStage();
  const call = (name: string) => ({ name: "terminal", arguments: { command: `rm -rf x; echo ran > ${name}.txt` } });
  stage.model.enqueue({ toolCalls: [call("one"), call("two")] }, { text: "Done." });
  const turn = prompt(stage, "t1");
  for (const [call, choice] of [
    ["call_0_0", "deny"],
    ["call_0_1", "once"],
  ] as const) {
    const { ask } = await stage.bridge.next("ask", { call });
    stage.bridge.send({ type: "answer", ask, choice });
  }
  await turn;
  expect(existsSync(join(stage.cwd, "one.txt"))).toBe(false);
  expect(existsSync(join(stage.cwd, "two.txt"))).toBe(true);
});

test("an edit is asked about with both texts, before the file is touched", async () => {
  const stage = await createStage();
  const file = join(stage.cwd, "a.txt");
  writeFileSync(file, "old\n");
  stage.model.enqueue(write("a.txt"), { text: "Done." });
  const turn = prompt(stage, "t1");
  const ask = await stage.bridge.next("ask");
  const edits = [{ path: file, oldText: "old\n", newText: "new\n" }];
  expect(ask).toMatchObject({
    kind: "edit",
    tool: "write_file",
    choices: ["once", "deny"],
    edits,
    paths: [file],
    call: "call_0_0",
  });
  expect(readFileSync(file, "utf8")).toBe("old\n");
  stage.bridge.send({ type: "answer", ask: ask["ask"], choice: "once" });
  await turn;
  expect(readFileSync(file, "utf8")).toBe("new\n");
  expect(stage.bridge.all("tool_start")[0]).toMatchObject({ edits, paths: [file] });
});

test("an edit by a relative path is that of the session's folder, also in its proposal", async () => {
  const stage = await createStage();
  writeFileSync(join(stage.cwd, "a.txt"), "one two\n");
  const patch = { path: "a.txt", old_string: "two", new_string: "three", mode: "replace" };
  stage.model.enqueue({ toolCalls: [{ name: "patch", arguments: patch }] }, { text: "Done." });
  const turn = prompt(stage, "t1");
  const ask = await stage.bridge.next("ask");
  expect(ask).toMatchObject({
    edits: [{ path: join(stage.cwd, "a.txt"), oldText: "one two\n", newText: "one three\n" }],
  });
  stage.bridge.send({ type: "answer", ask: ask["ask"], choice: "once" });
  await turn;
  expect(readFileSync(join(stage.cwd, "a.txt"), "utf8")).toBe("one three\n");
});

test("a denied edit changes nothing, and its call has failed", async () => {
  const stage = await createStage();
  stage.model.enqueue(write("a.txt"), { text: "Done." });
  const turn = prompt(stage, "t1");
  const { ask } = await stage.bridge.next("ask");
  stage.bridge.send({ type: "answer", ask, choice: "session" });
  await turn;
  expect(existsSync(join(stage.cwd, "a.txt"))).toBe(false);
  expect(stage.bridge.all("tool_end")[0]).toMatchObject({ failed: true });
});

test.each([
  ["accept_edits", "a.txt", false],
  ["accept_edits", "../outside.txt", true],
  ["accept_edits", ".env", true],
  ["dont_ask", "../outside.txt", false],
  ["dont_ask", ".git/config", true],
])("mode %s, edit of %s: asked is %s", async (mode, path, asked) => {
  const stage = await createStage();
  const cwd = join(stage.cwd, "inside");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  const { session } = await stage.bridge.request("open", { cwd });
  expect(await stage.bridge.request("set", { session, mode })).toMatchObject({ mode });
  stage.model.enqueue(write(path), { text: "Done." });
  const turn = prompt({ ...stage, session }, "t1");
  if (asked) {
    const { ask } = await stage.bridge.next("ask");
    stage.bridge.send({ type: "answer", ask, choice: "deny" });
  }
  await turn;
  expect(stage.bridge.all("ask").length).toBe(asked ? 1 : 0);
  expect(existsSync(join(cwd, path))).toBe(!asked);
});

test("an unknown mode is refused, and the mode stays", async () => {
  const { bridge, session } = await createStage();
  await expect(bridge.request("set", { session, mode: "yolo" })).rejects.toMatchObject({ code: "unknownMode" });
  expect(await bridge.request("set", { session })).toMatchObject({ mode: "default" });
});
