import { type ModelServer, type ModelServerOptions, startModelServer } from "@acp-steering/testkit/model-server";
import { afterEach, describe, expect, test } from "vitest";
import {
  body,
  chunksIn,
  endsWithDone,
  finishReason,
  PartialReader,
  post,
  reasoningDeltas,
  say,
  textDeltas,
  toolDeltas,
} from "./model-server-client.js";

const servers: ModelServer[] = [];

const start = async (options: ModelServerOptions = {}): Promise<ModelServer> => {
  const model = await startModelServer(options);
  servers.push(model);
  return model;
};

afterEach(async () => {
  await Promise.all(servers.splice(0).map((model) => model.close()));
});

const ask = async (model: ModelServer, payload: object = body()): Promise<string> =>
  (await post(model, payload)).text();

describe("an answer, streamed", () => {
  test("text comes chunk by chunk between the role and the end", async () => {
    const model = await start({ script: [{ text: ["One, ", "two."] }] });
    const text = await ask(model);
    const chunks = chunksIn(text);
    expect(chunks[0]?.choices[0]?.delta.role).toBe("assistant");
    expect(textDeltas(chunks)).toEqual(["One, ", "two."]);
    expect(finishReason(chunks)).toBe("stop");
    expect(endsWithDone(text)).toBe(true);
  });

  test("reasoning comes before the text, in reasoning_content", async () => {
    const model = await start({ script: [{ text: "Yes.", reasoning: ["Hm", "m."] }] });
    const text = await ask(model);
    expect(reasoningDeltas(chunksIn(text))).toEqual(["Hm", "m."]);
    expect(text.indexOf("m.")).toBeLessThan(text.indexOf("Yes."));
  });

  test("a tool call's arguments come in more than one piece, none of which breaks a character", async () => {
    const model = await start({
      script: [
        {
          toolCalls: [
            { id: "mine", name: "read", arguments: { p: "😀😀😀" } },
            { name: "ls", arguments: "{oops" },
          ],
        },
      ],
    });
    const chunks = chunksIn(await ask(model));
    const deltas = toolDeltas(chunks);
    const argumentsOf = (index: number): readonly string[] =>
      deltas
        .filter((delta) => delta.index === index && delta.id === undefined)
        .map((delta) => delta.function.arguments);
    expect(deltas.flatMap(({ id, function: called }) => (id === undefined ? [] : [[id, called.name]]))).toEqual([
      ["mine", "read"],
      ["call_0_1", "ls"],
    ]);
    expect(argumentsOf(0).length).toBeGreaterThan(1);
    expect(argumentsOf(0).map((piece) => Buffer.from(piece).toString())).toEqual(argumentsOf(0));
    expect(JSON.parse(argumentsOf(0).join(""))).toEqual({ p: "😀😀😀" });
    expect(argumentsOf(1).join("")).toBe("{oops");
    expect(finishReason(chunks)).toBe("tool_calls");
  });

  test("usage is sent to a client that asks for it, and to no other", async () => {
    const reply = { text: "Hi.", usage: { inputTokens: 7, outputTokens: 2 }, finishReason: "length" };
    const model = await start({ script: [reply, reply] });
    const asked = chunksIn(await ask(model, body({ stream_options: { include_usage: true } })));
    expect(asked.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    });
    expect(finishReason(asked)).toBe("length");
    expect(await ask(model)).not.toContain("usage");
  });

  test("delays hold nothing back for good", async () => {
    const model = await start({ script: [{ text: ["a", "b"], delayMs: 1, chunkDelayMs: 1 }] });
    expect(textDeltas(chunksIn(await ask(model)))).toEqual(["a", "b"]);
  });
});

test("an answer that is not streamed is one JSON body with everything in it", async () => {
  const model = await start({
    script: [{ text: ["a", "b"], reasoning: "r", toolCalls: [{ name: "ls", arguments: { d: "." } }] }, {}],
  });
  const response = await post(model, body({ stream: false }));
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toMatchObject({
    object: "chat.completion",
    model: "m",
    choices: [
      {
        message: {
          role: "assistant",
          content: "ab",
          reasoning_content: "r",
          tool_calls: [{ id: "call_0_0", type: "function", function: { name: "ls", arguments: '{"d":"."}' } }],
        },
        finish_reason: "tool_calls",
      },
    ],
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
  });
  const empty = await (await post(model, body({ stream: false }))).json();
  expect(empty).toMatchObject({ choices: [{ message: { content: null }, finish_reason: "stop" }] });
});

