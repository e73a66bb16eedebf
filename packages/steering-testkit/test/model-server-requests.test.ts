import { once } from "node:events";
import { connect } from "node:net";
import { type ModelServer, type ModelServerOptions, startModelServer } from "@acp-steering/testkit/model-server";
import { afterEach, describe, expect, test } from "vitest";
import { DOT } from "./model-images.js";
import { body, post, say } from "./model-server-client.js";

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

const image = { type: "image_url", image_url: { url: DOT.url } };
const linked = { type: "image_url", image_url: { url: "https://example.com/a.png" } };

describe("what is recorded", () => {
  test("the messages, whatever form their content has", async () => {
    const model = await start();
    const payload = body({
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Look" }, image, { type: "text", text: "here" }, linked] },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "ls", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "a.txt" },
      ],
    });
    const before = Date.now();
    await ask(model, payload);
    const [request] = model.requests;
    expect(request).toMatchObject({
      index: 0,
      dialect: "openai-chat",
      path: "/v1/chat/completions",
      model: "m",
      stream: true,
      aborted: false,
      body: payload,
    });
    expect(request?.messages).toEqual([
      { role: "system", text: "Be brief.", images: 0 },
      {
        role: "user",
        text: "Look\nhere",
        images: 2,
        imageDetails: [DOT.image, { kind: "reference", reference: "https://example.com/a.png" }],
      },
      { role: "assistant", text: "", images: 0, toolCalls: [{ id: "c1", name: "ls", arguments: "{}" }] },
      { role: "tool", text: "a.txt", images: 0, toolCallId: "c1" },
    ]);
    expect(request?.at).toBeGreaterThanOrEqual(before);
  });

  test("a text is seen where it is in a user message, and nowhere else", async () => {
    const model = await start();
    await ask(model, body({ messages: [say("one")] }));
    await ask(model, body({ messages: [say("one"), { role: "assistant", content: "two" }] }));
    await ask(model, body({ messages: [say("one"), say("and two")] }));
    expect(model.seen("one").map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(model.seen("two").map(({ index }) => index)).toEqual([2]);
    expect(model.seen("three")).toEqual([]);
  });

  test("the next request is one that is not here yet, or the one after a given number", async () => {
    const model = await start();
    const first = model.nextRequest();
    await ask(model);
    expect((await first).index).toBe(0);
    const second = model.nextRequest();
    await ask(model);
    expect((await second).index).toBe(1);
    expect((await model.nextRequest(-1)).index).toBe(0);
    expect((await model.nextRequest(0)).index).toBe(1);
  });

  test("the log has a line for each request, with the text only when asked for", async () => {
    const quiet: string[] = [];
    const open: string[] = [];
    const payload = body({ messages: [say("old"), { role: "assistant", content: "yes" }, say("the\nsecret")] });
    await ask(await start({ log: (line) => quiet.push(line) }), payload);
    await ask(await start({ log: (line) => open.push(line), logContent: true }), payload);
    expect(quiet).toEqual(['request 0: openai-chat, model "m", streamed, 3 messages']);
    expect(open).toEqual([`${quiet[0]} user: "the\\nsecret"`]);
  });
});

