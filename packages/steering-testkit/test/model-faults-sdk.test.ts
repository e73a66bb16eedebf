import { type ModelServer, type Reply, startModelServer } from "@acp-steering/testkit/model-server";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";

/** One dialect as its provider's own client speaks it; `ask` resolves with the text of the answer. */
interface Speaker {
  readonly name: string;
  readonly errors: typeof OpenAI | typeof Anthropic;
  ask(model: ModelServer, stream: boolean, maxRetries?: number): Promise<string>;
}

const openai = ({ url }: ModelServer, maxRetries: number): OpenAI =>
  new OpenAI({ baseURL: url, apiKey: "none", maxRetries, logLevel: "off" });

const chat: Speaker = {
  name: "openai-chat",
  errors: OpenAI,
  ask: async (model, stream, maxRetries = 0) => {
    const { completions } = openai(model, maxRetries).chat;
    const request = { model: "m", messages: [{ role: "user" as const, content: "x" }] };
    if (!stream) return (await completions.create(request)).choices[0]?.message.content ?? "";
    let text = "";
    for await (const { choices } of await completions.create({ ...request, stream })) {
      text += choices[0]?.delta.content ?? "";
    }
    return text;
  },
};

const responses: Speaker = {
  name: "openai-responses",
  errors: OpenAI,
  ask: async (model, stream, maxRetries = 0) => {
    const client = openai(model, maxRetries).responses;
    if (!stream) return (await client.create({ model: "m", input: "x" })).output_text;
    let text = "";
    for await (const event of await client.create({ model: "m", input: "x", stream })) {
      if (event.type === "response.output_text.delta") text += event.delta;
      if (event.type === "response.failed") throw new Error(`failed: ${event.response.error?.code}`);
    }
    return text;
  },
};

const messages: Speaker = {
  name: "anthropic",
  errors: Anthropic,
  ask: async ({ url }, stream, maxRetries = 0) => {
    const baseURL = new URL(url).origin;
    const client = new Anthropic({ baseURL, apiKey: "none", maxRetries, logLevel: "off" }).messages;
    const request = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "x" }] };
    const message = stream ? await client.stream(request).finalMessage() : await client.create(request);
    return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  },
};

const play = async (...script: Reply[]): Promise<ModelServer> => {
  const model = await startModelServer({ script });
  onTestFinished(() => model.close());
  return model;
};

const SPEAKERS = [chat, responses, messages];

describe.each(SPEAKERS)("what $name's own client makes of a fault", ({ ask, errors }) => {
  describe.each([true, false])("streamed: %s", (stream) => {
    test("429 with retry-after: it waits as told and asks again", async () => {
      const model = await play({ error: { status: 429, retryAfterSeconds: 0 } }, { text: "Now." });
      expect(await ask(model, stream, 1)).toBe("Now.");
      expect(model.requests).toHaveLength(2);
    });

    test("each status is the error that the client has for it", async () => {
      const model = await play(
        { error: { status: 429 } },
        { error: { status: 500, message: "Broken." } },
        { error: { status: 400, code: "content_policy_violation", message: "Not this." } },
        { error: { status: 401 } },
      );
      await expect(ask(model, stream)).rejects.toBeInstanceOf(errors.RateLimitError);
      await expect(ask(model, stream)).rejects.toBeInstanceOf(errors.InternalServerError);
      const refused = ask(model, stream);
      await expect(refused).rejects.toBeInstanceOf(errors.BadRequestError);
      await expect(refused).rejects.toThrow("Not this.");
      await expect(ask(model, stream)).rejects.toBeInstanceOf(errors.AuthenticationError);
    });

    test("a connection that is cut before the headers: asked again, or a connection error", async () => {
      const model = await play({ cut: "start" }, { text: "Again." }, { cut: "start" });
      expect(await ask(model, stream, 1)).toBe("Again.");
      await expect(ask(model, stream)).rejects.toBeInstanceOf(errors.APIConnectionError);
    });

    test("an answer that breaks off is an error, and never taken for a whole one", async () => {
      const model = await play({ text: ["half an ", "ans"], cut: true });
      await expect(ask(model, stream)).rejects.toThrow(/terminated|error|aborted|premature/i);
    });

    test("what is not JSON is an error", async () => {
      const model = await play({ text: ["a", "b"], malformed: true });
      await expect(ask(model, stream)).rejects.toThrow(/JSON/);
    });

    test("the provider fails in the middle", async () => {
      const model = await play({ text: ["a", "b"], streamError: { status: 529, message: "Overloaded." } });
      await expect(ask(model, stream)).rejects.toThrow(/Overloaded|server_error/);
    });
  });

  test("a silent stream: the headers are there, the rest comes when it is released", async () => {
    const model = await play({ text: "At last.", hold: "stall", holdAt: "afterHeaders" });
    const answer = ask(model, true);
    await model.held("stall");
    model.release("stall");
    expect(await answer).toBe("At last.");
  });
});
