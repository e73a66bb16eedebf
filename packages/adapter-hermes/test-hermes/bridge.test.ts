import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { Line } from "../test/stand-in/bridge-process.js";
import {
  createStage as createStandIn,
  heldCommand,
  prompt,
  run,
  type Stage,
  startBridge,
  steer,
  temporaryFolder,
  told,
} from "../test/stand-in/stage.js";
import { hermesPython } from "./adapter-stage.js";

/** Without what would ask the model for itself, or look for something on the network. */
const configuration = { auxiliary: { title_generation: { enabled: false } }, security: { tirith_enabled: false } };
const real = { python: hermesPython(), env: { HERMES_DISABLE_PLUGINS: "1" } };
const shared = createStandIn({ ...real, configuration, contextLength: 131_072, atEnd: afterAll });

/** A session of its own in the bridge that all tests share: Hermes takes seconds to load. */
async function createStage(): Promise<Stage> {
  const stage = await shared;
  stage.model.reset();
  const cwd = await temporaryFolder();
  const { session } = await stage.bridge.request("open", { cwd });
  return { ...stage, cwd, session };
}

/** What the bridge has written of this session. */
const own = ({ bridge, session }: Stage, ...types: string[]) =>
  bridge.lines.filter((line) => line["session"] === session && types.includes(line.type));

test("the version is the one that this adapter was made for, with its steer and without redirect", async () => {
  const { bridge } = await createStage();
  expect(bridge.all("ready")[0]).toMatchObject({ hermes: "0.19.0", steer: true, redirect: false });
});

test("G1 no lost steer: while a command runs it is before the model with its result, in the store, and shown once", async () => {
  const stage = await createStage();
  const { bridge, model, home, session, cwd } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(command), { text: "Seen." }, { text: "Still known." });
  const turn = prompt(stage, "t1", "Begin");
  const release = await running;
  expect(await steer(stage, "t1", "m1", "not that file")).toBe("accepted");
  await release();
  expect(await turn).toMatchObject({ stopReason: "end_turn", delivered: ["m1"], undelivered: [] });
  expect(told(model, 1)).toContain("not that file");
  expect(own(stage, "delivered", "tool_end", "text").map(({ type }) => type)).toEqual([
    "tool_end",
    "delivered",
    "text",
  ]);

  await bridge.request("close", { session });
  await bridge.request("load", { session, cwd, replay: true });
  const { entries } = (await bridge.next("history")) as unknown as { entries: Line[] };
  expect(entries.map(({ type }) => type)).toEqual(["user", "tool_start", "tool_end", "user", "text"]);
  expect(entries[3]?.["text"]).toBe("not that file");
  await prompt(stage, "t2", "And now?");
  expect(told(model, 2)).toContain("not that file");
});

test("G1 no lost steer: a turn without tools hands it back, and the next turn knows nothing of it", async () => {
  const stage = await createStage();
  const { model } = stage;
  model.enqueue({ text: "Only text.", hold: "model" }, { text: "Two." });
  const turn = prompt(stage, "t1");
  await model.held("model");
  expect(await steer(stage, "t1", "m1", "too late")).toBe("accepted");
  expect(await steer(stage, "t1", "m2", "much\ntoo late")).toBe("accepted");
  model.release("model");
  expect(await turn).toMatchObject({ delivered: [], undelivered: ["m1", "m2"] });
  await prompt(stage, "t2");
  expect(model.seen("too late")).toEqual([]);
});

test("G6 cancel: while the model is awaited nothing of Hermes' own words is shown, and the next prompt runs", async () => {
  const stage = await createStage();
  const { bridge, model, session } = stage;
  model.enqueue({ text: "Never.", hold: "model" }, { text: "Two." });
  expect(await bridge.request("interrupt", { session, turn: "t0" })).toEqual({ interrupted: false });
  const turn = prompt(stage, "t1");
  await model.held("model");
  await bridge.request("interrupt", { session, turn: "t1" });
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(own(stage, "text")).toEqual([]);
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  expect(own(stage, "text")).toMatchObject([{ turn: "t2", text: "Two." }]);
});

