import type { SteerMessage, Turn } from "@acp-steering/kit";
import { describe, expect, test } from "vitest";
import type { Channel, Opening } from "../src/dialect.js";
import { CodexCalls } from "../src/dialects/codex-calls.js";
import { hunksOf } from "../src/dialects/codex-diff.js";
import { threadParams } from "../src/dialects/codex-opening.js";
import { CodexQuestions } from "../src/dialects/codex-questions.js";
import { CodexSettings } from "../src/dialects/codex-settings.js";
import { CodexSlash } from "../src/dialects/codex-slash.js";
import { CodexSteers } from "../src/dialects/codex-steers.js";
import { turnOf } from "./codex-playback.js";

/** Codex as far as one request goes. */
function answering(answer: object): { calls: CodexCalls; sent: unknown[] } {
  const sent: unknown[] = [];
  const channel: Channel = {
    cwd: "/project",
    log: () => {},
    send: async (record) => {
      sent.push(record);
      calls.receive({ id: record["id"], ...answer });
    },
    stop: async () => {},
  };
  const calls = new CodexCalls(channel);
  return { calls, sent };
}

const STEER: SteerMessage = {
  messageId: "steer",
  turnId: "turn",
  prompt: [{ type: "text", text: "And this" }],
  signal: new AbortController().signal,
  delivered: () => {},
  undelivered: () => {},
};

test("G8 containment: an answer counts before what Codex says behind it, also when both come in one piece", () => {
  const heard: string[] = [];
  const channel: Channel = { cwd: "/project", log: () => {}, send: async () => {}, stop: async () => {} };
  const notified = (method: string): void => void heard.push(method);
  const calls = new CodexCalls(channel, { notified, asked: async () => undefined });
  void calls.request("review/start", {}, ({ name }) => heard.push(`${name}`));
  calls.receive({ id: 1, result: { name: "the turn" } });
  calls.receive({ method: "turn/started", params: {} });
  expect(heard).toEqual(["the turn", "turn/started"]);
});

describe("what Codex says to a steer", () => {
  const notSteerable = { codexErrorInfo: { activeTurnNotSteerable: { turnKind: "review" } } };
  test.each([
    ["its turn is over", { error: { code: -32600, message: "no active turn to steer" } }, "tooLate"],
    ["another turn runs", { error: { code: -32600, message: "expected active turn id `a` but found `b`" } }, "tooLate"],
    ["a review runs", { error: { code: -32600, message: "in its own words", data: notSteerable } }, "tooLate"],
    ["it does not take the content", { error: { code: -32602, message: "invalid input" } }, "unsupported"],
    ["it has it", { result: { turnId: "codex" } }, "accepted"],
  ])("%s", async (_title, answer, verdict) => {
    const { calls, sent } = answering(answer);
    const steers = new CodexSteers(calls, "thread");
    expect(await steers.steer(STEER)).toBe("tooLate");
    expect(sent).toEqual([]);
    steers.enter("codex");
    expect(await steers.steer(STEER)).toBe(verdict);
    expect(sent).toMatchObject([{ params: { expectedTurnId: "codex", clientUserMessageId: "steer" } }]);
  });
});

describe("what Codex asks", () => {
  const ask = (method: string, params: object, more: Partial<Turn> = {}): Promise<unknown> =>
    new CodexQuestions({ ...turnOf("").turn, ...more }).ask(1, method, { ...params });
  const schema = { type: "object", properties: { name: { type: "string" } } };
  const elicit: Turn["elicit"] = async () => ({ action: "accept", content: { name: "Ada", q: "B" } });
  const refuse: Turn["requestPermission"] = async () => ({ outcome: { outcome: "cancelled" } });

  test("a form of an MCP server is shown where the client shows forms, and declined elsewhere", async () => {
    const params = { mode: "form", serverName: "people", message: "Who?", requestedSchema: schema };
    const method = "mcpServer/elicitation/request";
    expect(await ask(method, params)).toMatchObject({ action: "decline", content: null });
    expect(await ask(method, params, { elicit })).toMatchObject({ action: "accept", content: { name: "Ada" } });
    expect(await ask(method, { ...params, mode: "url" }, { elicit })).toMatchObject({ action: "decline" });
  });

  test("a form without fields is a permission", async () => {
    const params = { mode: "form", serverName: "people", message: "May I?", requestedSchema: { properties: {} } };
    const method = "mcpServer/elicitation/request";
    expect(await ask(method, params)).toMatchObject({ action: "accept", content: {} });
    expect(await ask(method, params, { requestPermission: refuse })).toMatchObject({ action: "decline" });
  });

  test("questions of the model are a form", async () => {
    const params = {
      itemId: "item",
      questions: [{ id: "q", header: "H", question: "Which?", options: [{ label: "B" }] }],
    };
    expect(await ask("item/tool/requestUserInput", params)).toEqual({ answers: {} });
    expect(await ask("item/tool/requestUserInput", params, { elicit })).toMatchObject({
      answers: { q: { answers: ["B"] } },
    });
  });

  test("more rights are given as asked for, or none", async () => {
    const params = { itemId: "item", permissions: { network: { enabled: true }, fileSystem: null } };
    const method = "item/permissions/requestApproval";
    expect(await ask(method, params)).toEqual({ permissions: { network: { enabled: true } }, scope: "turn" });
    expect(await ask(method, params, { requestPermission: refuse })).toEqual({ permissions: {}, scope: "turn" });
  });

  test("no answer of the user's is a rejection that lets the turn go on", async () => {
    const gone: Turn["requestPermission"] = () => Promise.reject(new Error("the client is gone"));
    for (const requestPermission of [refuse, gone])
      expect(await ask("item/fileChange/requestApproval", { itemId: "item" }, { requestPermission })).toEqual({
        decision: "decline",
      });
    expect(await ask("attestation/generate", {})).toBeUndefined();
  });
});

