import { parseScript, startModelServer } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";

describe("a script that cannot be played names the reply and the field", () => {
  const wrong: readonly [unknown, string][] = [
    [{}, "script: must be an array of replies"],
    [["hi"], "script: reply 0: "],
    [[{}, { txt: "x" }], 'script: reply 1: Unrecognized key: "txt"'],
    [[{ text: 5 }], "script: reply 0.text: must be a string or an array of strings"],
    [[{ text: ["a", 5] }], "script: reply 0.text: must be a string or an array of strings"],
    [[{ toolCalls: [{ arguments: {} }] }], "script: reply 0.toolCalls[0].name: "],
    [[{ toolCalls: [{ name: "ls" }] }], "script: reply 0.toolCalls[0].arguments: must be given"],
    [[{ when: { tool: true } }], 'script: reply 0.when: Unrecognized key: "tool"'],
    [[{ delayMs: -1 }], "script: reply 0.delayMs: "],
    [[{ hold: "" }], "script: reply 0.hold: "],
    [[{ holdAt: "start" }], "script: reply 0.holdAt: needs `hold`"],
    [[{ hold: "x", holdAt: "end" }], "script: reply 0.holdAt: "],
    [[{ error: { status: 200 } }], "script: reply 0.error.status: "],
    [[{ error: { status: 500 }, text: "x" }], "script: reply 0.error: stands alone"],
    [[{ error: { status: 500 }, hold: "x", holdAt: "afterText" }], "script: reply 0.error: stands alone"],
    [[{ error: { status: 500, retryAfterSeconds: -1 } }], "script: reply 0.error.retryAfterSeconds: "],
    [[{ error: { status: 500 }, malformed: true }], "script: reply 0.error: stands alone"],
    [[{ error: { status: 500 }, cut: "start" }], "script: reply 0.error: stands alone"],
    [[{ cut: "end" }], 'script: reply 0.cut: must be true, false or "start"'],
    [[{ cut: true, streamError: { status: 500 } }], "script: reply 0.streamError: and `cut` are two ends"],
    [[{ usage: { inputTokens: 1.5 } }], "script: reply 0.usage.inputTokens: "],
  ];

  test.each(wrong)("%j", (script, message) => {
    expect(() => parseScript(script)).toThrow(expect.objectContaining({ code: "invalidScript" }));
    expect(() => parseScript(script)).toThrow(message);
  });

  test("arguments that JSON cannot say", () => {
    expect(() => parseScript([{ toolCalls: [{ name: "ls", arguments: 1n }] }])).toThrow("toolCalls[0].arguments");
  });

  test("every wrong reply is named, with the origin of the script", () => {
    expect(() => parseScript([{ cut: 1 }, {}, { cut: 2 }], "a.json")).toThrow(
      /a\.json: reply 0\.cut: .*\na\.json: reply 2/,
    );
  });
});

test("a whole script is taken as it is", () => {
  const script = [
    { text: "a", reasoning: ["b"], toolCalls: [{ id: "c", name: "d", arguments: "{}" }], usage: { outputTokens: 1 } },
    { hold: "e", holdAt: "afterText", delayMs: 0, chunkDelayMs: 5, cut: true, finishReason: "length" },
    { error: { status: 500, message: "f", type: "g", code: "i", retryAfterSeconds: 0.5 }, hold: "h", delayMs: 1 },
    { text: "j", malformed: true, streamError: { status: 529 }, hold: "k", holdAt: "afterHeaders" },
    { cut: "start", hold: "l", when: { tools: true, user: "m" } },
  ];
  expect(parseScript(script)).toBe(script);
});

test("a wrong script is refused before the server listens, a wrong reply when it is queued", async () => {
  await expect(startModelServer({ script: [{ hold: "" }] })).rejects.toMatchObject({ code: "invalidScript" });
  const model = await startModelServer();
  try {
    expect(() => model.enqueue({ delayMs: Number.NaN })).toThrow(expect.objectContaining({ code: "invalidScript" }));
  } finally {
    await model.close();
  }
});