describe("bad requests are refused in the provider's shape, and neither recorded nor answered by the script", () => {
  const refused: readonly [string, string, string][] = [
    ["malformed JSON", '{"model":', "not valid JSON"],
    ["a body that is no object", "[]", "the body must be a JSON object"],
    ["no model", '{"messages":[{"role":"user","content":"x"}]}', "model must be"],
    ["no messages", '{"model":"m"}', "messages must be"],
    ["empty messages", '{"model":"m","messages":[]}', "messages must be"],
    ["a message without a role", '{"model":"m","messages":[{"role":"user"},{"content":"x"}]}', "messages[1] must be"],
    ["a stream flag that is no flag", '{"model":"m","stream":"yes","messages":[{"role":"user"}]}', "stream must be"],
  ];

  test.each(refused)("%s: 400", async (_name, payload, message) => {
    const lines: string[] = [];
    const model = await start({ script: [{ text: "kept" }], log: (line) => lines.push(line) });
    const response = await post(model, payload);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { type: "invalid_request_error", message: expect.stringContaining(message) },
    });
    expect(model.requests).toEqual([]);
    expect(lines).toEqual([expect.stringContaining("refused with 400")]);
    expect(await ask(model)).toContain("kept");
  });

  test("an unknown path: 404; a wrong method: 405", async () => {
    const model = await start();
    const unknown = await fetch(`${model.url}/embeddings`, { method: "POST" });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ error: { message: expect.stringContaining("/v1/embeddings") } });
    const wrongMethod = await fetch(`${model.url}/chat/completions`);
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers.get("allow")).toBe("POST");
  });

  test("a body over the limit: 413, announced or not, and the next request is served", async () => {
    const model = await start({ maxBodyBytes: 1_000 });
    const large = JSON.stringify(body({ messages: [say("x".repeat(2_000))] }));
    const announced = await post(model, large);
    expect(announced.status).toBe(413);
    const unannounced = new Blob([large]).stream();
    const response = await post(model, "", { body: unannounced, duplex: "half" } as RequestInit);
    expect(response.status).toBe(413);
    expect(await ask(model)).toContain("Done.");
    expect(model.requests).toHaveLength(1);
  });

  test("a body that is announced as too large is refused before it is sent", async () => {
    const model = await start({ maxBodyBytes: 1_000 });
    const socket = connect(Number(new URL(model.url).port), "127.0.0.1").setEncoding("utf8");
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1001\r\n\r\n");
    const [answer] = await once(socket, "data");
    socket.destroy();
    expect(answer).toContain("HTTP/1.1 413");
  });

  test("a client that goes away while it sends its request leaves nothing behind", async () => {
    const model = await start();
    const socket = connect(Number(new URL(model.url).port), "127.0.0.1");
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
    await fetch(`${model.url}/models`);
    socket.destroy();
    expect(await ask(model)).toContain("Done.");
    expect(model.requests).toHaveLength(1);
  });
});

test("the model list has one model, for clients that ask before they prompt", async () => {
  const model = await start();
  const list = await (await fetch(`${model.url}/models`)).json();
  expect(list).toMatchObject({ object: "list", data: [{ object: "model", id: "scripted" }] });
});

describe("reset and close", () => {
  test("a reset forgets the requests, starts the script again and breaks open answers off", async () => {
    const model = await start({ script: [{ text: "first", hold: "gate" }] });
    model.enqueue({ text: "queued" });
    const broken = post(model).catch(() => "broken");
    const request = await model.held("gate");
    const waiting = model.held("never");
    model.reset();
    expect(await broken).toBe("broken");
    await expect(waiting).rejects.toMatchObject({ code: "waitEnded", message: expect.stringContaining('"never"') });
    expect(model.requests).toEqual([]);
    expect(request.aborted).toBe(false);
    expect(() => model.release("gate")).toThrow(expect.objectContaining({ code: "unknownHold" }));
    const again = post(model);
    expect((await model.held("gate")).index).toBe(0);
    model.release("gate");
    expect(await (await again).text()).toContain("first");
    expect(await ask(model)).toContain("Done.");
  });

  test("close ends open answers and waits, and may be called again", async () => {
    const model = await start({ script: [{ hold: "gate" }, { text: "x", delayMs: 3_600_000 }] });
    const answers = [post(model), post(model)].map((answer) => answer.catch(() => "broken"));
    await model.held("gate");
    await model.nextRequest(0);
    const waiting = model.nextRequest(1);
    await model.close();
    await model.close();
    expect(await Promise.all(answers)).toEqual(["broken", "broken"]);
    await expect(waiting).rejects.toMatchObject({ code: "waitEnded" });
    await expect(fetch(`${model.url}/models`)).rejects.toThrow();
    expect(model.requests.map(({ aborted }) => aborted)).toEqual([false, false]);
  });

  test("a port that is taken is an error that names it", async () => {
    const model = await start();
    const port = Number(new URL(model.url).port);
    await expect(startModelServer({ port })).rejects.toMatchObject({
      code: "portUnavailable",
      message: expect.stringContaining(`127.0.0.1:${port}`),
    });
  });
});
