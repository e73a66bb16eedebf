import {
  agentEnvironment,
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "@acp-steering/testkit/model-server";
import Anthropic from "@anthropic-ai/sdk";
import { expect, onTestFinished, test } from "vitest";
import { DOT } from "./model-images.js";

interface Meeting {
  readonly model: ModelServer;
  readonly client: Anthropic;
}

const meet = async (options: ModelServerOptions = {}): Promise<Meeting> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  const { ANTHROPIC_BASE_URL: baseURL, ANTHROPIC_API_KEY: apiKey } = agentEnvironment("anthropic", model.url);
  return { model, client: new Anthropic({ baseURL: baseURL ?? null, apiKey: apiKey ?? null, maxRetries: 0 }) };
};

const WHOLE = {
  reasoning: ["Let me ", "see."],
  text: ["I will ", "look."],
  toolCalls: [
    { id: "one", name: "read", arguments: { path: "ä.txt" } },
    { id: "two", name: "ls", arguments: { path: "." } },
  ],
  usage: { inputTokens: 7, outputTokens: 2 },
};

const REQUEST = { model: "m", max_tokens: 100, messages: [{ role: "user" as const, content: "Look." }] };

test("an answer, streamed: its helper puts the same message together as comes in one piece", async () => {
  const { client } = await meet({ script: [WHOLE, WHOLE] });
  const streamed = await client.messages.stream(REQUEST).finalMessage();
  const whole = await client.messages.create(REQUEST);
  for (const message of [streamed, whole]) {
    expect(message.stop_reason).toBe("tool_use");
    expect(message.content).toMatchObject([
      { type: "thinking", thinking: "Let me see.", signature: expect.stringMatching(/./) },
      { type: "text", text: "I will look." },
      { type: "tool_use", id: "one", name: "read", input: { path: "ä.txt" } },
      { type: "tool_use", id: "two", name: "ls", input: { path: "." } },
    ]);
    expect(message.usage).toMatchObject({ input_tokens: 7, output_tokens: 2 });
  }
});

test("an answer, streamed: every event, in order, each block between its start and its stop", async () => {
  const { client } = await meet({ script: [WHOLE] });
  const events: string[] = [];
  for await (const event of await client.messages.create({ ...REQUEST, stream: true })) {
    events.push("index" in event ? `${event.type} ${event.index}` : event.type);
  }
  expect(events).toEqual([
    "message_start",
    "content_block_start 0",
    "content_block_delta 0",
    "content_block_delta 0",
    // The signature of the thinking.
    "content_block_delta 0",
    "content_block_stop 0",
    ...[1, 2, 3].flatMap((index) => [
      `content_block_start ${index}`,
      `content_block_delta ${index}`,
      `content_block_delta ${index}`,
      `content_block_stop ${index}`,
    ]),
    "message_delta",
    "message_stop",
  ]);
});

test("an answer without content is one too, streamed and not", async () => {
  const { client } = await meet({ script: [{}, {}] });
  for (const message of [await client.messages.stream(REQUEST).finalMessage(), await client.messages.create(REQUEST)]) {
    expect(message).toMatchObject({ content: [], stop_reason: "end_turn" });
  }
});

test("length and both kinds of refusal reach it in its words", async () => {
  const reasons = ["length", "content_filter", "refusal", "pause_turn"];
  const { client } = await meet({ script: reasons.map((finishReason) => ({ text: "a", finishReason })) });
  const seen: unknown[] = [];
  for (const _ of reasons) seen.push((await client.messages.create(REQUEST)).stop_reason);
  expect(seen).toEqual(["max_tokens", "refusal", "refusal", "pause_turn"]);
});

test("the whole of a history is recorded as every dialect's", async () => {
  const { model, client } = await meet();
  await client.beta.messages.create({
    ...REQUEST,
    betas: ["some-beta-2026-01-01"],
    system: [
      { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
      { type: "text", text: "Be kind." },
    ],
    tools: [{ name: "Bash", description: "Runs.", input_schema: { type: "object", properties: { command: {} } } }],
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "Look" },
          { type: "image", source: { type: "base64", media_type: "image/png", data: DOT.base64 } },
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "text", text: "here" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Hm.", signature: "x" },
          { type: "text", text: "Yes." },
          { type: "tool_use", id: "c1", name: "Bash", input: { command: "ls" } },
          { type: "tool_use", id: "c2", name: "Bash", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "c1", content: "a.txt" },
          {
            type: "tool_result",
            tool_use_id: "c2",
            is_error: true,
            content: [
              { type: "text", text: "no" },
              { type: "image", source: { type: "base64", media_type: "image/png", data: DOT.base64 } },
            ],
          },
          { type: "text", text: "not that file" },
        ],
      },
    ],
  });
  const [request] = model.requests;
  expect(request).toMatchObject({ dialect: "anthropic", path: "/v1/messages", model: "m", stream: false });
  expect(request?.tools).toEqual([
    { name: "Bash", description: "Runs.", parameters: { type: "object", properties: { command: {} } } },
  ]);
  expect(request?.messages).toEqual([
    { role: "system", text: "Be brief.\nBe kind.", images: 0 },
    {
      role: "user",
      text: "Look\nhere",
      images: 2,
      imageDetails: [DOT.image, { kind: "reference", reference: "https://example.com/a.png" }],
    },
    {
      role: "assistant",
      text: "Yes.",
      images: 0,
      toolCalls: [
        { id: "c1", name: "Bash", arguments: '{"command":"ls"}' },
        { id: "c2", name: "Bash", arguments: "{}" },
      ],
    },
    { role: "tool", text: "a.txt", images: 0, toolCallId: "c1" },
    { role: "tool", text: "no", images: 1, imageDetails: [DOT.image], toolCallId: "c2" },
    { role: "user", text: "not that file", images: 0 },
  ]);
});

test("counting tokens is no request to the model", async () => {
  const { model, client } = await meet({ script: [{ text: "kept" }] });
  const short = await client.messages.countTokens({ model: "m", messages: REQUEST.messages });
  const long = await client.messages.countTokens({
    model: "m",
    messages: [{ role: "user", content: "x".repeat(1_000) }],
  });
  expect(short.input_tokens).toBeGreaterThan(0);
  expect(long.input_tokens).toBeGreaterThan(short.input_tokens);
  expect(model.requests).toEqual([]);
  expect(await client.messages.create(REQUEST)).toMatchObject({ content: [{ text: "kept" }] });
});

test("the client lists models, and finds each by its name", async () => {
  const { client } = await meet();
  const listed = [];
  for await (const { id, type } of client.models.list()) listed.push({ id, type });
  expect(listed).toEqual([{ id: "scripted", type: "model" }]);
  expect(await client.models.retrieve("claude-x")).toMatchObject({ id: "claude-x", type: "model" });
});