describe("the script", () => {
  test("an array is played in order, then the answer is Done.", async () => {
    const model = await start({ script: [{ text: "first" }, { text: "second" }] });
    const answers = [await ask(model), await ask(model), await ask(model)];
    expect(answers.map((answer) => textDeltas(chunksIn(answer)).join(""))).toEqual(["first", "second", "Done."]);
  });

  test("a function sees the request and its index, and may take its time", async () => {
    const model = await start({
      script: async (request, index) => ({ text: `${index}: ${request.messages.at(-1)?.text}` }),
    });
    await ask(model);
    expect(textDeltas(chunksIn(await ask(model)))).toEqual(["1: hello"]);
  });

  test("a reply that is for some requests only waits for one of them and lets the others pass", async () => {
    const model = await start({
      script: [
        { text: "working", when: { tools: true } },
        { text: "steered", when: { user: "not that" } },
        { text: "next" },
      ],
    });
    const tools = [{ type: "function", function: { name: "ls" } }];
    const said = async (fields: object): Promise<string> =>
      textDeltas(chunksIn(await ask(model, body(fields)))).join("");
    const steer = [say("hello"), { role: "assistant", content: "not that" }];
    expect(await said({ messages: steer })).toBe("next");
    expect(await said({})).toBe("Done.");
    expect(await said({ tools })).toBe("working");
    expect(await said({ tools })).toBe("Done.");
    expect(await said({ messages: [...steer, say("no, not that file")] })).toBe("steered");
  });

  test("queued replies come after an array's and before a function's", async () => {
    const listed = await start({ script: [{ text: "listed" }] });
    listed.enqueue({ text: "queued" });
    expect([await ask(listed), await ask(listed)].map((answer) => textDeltas(chunksIn(answer))[0])).toEqual([
      "listed",
      "queued",
    ]);
    const asked = await start({ script: () => ({ text: "asked" }) });
    asked.enqueue({ text: "queued" });
    expect([await ask(asked), await ask(asked)].map((answer) => textDeltas(chunksIn(answer))[0])).toEqual([
      "queued",
      "asked",
    ]);
  });

  test("replies go to requests in order of arrival, however long one takes", async () => {
    const model = await start({ script: [{ text: "slow", hold: "slow" }, { text: "quick" }] });
    const slow = post(model);
    await model.held("slow");
    expect(await ask(model)).toContain("quick");
    model.release("slow");
    expect(await (await slow).text()).toContain("slow");
  });

  test("a function that throws, or returns nonsense, is an error of the server that says so", async () => {
    const model = await start({
      script: (_request, index) => {
        if (index === 0) throw new Error("out of ideas");
        return { txt: "oops" } as object;
      },
    });
    const thrown = await post(model);
    expect(thrown.status).toBe(500);
    expect(await thrown.text()).toContain("out of ideas");
    expect(await (await post(model)).text()).toContain("reply 1");
  });
});

describe("a held reply", () => {
  test("at the start: nothing is sent before the release, not even the headers", async () => {
    const model = await start({ script: [{ text: "late", hold: "gate" }] });
    let answered = false;
    const answer = post(model).then((response) => {
      answered = true;
      return response.text();
    });
    expect((await model.held("gate")).index).toBe(0);
    await fetch(`${model.url}/models`);
    expect(answered).toBe(false);
    model.release("gate");
    expect(await answer).toContain("late");
  });

  test("after the text: the text is out, the tool calls and the end are not", async () => {
    const model = await start({
      script: [{ text: "Let me see.", toolCalls: [{ name: "ls", arguments: {} }], hold: "gate", holdAt: "afterText" }],
    });
    const reader = new PartialReader(await post(model));
    await reader.until("Let me see.");
    await model.held("gate");
    expect(toolDeltas(chunksIn(reader.text))).toEqual([]);
    model.release("gate");
    const text = await reader.rest();
    expect(toolDeltas(chunksIn(text))[0]?.function.name).toBe("ls");
    expect(endsWithDone(text)).toBe(true);
  });

  test("a name may be used again, and is released for all that wait under it", async () => {
    const model = await start({ script: () => ({ hold: "gate" }) });
    const both = [post(model), post(model)];
    expect((await model.held("gate", 0)).index).toBe(1);
    model.release("gate");
    await Promise.all((await Promise.all(both)).map((response) => response.text()));
    const third = post(model);
    expect((await model.held("gate")).index).toBe(2);
    model.release("gate");
    expect((await third).status).toBe(200);
  });

  test("a release of what was never held names what is, a second release does nothing", async () => {
    const model = await start({ script: [{ hold: "right" }] });
    const answer = post(model);
    await model.held("right");
    expect(() => model.release("wrong")).toThrow(expect.objectContaining({ code: "unknownHold" }));
    expect(() => model.release("wrong")).toThrow("held now: right");
    model.release("right");
    model.release("right");
    expect((await answer).status).toBe(200);
  });
});

