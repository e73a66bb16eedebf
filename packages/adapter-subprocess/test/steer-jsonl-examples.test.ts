import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ModelServer, type Script, shellCall, startModelServer } from "@acp-steering/testkit/model-server";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder, userTexts } from "./stage.js";
import { type JsonlStage, openAgent, receiptsOf } from "./steer-jsonl-stage.js";
import { example } from "./steer-jsonl-wire.js";

const NAMES = ["agent.py", "agent.sh", "agent.ts"] as const;

async function openExample(name: "agent.py" | "agent.ts", given: Script): Promise<JsonlStage & { model: ModelServer }> {
  const model = await startModelServer({ script: given });
  onTestFinished(() => model.close());
  const environment = { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "none" };
  return { ...(await openAgent(await example(name, await temporaryFolder()), { environment })), model };
}

test.each(NAMES)("%s has at most 40 lines", async (name) => {
  const source = await readFile(new URL(`../examples/${name}`, import.meta.url), "utf8");
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});

describe.each(["agent.py", "agent.ts"] as const)("%s", (name) => {
  test("G1: hears a steer in the middle of its work, before its next request to the model", async () => {
    const { client, sessionId, model, traffic } = await openExample(name, (request) =>
      request.messages.some(({ role }) => role === "tool")
        ? { text: "Then so." }
        : {
            toolCalls: [shellCall(request, "echo looked") ?? { name: "", arguments: {} }],
            hold: "first",
            holdAt: "start",
          },
    );
    const turn = client.prompt(sessionId, "Look around");
    await model.held("first");
    expect(await client.steer(sessionId, "not there")).toMatchObject({ outcome: "injected" });
    model.release("first");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model)).toEqual([["Look around"], ["Look around", "not there"]]);
    expect(receiptsOf(client)).toEqual(["turnStarted", "delivered", "turnEnded"]);
    expect(client.agentText(sessionId)).toBe("Then so.");
    const done = await client.waitForUpdate("tool_call_update", ({ status }) => status === "completed");
    expect(JSON.stringify(done)).toContain("looked");
    expect((await traffic()).toAgent.filter(({ type }) => type === "prompt").length).toBe(1);
  });

  test("G6: stops at a cancel, and goes on with the next prompt", async () => {
    const { client, sessionId, model, traffic } = await openExample(name, [
      { text: "Never said.", hold: "first", holdAt: "start" },
      { text: "Here." },
    ]);
    const turn = client.prompt(sessionId, "Think");
    await model.held("first");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "Again").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Here.");
    expect((await traffic()).toAgent.map(({ type }) => type)).toEqual(["open", "prompt", "interrupt", "prompt"]);
  });
});

describe("agent.sh", () => {
  /** A folder with a script that waits until something is written to `gate`, and one that leaves a file. */
  async function openScripts(): Promise<JsonlStage> {
    const cwd = await temporaryFolder();
    execFileSync("mkfifo", [join(cwd, "gate")]);
    await writeFile(join(cwd, "wait.sh"), "exec cat gate\n");
    await writeFile(join(cwd, "leave.sh"), "echo left > left.txt\n");
    await writeFile(join(cwd, "fail.sh"), "exit 3\n");
    return openAgent(await example("agent.sh", cwd), { cwd });
  }

  test("G1: a steer joins the work while a script runs", async () => {
    const { client, cwd, sessionId, traffic } = await openScripts();
    const turn = client.prompt(sessionId, "wait.sh fail.sh");
    await client.waitForUpdate("tool_call");
    expect(await client.steer(sessionId, "leave.sh")).toMatchObject({ outcome: "injected" });
    await client.waitFor(({ message }) => (message?.params as { state?: string } | undefined)?.state === "delivered");
    await writeFile(join(cwd, "gate"), "");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(await readFile(join(cwd, "left.txt"), "utf8")).toBe("left\n");
    const ended = client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "tool_call_update");
    expect(ended.map(({ status }) => status)).toEqual(["completed", "failed", "completed"]);
    expect((await traffic()).toAgent.filter(({ type }) => type === "prompt").length).toBe(1);
  });

  test("G6: a cancel ends the script that runs, and the next prompt works", async () => {
    const { client, cwd, sessionId, traffic } = await openScripts();
    const turn = client.prompt(sessionId, "wait.sh leave.sh");
    await client.waitForUpdate("tool_call");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    await expect(readFile(join(cwd, "left.txt"))).rejects.toMatchObject({ code: "ENOENT" });
    expect(await client.prompt(sessionId, "leave.sh").answer).toMatchObject({ stopReason: "end_turn" });
    expect(await readFile(join(cwd, "left.txt"), "utf8")).toBe("left\n");
    expect((await traffic()).toAgent.map(({ type }) => type)).toEqual(["open", "prompt", "interrupt", "prompt"]);
  });
});
