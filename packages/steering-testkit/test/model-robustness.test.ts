import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type ModelServer, type ModelServerOptions, startModelServer } from "@acp-steering/testkit/model-server";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, onTestFinished, test } from "vitest";
import { askRaw, RAW_DIALECTS } from "./model-dialects.js";
import { PartialReader } from "./model-server-client.js";

const MEBIBYTE = 1024 * 1024;

const start = async (options: ModelServerOptions = {}): Promise<ModelServer> => {
  const model = await startModelServer(options);
  onTestFinished(() => model.close());
  return model;
};

describe("a body of more than 32 MiB", () => {
  const large = "x".repeat(32 * MEBIBYTE);

  test("is refused so that the providers' own clients hear of it", async () => {
    const model = await start();
    const messages = [{ role: "user" as const, content: large }];
    const openai = new OpenAI({ baseURL: model.url, apiKey: "none", maxRetries: 0 });
    await expect(openai.chat.completions.create({ model: "m", messages })).rejects.toMatchObject({ status: 413 });
    await expect(openai.responses.create({ model: "m", input: large })).rejects.toMatchObject({ status: 413 });
    const anthropic = new Anthropic({ baseURL: new URL(model.url).origin, apiKey: "none", maxRetries: 0 });
    await expect(anthropic.messages.create({ model: "m", max_tokens: 1, messages })).rejects.toMatchObject({
      status: 413,
      type: "request_too_large",
    });
    expect(model.requests).toEqual([]);
  });

  test("is read to its end for a client that sends everything before it reads", async () => {
    const model = await start();
    const socket = connect(Number(new URL(model.url).port), "127.0.0.1").setEncoding("utf8");
    onTestFinished(() => void socket.destroy());
    socket.write("POST /v1/messages HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
    const chunk = "x".repeat(MEBIBYTE);
    for (let sent = 0; sent < 40; sent += 1) await send(socket, `${MEBIBYTE.toString(16)}\r\n${chunk}\r\n`);
    await send(socket, "0\r\n\r\n");
    const [answer] = await once(socket, "data");
    expect(answer).toContain("HTTP/1.1 413");
    expect(answer).toContain("request_too_large");
  });

  test("one of 31 MiB is taken, and of nine such the record forgets the first, to stay below 256 MiB", async () => {
    const model = await start();
    const messages = [{ role: "user", content: large.slice(MEBIBYTE) }];
    const body = Buffer.from(JSON.stringify({ model: "m", messages }));
    for (let count = 1; count <= 9; count += 1) {
      const response = await fetch(`${model.url}/chat/completions`, { method: "POST", body });
      expect(await response.text()).toContain("Done.");
    }
    await model.settled(8);
    expect(model.requests.map(({ forgotten }) => forgotten === true)).toEqual([true, ...Array(8).fill(false)]);
  });
});

/** Writes, and does not read meanwhile. */
const send = (socket: Socket, text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.write(text, (error) => (error ? reject(error) : resolve()));
  });

test("a hundred streams of all dialects at once: each gets its own answer, whole", async () => {
  const model = await start({
    script: ({ messages }) => ({
      text: Array.from({ length: 20 }, (_, piece) => `${messages.at(-1)?.text}/${piece};`),
      hold: "all",
      holdAt: "afterFirstChunk",
    }),
  });
  const dialectOf = (index: number) => RAW_DIALECTS[index % RAW_DIALECTS.length] as (typeof RAW_DIALECTS)[number];
  const answers = Array.from({ length: 100 }, (_, index) =>
    askRaw(model, dialectOf(index), { text: `caller ${index}` }).then((response) => response.text()),
  );
  await Promise.all(Array.from({ length: 100 }, (_, index) => model.held("all", index - 1)));
  model.release("all");
  for (const [index, text] of (await Promise.all(answers)).entries()) {
    expect(text).toContain(dialectOf(index).end);
    expect(text).toContain(`caller ${index}/19;`);
    expect(new Set([...text.matchAll(/caller (\d+)/g)].map(([, number]) => number))).toEqual(new Set([String(index)]));
  }
});

describe.each(RAW_DIALECTS)("$name", (dialect) => {
  test("a client that goes away in a stream leaves nothing: the hold is gone, the next request is served", async () => {
    const model = await start({ script: [{ text: "a", hold: "gate", holdAt: "beforeEnd" }], control: true });
    const client = new AbortController();
    const response = await askRaw(model, dialect, { signal: client.signal });
    await model.held("gate");
    client.abort();
    await expect(response.text()).rejects.toThrow();
    await model.settled(0);
    expect(await (await fetch(new URL("/_control/held", model.url))).json()).toEqual({ held: [] });
    expect(await (await askRaw(model, dialect)).text()).toContain("Done.");
  });

  test("close ends an open stream at once", async () => {
    const model = await start({ script: [{ text: "a", hold: "gate", holdAt: "beforeEnd" }] });
    const reader = new PartialReader(await askRaw(model, dialect));
    await model.held("gate");
    await model.close();
    await expect(reader.rest()).rejects.toThrow();
    expect(reader.text).not.toContain(dialect.end);
  });
});
