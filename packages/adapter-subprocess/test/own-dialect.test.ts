import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { UsageError } from "@acp-steering/kit/adapter";
import { describe, expect, test } from "vitest";
import { loadDialect } from "../src/dialects/load-dialect.js";
import { spawnAdapter, temporaryFolder } from "./stage.js";
import { toJavaScript } from "./steer-jsonl-wire.js";

const PAGE = new URL("../docs/own-dialect.md", import.meta.url);
const MILL = fileURLToPath(new URL("fixtures/mill.mjs", import.meta.url));

/** The one program of the page, as its reader would save it. */
async function dialectOfThePage(): Promise<string> {
  const [, source = ""] = /^```ts\n(.*?)^```/ms.exec(await readFile(PAGE, "utf8")) ?? [];
  const path = join(await temporaryFolder(), "mill-dialect.mjs");
  await writeFile(path, toJavaScript(source));
  return path;
}

async function moduleWith(source: string): Promise<string> {
  const path = join(await temporaryFolder(), "my-dialect.mjs");
  await writeFile(path, source);
  return path;
}

describe("the dialect that the page shows", () => {
  async function openMill() {
    const args = ["--dialect", await dialectOfThePage(), "--", process.execPath, MILL];
    const client = await spawnAdapter(args);
    const initialized = await client.initialize({ _meta: { steering: { receipts: true } } });
    return { client, initialized, sessionId: await client.newSession(await temporaryFolder()) };
  }

  test("G1: takes a steer in the middle of a run", async () => {
    const { client, initialized, sessionId } = await openMill();
    expect(initialized).toMatchObject({ _meta: { steering: { supported: true, emulated: false } } });
    const turn = client.prompt(sessionId, "grind hold");
    await client.waitForUpdate("agent_message_chunk", ({ content }) => JSON.stringify(content).includes("holding"));
    expect(await client.steer(sessionId, "release")).toMatchObject({ outcome: "injected" });
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("grind\nholding\nrelease\n");
  });

  test("G1: what the agent no longer takes comes in a continuation", async () => {
    const { client, sessionId } = await openMill();
    const turn = client.prompt(sessionId, "hold");
    await client.waitForUpdate("agent_message_chunk");
    const late = [client.steer(sessionId, "release"), client.steer(sessionId, "late")];
    expect(await Promise.all(late)).toMatchObject([{ outcome: "injected" }, { outcome: "injected" }]);
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("holding\nrelease\nlate\n");
  });

  test("G6: stops at a cancel", async () => {
    const { client, sessionId } = await openMill();
    const turn = client.prompt(sessionId, "hold");
    await client.waitForUpdate("agent_message_chunk");
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(await client.prompt(sessionId, "again").answer).toMatchObject({ stopReason: "end_turn" });
  });
});

describe("a file that is no dialect", () => {
  const SESSION = "session: () => ({})";
  const COMPLETE = `name: "mine", title: "Mine", usage: "mine --json", ${SESSION}`;

  test.each([
    ["const dialect = {};", /exports no `dialect`/],
    ["export const dialect = 3;", /exports no `dialect`/],
    ["export default {};", /exports no `dialect`.*export const dialect/],
    [`export const dialect = { name: "mine", title: "Mine", ${SESSION} };`, /`usage` is missing \(a text\)/],
    [`export const dialect = { ${COMPLETE}, name: "" };`, /`name` has to be a text, not an empty text/],
    [`export const dialect = { ${COMPLETE}, session: "new" };`, /`session` has to be a function, not a text/],
    [`export const dialect = { ${COMPLETE}, meet: true };`, /`meet` has to be a function, not a boolean/],
    [`export const dialect = { ${COMPLETE}, supports: [] };`, /`supports` has to be an object, not a list/],
    [`export const dialect = { ${COMPLETE}, supports: {} };`, /`supports.content` is missing.*`supports.boundary`/],
    ["export const dialect = ;", /Cannot load the dialect .*my-dialect\.mjs/],
    ["throw new Error('not today');", /Cannot load the dialect .*not today/],
  ])("%s", async (source, message) => {
    const path = await moduleWith(source);
    const failure = await loadDialect(path).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UsageError);
    expect((failure as Error).message).toMatch(message);
    expect((failure as Error).message).toContain(path);
  });

  test("a complete one is taken as it is", async () => {
    expect(await loadDialect(await moduleWith(`export const dialect = { ${COMPLETE} };`))).toMatchObject({
      name: "mine",
    });
  });

  test("a file that is not there ends the command with 2 and one line that names it", async () => {
    const client = await spawnAdapter(["--dialect", "./no-such-dialect.mjs", "--", "pi"]);
    expect(await client.exited).toEqual({ code: 2, signal: null });
    expect(client.stderr).toMatch(/Cannot load the dialect \/.*no-such-dialect\.mjs/);
    expect(client.log).toEqual([]);
  });
});
