import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WireClient } from "@acp-steering/testkit";
import { startModelServer } from "@acp-steering/testkit/model-server";
import { expect, onTestFinished, test } from "vitest";
import { CLI, referenceAgent, run } from "./command-line.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "acp-steer-record-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A turn of the reference agent without steering, steered through the proxy while its model speaks. */
async function recordTurn(...options: string[]): Promise<string> {
  const cwd = folder();
  const file = join(cwd, "turn.jsonl");
  const model = await startModelServer({
    script: [{ text: "Let me look.", hold: "middle", holdAt: "afterText" }, { text: "I looked elsewhere." }],
  });
  onTestFinished(() => model.close());
  const client = await WireClient.spawn({
    command: process.execPath,
    args: [CLI, "wrap", "--record", file, ...options, "--", ...referenceAgent("--road", "none")],
    env: { ...process.env, OPENAI_BASE_URL: model.url },
    cwd,
  });
  await client.initialize({ _meta: { steering: { receipts: true } } });
  const sessionId = await client.newSession(cwd);
  const turn = client.prompt(sessionId, "Read the secret file");
  await model.held("middle");
  await client.steer(sessionId, "not that file");
  model.release("middle");
  await turn.answer;
  await client.close();
  return file;
}

test("a turn that was recorded is drawn with its steer, and no word of it is in the file", async () => {
  const file = await recordTurn();
  const text = readFileSync(file, "utf8");
  expect(text).not.toMatch(/secret file|not that file|Let me look|elsewhere/);
  const { code, stdout } = await run(["trace", file]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/steer 1 .*●.*injected after .*delivered after/);
  expect(stdout).toMatch(/continued .*with what was left/);
});

test("with --log-content the texts are in the file, the picture and the page", async () => {
  const file = await recordTurn("--log-content");
  expect((await run(["trace", file])).stdout).toContain("not that file");
  const page = join(folder(), "turn.html");
  expect((await run(["trace", "--html", page, file])).code).toBe(0);
  expect(readFileSync(page, "utf8")).toContain("Read the secret file");
  const { stdout } = await run(["trace", "--json", file]);
  expect(JSON.parse(stdout)).toMatchObject({
    turns: [{ ending: "end_turn", steers: [{ outcome: "injected", text: "not that file" }] }],
  });
});

test("a recording that was cut off is drawn as far as it goes; what is none is said to be none", async () => {
  const file = await recordTurn();
  const whole = readFileSync(file, "utf8");
  writeFileSync(file, whole.slice(0, whole.length - 20));
  expect((await run(["trace", file])).code).toBe(0);
  writeFileSync(file, '{"no":"recording"}\n');
  expect(await run(["trace", file])).toMatchObject({ code: 2, stderr: expect.stringContaining("is no recording") });
  expect(await run(["trace", join(folder(), "none")])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Cannot read"),
  });
  expect(await run(["trace"])).toMatchObject({ code: 2, stderr: expect.stringContaining("Give one recording") });
});

test("a file that cannot be written is said before anything is started", async () => {
  const outcome = await run(["wrap", "--record", join(folder(), "no", "such", "folder"), "--", ...referenceAgent()]);
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot write the recording") });
});