describe("faults", () => {
  test("an error status comes in the provider's shape", async () => {
    const model = await start({
      script: [{ error: { status: 429, message: "Slow down." } }, { error: { status: 503, type: "overloaded" } }],
    });
    const limited = await post(model);
    expect(limited.status).toBe(429);
    expect(await limited.json()).toEqual({
      error: { message: "Slow down.", type: "rate_limit_error", param: null, code: null },
    });
    const overloaded = await post(model);
    expect(overloaded.status).toBe(503);
    expect(await overloaded.json()).toMatchObject({ error: { type: "overloaded" } });
  });

  test("a cut destroys the connection after the text and before the end, and is no abort of the client", async () => {
    const model = await start({ script: [{ text: "half an ans", cut: true }] });
    const reader = new PartialReader(await post(model));
    await expect(reader.rest()).rejects.toThrow();
    expect(textDeltas(chunksIn(reader.text))).toEqual(["half an ans"]);
    expect(endsWithDone(reader.text)).toBe(false);
    expect((await model.settled(0)).aborted).toBe(false);
  });

  test("a cut leaves the last tool call unfinished", async () => {
    const model = await start({ script: [{ toolCalls: [{ name: "ls", arguments: { d: "here" } }], cut: true }] });
    const reader = new PartialReader(await post(model));
    await expect(reader.rest()).rejects.toThrow();
    const sent = toolDeltas(chunksIn(reader.text)).map((delta) => delta.function.arguments);
    expect(sent.join("")).not.toBe("");
    expect('{"d":"here"}').toContain(sent.join(""));
    expect(sent.join("")).not.toBe('{"d":"here"}');
  });

  test("a cut of an answer that is not streamed ends inside the body", async () => {
    const model = await start({ script: [{ text: "never whole", cut: true }] });
    const response = await post(model, body({ stream: false }));
    await expect(response.text()).rejects.toThrow();
  });

  test("the server goes on after each of them", async () => {
    const model = await start({ script: [{ error: { status: 500 } }, { text: "x", cut: true }] });
    await (await post(model)).text();
    await (await post(model)).text().catch(() => {});
    expect(await ask(model)).toContain("Done.");
  });
});

describe("a client that goes away", () => {
  test("while its reply is held: recorded as aborted, and nothing is held any more", async () => {
    const model = await start({ script: [{ hold: "gate" }] });
    const client = new AbortController();
    const answer = post(model, body(), { signal: client.signal }).catch(() => "gone");
    const request = await model.held("gate");
    expect(request.aborted).toBe(false);
    client.abort();
    expect(await answer).toBe("gone");
    expect((await model.settled(0)).aborted).toBe(true);
    model.release("gate");
    expect(await ask(model)).toContain("Done.");
  });

  test("in the middle of a stream that it does not read: recorded, and the others are served", async () => {
    const model = await start({ script: [{ text: Array.from({ length: 200 }, () => "x".repeat(100_000)) }] });
    const client = new AbortController();
    const slow = await post(model, body(), { signal: client.signal });
    expect(slow.status).toBe(200);
    expect(await ask(model)).toContain("Done.");
    client.abort();
    expect((await model.settled(0)).aborted).toBe(true);
    expect((await model.settled(1)).aborted).toBe(false);
  });
});