test("G6 cancel: in the middle of a command the turn ends, the command too, and the next prompt runs", async () => {
  const stage = await createStage();
  const { bridge, model, home, session, cwd } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue(run(`echo $$ > '${cwd}/pid'; ${command}`), { text: "Two." });
  const turn = prompt(stage, "t1");
  await running;
  await bridge.request("interrupt", { session, turn: "t1" });
  expect(await turn).toMatchObject({ stopReason: "cancelled" });
  expect(await prompt(stage, "t2")).toMatchObject({ stopReason: "end_turn" });
  const pid = Number(readFileSync(join(cwd, "pid"), "utf8"));
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("a dangerous command is asked about; a denial and a cancel keep it from running", async () => {
  const stage = await createStage();
  const { bridge, model, session, cwd } = stage;
  writeFileSync(join(cwd, "kept.txt"), "kept");
  model.enqueue(run("rm -rf ./kept.txt"), { text: "Denied." }, run("rm -rf ./kept.txt"), run("rm -rf ./kept.txt"), {
    text: "Gone.",
  });
  const denied = prompt(stage, "t1");
  const first = await bridge.next("ask");
  expect(first).toMatchObject({
    kind: "command",
    command: "rm -rf ./kept.txt",
    choices: ["once", "session", "always", "deny"],
  });
  bridge.send({ type: "answer", ask: first["ask"], choice: "deny" });
  await denied;
  const cancelled = prompt(stage, "t2");
  await bridge.next("ask");
  await bridge.request("interrupt", { session, turn: "t2" });
  expect(await cancelled).toMatchObject({ stopReason: "cancelled" });
  expect(existsSync(join(cwd, "kept.txt"))).toBe(true);
  const allowed = prompt(stage, "t3");
  const third = await bridge.next("ask");
  bridge.send({ type: "answer", ask: third["ask"], choice: "once" });
  await allowed;
  expect(existsSync(join(cwd, "kept.txt"))).toBe(false);
});

test("edits by relative paths are those of the session's folder, are shown before, and ask by mode", async () => {
  const stage = await createStage();
  const { bridge, model, session, cwd } = stage;
  const file = join(cwd, "a.txt");
  writeFileSync(file, "one\ntwo\n");
  const patch = { mode: "replace", path: "a.txt", old_string: "two", new_string: "three" };
  const several =
    "*** Begin Patch\n*** Update File: a.txt\n one\n-three\n+four\n*** Add File: b.txt\n+new\n*** End Patch";
  model.enqueue(
    { toolCalls: [{ name: "patch", arguments: patch }] },
    { text: "Patched." },
    { toolCalls: [{ name: "patch", arguments: { mode: "patch", patch: several } }] },
    { text: "Both." },
  );
  const turn = prompt(stage, "t1");
  const ask = await bridge.next("ask");
  const edits = [{ path: file, oldText: "one\ntwo\n", newText: "one\nthree\n" }];
  expect(ask).toMatchObject({ kind: "edit", tool: "patch", edits, paths: [file] });
  bridge.send({ type: "answer", ask: ask["ask"], choice: "once" });
  await turn;
  expect(readFileSync(file, "utf8")).toBe("one\nthree\n");

  await bridge.request("set", { session, mode: "accept_edits" });
  await prompt(stage, "t2");
  expect(own(stage, "ask").length).toBe(1);
  expect(readFileSync(file, "utf8")).toBe("one\nfour\n");
  expect(own(stage, "tool_start")[1]).toMatchObject({
    paths: [file, join(cwd, "b.txt")],
    edits: [
      { path: file, oldText: "one\nthree\n", newText: "one\nfour\n" },
      { path: join(cwd, "b.txt"), oldText: null, newText: "new" },
    ],
  });
});

test("G8 containment: after kill -9 in the middle of a turn the history is there, and the next prompt runs", async () => {
  const stage = await createStandIn({ ...real, configuration, contextLength: 131_072 });
  const { bridge, model, home, session, cwd } = stage;
  const { command, running } = heldCommand(home);
  model.enqueue({ text: "One." }, run(command), { text: "Again." });
  await prompt(stage, "t1", "the first question");
  prompt(stage, "t2", "the second question").catch(() => {});
  const release = await running;
  bridge.kill();
  await bridge.exited();
  await release();
  const next = { ...stage, bridge: startBridge(home.path, real) };
  await next.bridge.greet();
  await next.bridge.request("load", { session, cwd, replay: true });
  expect(JSON.stringify(next.bridge.all("history"))).toMatch(/the first question.*the second question/s);
  expect(await prompt(next, "t3", "go on")).toMatchObject({ stopReason: "end_turn" });
  expect(next.bridge.text("t3")).toContain("Again.");
});

test("sessions: fork, list, model, commands, reset", async () => {
  const stage = await createStage();
  const { bridge, model, session, cwd } = stage;
  model.enqueue({ text: "One." }, { text: "Two." }, { text: "Three." });
  await prompt(stage, "t1", "before the fork");
  const fork = await bridge.request("fork", { session, cwd });
  await prompt({ ...stage, session: fork.session }, "t2", "in the fork");
  expect(told(model, 1)).toContain("before the fork");
  const { sessions } = await bridge.request("list", { cwd });
  expect(sessions.map((row: Line) => row["session"]).sort()).toEqual([session, fork.session].sort());
  const command = async (name: string) =>
    (await bridge.request("command", { session, turn: "c", name, args: "" })).text;
  expect(await command("tools")).toContain("`terminal`");
  expect(await command("context")).toContain("of 131,072 tokens");
  expect(await command("version")).toBe("Hermes Agent 0.19.0");
  await command("reset");
  await bridge.request("close", { session });
  const shown = bridge.all("history").length;
  await bridge.request("load", { session, cwd, replay: true });
  expect(bridge.all("history").length).toBe(shown);
  await prompt(stage, "t3", "after the reset");
  expect(told(model, 2)).not.toContain("before the fork");
});

test("a failing model is an error without the key; a refused key asks for authentication", async () => {
  const stage = await createStage();
  const { model, bridge } = stage;
  model.enqueue(
    { error: { status: 401, message: "invalid api key" } },
    { error: { status: 401, message: "invalid api key" } },
  );
  const error = await prompt(stage, "t1").catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "authRequired", message: expect.stringContaining("hermes model") });
  expect(JSON.stringify(bridge.lines)).not.toContain("sk-never");
});

test("eight sessions run their turns at the same time", async () => {
  const stage = await createStage();
  const { bridge, model, cwd } = stage;
  const numbers = [...Array(8).keys()];
  for (const number of numbers) model.enqueue({ text: `Answer ${number}.`, hold: `request ${number}` });
  const sessions = await Promise.all(
    numbers.map(async () => (await bridge.request("open", { cwd })).session as string),
  );
  const turns = sessions.map((one, number) => prompt({ ...stage, session: one }, `t${number}`));
  for (const number of numbers) await model.held(`request ${number}`);
  for (const number of numbers) model.release(`request ${number}`);
  for (const end of await Promise.all(turns)) expect(end).toMatchObject({ stopReason: "end_turn" });
});