describe("what Codex is told", () => {
  test("a prompt may be a command or a skill", () => {
    const slash = new CodexSlash([
      { skills: [{ name: "tidy", description: "Tidies", path: "/tidy/SKILL.md", enabled: true }] },
    ]);
    const beginningOf = (text: string): unknown => slash.beginningOf([{ type: "text", text }]);
    expect(slash.commands.map(({ name }) => name)).toEqual(["compact", "review", "tidy"]);
    expect(beginningOf("/compact")).toEqual({ method: "thread/compact/start", params: {} });
    expect(beginningOf("/review")).toMatchObject({ params: { target: { type: "uncommittedChanges" } } });
    expect(beginningOf("/tidy up\nnow")).toMatchObject({
      method: "turn/start",
      params: {
        input: [
          { type: "skill", path: "/tidy/SKILL.md" },
          { type: "text", text: "$tidy up\nnow" },
        ],
      },
    });
    expect(beginningOf("/unknown word")).toMatchObject({ params: { input: [{ text: "/unknown word" }] } });
  });

  test("MCP servers of the client and its folders go with the thread, goals stay off", () => {
    const opening: Opening = {
      kind: "resume",
      conversation: { id: "thread" },
      cwd: "/project",
      additionalDirectories: ["/more"],
      mcpServers: [
        { name: "my files", command: "files", args: ["-v"], env: [{ name: "A", value: "1" }] },
        { type: "http", name: "web", url: "http://127.0.0.1/mcp", headers: [{ name: "X", value: "2" }] },
      ],
    };
    expect(threadParams(opening)).toEqual({
      cwd: "/project",
      threadId: "thread",
      excludeTurns: true,
      runtimeWorkspaceRoots: ["/project", "/more"],
      config: {
        "features.goals": false,
        mcp_servers: {
          my_files: { command: "files", args: ["-v"], env: { A: "1" } },
          web: { url: "http://127.0.0.1/mcp", http_headers: { X: "2" } },
        },
      },
    });
  });

  test("a change of the settings is told once, and an effort that a model does not have is not kept", () => {
    const model = (name: string, efforts: string[]): object => ({
      model: name,
      supportedReasoningEfforts: efforts.map((reasoningEffort) => ({ reasoningEffort })),
      defaultReasoningEffort: efforts[0],
    });
    const thread = { model: "a", reasoningEffort: "high", approvalPolicy: "untrusted", sandbox: { type: "readOnly" } };
    const settings = new CodexSettings(thread, [model("a", ["low", "high"]), model("b", ["low"])]);
    expect(settings.modes().currentModeId).toBe("configured");
    settings.setMode("full-access");
    settings.set({ configId: "model", value: "b" });
    expect(settings.takeChanges()).toEqual({
      approvalPolicy: "never",
      sandboxPolicy: { type: "dangerFullAccess" },
      model: "b",
      effort: "low",
    });
    expect(settings.takeChanges()).toEqual({});
  });

  test("a diff becomes the text before and after, hunk by hunk", () => {
    const diff = "@@ -1,2 +1,2 @@\n one\n-two\n+three\n@@ -9 +9,2 @@\n nine\n+ten\n\\ No newline at end of file\n";
    expect(hunksOf(diff)).toEqual([
      { oldText: "one\ntwo", newText: "one\nthree", line: 1 },
      { oldText: "nine", newText: "nine\nten", line: 9 },
    ]);
  });
});
