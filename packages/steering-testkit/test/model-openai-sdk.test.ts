import { type ModelServer, type ModelServerOptions, startModelServer } from "@acp-steering/testkit/model-server";
import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { describe, expect, onTestFinished, test } from "vitest";
import { DOT } from "./model-images.js";

interface Meeting {
  readonly model: ModelServer;
  readonly client: OpenAI;
}

const meet = async (options: ModelServerOptions = {}): Promise<Meeting> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return { model, client: new OpenAI({ baseURL: model.url, apiKey: "none", maxRetries: 0 }) };
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

const read = { type: "function" as const, name: "read", parameters: { type: "object" }, strict: false };

describe("chat completions, as OpenAI's own client reads them", () => {
  const messages = [{ role: "user" as const, content: "Look." }];

  test("an answer, streamed: its helper puts the same message together as comes in one piece", async () => {
    const { client } = await meet({ script: [WHOLE, WHOLE] });
    const streamed = await client.chat.completions
      .stream({ model: "m", messages, stream_options: { include_usage: true } })
      .finalChatCompletion();
    const whole = await client.chat.completions.create({ model: "m", messages });
    for (const { choices, usage } of [streamed, whole]) {
      expect(choices[0]?.finish_reason).toBe("tool_calls");
      expect(choices[0]?.message.content).toBe("I will look.");
      expect(choices[0]?.message.tool_calls).toMatchObject([
        { id: "one", type: "function", function: { name: "read", arguments: '{"path":"ä.txt"}' } },
        { id: "two", type: "function", function: { name: "ls", arguments: '{"path":"."}' } },
      ]);
      expect(usage).toMatchObject({ prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 });
    }
  });

  test("length, content filter and refusal reach it in its words", async () => {
    const { client } = await meet({
      script: [
        { text: "a", finishReason: "length" },
        { finishReason: "content_filter" },
        { text: "No.", finishReason: "refusal" },
        { text: "No.", finishReason: "refusal" },
      ],
    });
    const ask = () => client.chat.completions.create({ model: "m", messages });
    const endings = [await ask(), await ask(), await ask()].map(({ choices: [choice] }) => [
      choice?.finish_reason,
      choice?.message.content,
      choice?.message.refusal,
    ]);
    expect(endings).toEqual([
      ["length", "a", null],
      ["content_filter", null, null],
      ["stop", null, "No."],
    ]);
    const streamed = await client.chat.completions.stream({ model: "m", messages }).finalMessage();
    expect(streamed).toMatchObject({ content: null, refusal: "No." });
  });
});

const eventsOf = async (stream: AsyncIterable<ResponseStreamEvent>): Promise<ResponseStreamEvent[]> => {
  const events: ResponseStreamEvent[] = [];
  for await (const event of stream) events.push(event);
  return events;
};

