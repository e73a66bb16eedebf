import { describe, expect, test } from "vitest";
import { toKimiParts } from "../src/kimi-content.js";
import { outcomeOf } from "../src/kimi-outcome.js";
import { toKimiMcpServers } from "../src/mcp-servers.js";
import { ToolIds } from "../src/tool-ids.js";

const NOTHING = { usage: undefined, truncated: false };
const failed = (code: string) => ({ reason: "failed", error: { code, message: "why" } }) as const;

describe("content for Kimi", () => {
  test("text is passed on verbatim, also when it begins like something else", () => {
    const text = "/not <a> command\u2028 [notification]";
    expect(toKimiParts([{ type: "text", text }])).toEqual([{ type: "text", text }]);
  });

  test("a message without any text gets one, since models refuse it otherwise", () => {
    const image = { type: "image", data: "AA==", mimeType: "image/png" } as const;
    expect(toKimiParts([image])).toMatchObject([{ type: "text" }, { type: "image", source: { data: "AA==" } }]);
  });

  test.each([
    ["file:///src/a.ts", "/src/a.ts"],
    ["file:///src/a%20b.ts#L10", "/src/a b.ts:10"],
    ["file:///src/a.ts#L10-20", "/src/a.ts:10-20"],
    ["file:///src/a.ts#L10:L20", "/src/a.ts:10-20"],
    ["https://example.com/x", "[a.ts](https://example.com/x)"],
    ["zed:///thread/1", "[a.ts](zed:///thread/1)"],
  ])("a link to %s is %s", (uri, text) => {
    expect(toKimiParts([{ type: "resource_link", uri, name: "a.ts" }])).toEqual([{ type: "text", text }]);
  });

  test("an embedded image is an image, another blob its name, a sound is said not to be heard", () => {
    const blob = (mimeType: string) =>
      ({ type: "resource", resource: { uri: "file:///x", blob: "AA==", mimeType } }) as const;
    const sound = { type: "audio", data: "AA==", mimeType: "audio/wav" } as const;
    expect(
      toKimiParts([{ type: "text", text: "See" }, blob("image/png"), blob("application/zip"), sound]),
    ).toMatchObject([
      { type: "text" },
      { type: "image" },
      { type: "text", text: "/x" },
      { type: "text", text: expect.stringContaining("cannot hear") },
    ]);
  });
});

describe("the answer to a prompt", () => {
  test.each([
    [{ reason: "completed", error: undefined } as const, "end_turn"],
    [{ reason: "cancelled", error: undefined } as const, "cancelled"],
    [{ reason: "blocked", error: undefined } as const, "refusal"],
    [failed("provider.filtered"), "refusal"],
    [failed("loop.max_steps_exceeded"), "max_turn_requests"],
  ])("%j is %s", (end, stopReason) => {
    expect(outcomeOf(end, NOTHING)).toEqual({ stopReason });
  });

  test.each([
    ["auth.login_required", { code: -32000 }],
    ["auth.token_unauthorized", { code: -32000 }],
    ["model.not_configured", { code: -32603, data: { reason: "noModel" } }],
    ["provider.api_error", { code: -32603, data: { reason: "modelFailed", kimiCode: "provider.api_error" } }],
  ])("a failure with %s says what to do", (code, error) => {
    expect(() => outcomeOf(failed(code), NOTHING)).toThrow(expect.objectContaining(error));
  });
});

describe("small parts", () => {
  test("MCP servers keep their commands, environments, addresses and headers", () => {
    const env = [{ name: "A", value: "1" }];
    expect(
      toKimiMcpServers([
        { name: "local", command: "node", args: ["x"], env },
        { type: "http", name: "far", url: "http://localhost/mcp", headers: env },
      ]),
    ).toEqual({
      local: { transport: "stdio", command: "node", args: ["x"], env: { A: "1" }, runtime_id: "local" },
      far: { transport: "http", url: "http://localhost/mcp", headers: { A: "1" } },
    });
  });

  test("a tool call keeps its id; the next with the same one is numbered, and a replay counts anew", () => {
    const ids = new ToolIds();
    expect(["a", "a", "b", "a"].map((id) => ids.next(id))).toEqual(["a", "a#2", "b", "a#3"]);
    expect(ids.restart().next("a")).toBe("a");
  });
});
