import { expect, test } from "vitest";
import { withoutContent } from "../src/record/without-content.js";

const SECRET = "The quick brown fox";

/** Messages of every kind, with the secret wherever a user, an agent or a tool may write. */
const MESSAGES = [
  { method: "session/prompt", params: { sessionId: "s-1", prompt: [{ type: "text", text: SECRET }] } },
  {
    method: "session/prompt",
    params: { sessionId: "s-1", prompt: [{ type: "image", data: SECRET, mimeType: SECRET }] },
  },
  {
    method: "session/prompt",
    params: { sessionId: "s-1", prompt: [{ type: "resource", resource: { uri: SECRET, text: SECRET } }] },
  },
  {
    method: "session/new",
    params: {
      cwd: SECRET,
      mcpServers: [{ name: SECRET, command: SECRET, env: [{ name: SECRET, value: SECRET, type: SECRET }] }],
    },
  },
  {
    method: "session/update",
    params: {
      sessionId: "s-1",
      update: {
        sessionUpdate: "tool_call",
        toolCallId: "t-1",
        title: SECRET,
        kind: "execute",
        rawInput: { kind: SECRET, reason: SECRET, id: [SECRET] },
      },
    },
  },
  { id: 1, result: { outcome: "injected", _meta: { vendor: { note: SECRET } } } },
  { id: 1, error: { code: -32603, message: SECRET, data: { reason: SECRET, stack: SECRET } } },
  { method: "_vendor/anything", params: { text: SECRET, list: [SECRET, [SECRET]] } },
] as const;

test.each(MESSAGES)("no text of a message is in the recording: %j", (message) => {
  expect(JSON.stringify(withoutContent(message))).not.toContain(SECRET);
});

test("what says how the conversation goes is kept", () => {
  const steering = { turnId: "turn-1", continuation: true, messageIds: ["message-1", "message-2"] };
  const message = { id: "a", method: "session/prompt", params: { sessionId: "s-1", prompt: [], _meta: { steering } } };
  expect(withoutContent(message)).toEqual(message);
  const receipt = {
    method: "_session/steering/update",
    params: { sessionId: "s-1", state: "undelivered", reason: "cancelled", messageId: "m-1" },
  };
  expect(withoutContent(receipt)).toEqual(receipt);
});

test("the length of a text stands in its place", () => {
  expect(withoutContent({ params: { text: "four" } })).toEqual({ params: { text: "(4 characters)" } });
});

test("deep nesting ends", () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`);
  expect(JSON.stringify(withoutContent(deep))).toContain("(nested)");
});