describe("responses, as OpenAI's own client reads them", () => {
  test("an answer, streamed: every event, numbered, in order", async () => {
    const { client } = await meet({ script: [WHOLE] });
    const stream = await client.responses.create({ model: "m", input: "Look.", stream: true });
    const events = await eventsOf(stream);
    expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      ...Array.from({ length: 2 }, () => [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
      ]).flat(),
      "completed",
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index));
    const places = events.flatMap((event) => ("output_index" in event ? [event.output_index] : []));
    expect(places).toEqual(places.toSorted((one, other) => one - other));
    expect([...new Set(places)]).toEqual([0, 1, 2, 3]);
  });

  test("its helper puts the same response together as comes in one piece", async () => {
    const { client } = await meet({ script: [WHOLE, WHOLE] });
    const input = { model: "m", input: "Look.", tools: [read] };
    const streamed = await client.responses.stream(input).finalResponse();
    const whole = await client.responses.create(input);
    for (const response of [streamed, whole]) {
      expect(response.status).toBe("completed");
      expect(response.output_text).toBe("I will look.");
      expect(response.output).toMatchObject([
        { type: "reasoning", summary: [{ type: "summary_text", text: "Let me see." }] },
        { type: "message", role: "assistant", status: "completed" },
        { type: "function_call", call_id: "one", name: "read", arguments: '{"path":"ä.txt"}' },
        { type: "function_call", call_id: "two", name: "ls", arguments: '{"path":"."}' },
      ]);
      expect(response.usage).toMatchObject({ input_tokens: 7, output_tokens: 2, total_tokens: 9 });
    }
  });

  test("what streams in is what the response at its end holds, item by item", async () => {
    const { client } = await meet({ script: [WHOLE] });
    const events = await eventsOf(await client.responses.create({ model: "m", input: "Look.", stream: true }));
    const items = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
    const last = events.at(-1);
    expect(last?.type === "response.completed" && last.response.output).toEqual(items);
  });

  test("length and content filter are incomplete responses, a refusal is content of its own", async () => {
    const { client } = await meet({
      script: [
        { text: "a", finishReason: "length" },
        { finishReason: "content_filter" },
        { text: "No.", finishReason: "refusal" },
        { text: "No.", finishReason: "refusal" },
      ],
    });
    const ask = () => client.responses.create({ model: "m", input: "x" });
    expect(await ask()).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
    expect(await ask()).toMatchObject({ status: "incomplete", incomplete_details: { reason: "content_filter" } });
    const refused = { status: "completed", output: [{ content: [{ type: "refusal", refusal: "No." }] }] };
    expect(await ask()).toMatchObject(refused);
    const events = await eventsOf(await client.responses.create({ model: "m", input: "x", stream: true }));
    expect(events.map(({ type }) => type)).toContain("response.refusal.done");
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: refused });
  });

  test("a tool that is offered as one for free text is called as such", async () => {
    const { client } = await meet({ script: [{ toolCalls: [{ id: "c", name: "apply", arguments: "*** Begin" }] }] });
    const tools = [{ type: "custom" as const, name: "apply" }];
    const events = await eventsOf(await client.responses.create({ model: "m", input: "x", stream: true, tools }));
    expect(events.map(({ type }) => type)).toContain("response.custom_tool_call_input.delta");
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "response.output_item.done",
        item: expect.objectContaining({ type: "custom_tool_call", call_id: "c", name: "apply", input: "*** Begin" }),
      }),
    );
  });

  test("a request that carries on from an earlier response is recorded with the whole conversation", async () => {
    const { model, client } = await meet({ script: [{ text: "Hello.", toolCalls: [{ name: "ls", arguments: {} }] }] });
    const first = await client.responses.create({ model: "m", input: "One", instructions: "Be brief." });
    await client.responses.create({
      model: "m",
      previous_response_id: first.id,
      input: [
        { type: "function_call_output", call_id: "call_0_0", output: "a.txt" },
        { role: "user", content: [{ type: "input_image", detail: "auto", image_url: DOT.url }] },
      ],
    });
    expect(model.requests[1]?.messages).toEqual([
      { role: "user", text: "One", images: 0 },
      {
        role: "assistant",
        text: "Hello.",
        images: 0,
        toolCalls: [{ id: "call_0_0", name: "ls", arguments: "{}" }],
      },
      { role: "tool", text: "a.txt", images: 0, toolCallId: "call_0_0" },
      { role: "user", text: "", images: 1, imageDetails: [DOT.image] },
    ]);
  });

  test("a response that was not stored cannot be carried on from", async () => {
    const { client } = await meet();
    const first = await client.responses.create({ model: "m", input: "One", store: false });
    await expect(
      client.responses.create({ model: "m", input: "Two", previous_response_id: first.id }),
    ).rejects.toMatchObject({ status: 400, code: "previous_response_not_found" });
  });

  test("a reference to an earlier item stands for that item", async () => {
    const { model, client } = await meet({ script: [{ toolCalls: [{ name: "ls", arguments: {} }] }] });
    const { output } = await client.responses.create({ model: "m", input: "One" });
    await client.responses.create({
      model: "m",
      input: [
        { role: "user", content: "One" },
        { type: "item_reference", id: output[0]?.id ?? "" },
        { type: "function_call_output", call_id: "call_0_0", output: "a.txt" },
      ],
    });
    expect(model.requests[1]?.messages.map(({ role, toolCalls }) => [role, toolCalls?.[0]?.name])).toEqual([
      ["user", undefined],
      ["assistant", "ls"],
      ["tool", undefined],
    ]);
  });
});

test("the client lists models, and finds each by its name", async () => {
  const { client } = await meet();
  expect((await client.models.list()).data.map(({ id }) => id)).toEqual(["scripted"]);
  expect((await client.models.retrieve("gpt/5")).id).toBe("gpt/5");
});
