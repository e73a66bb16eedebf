import { PassThrough, Readable, Writable } from "node:stream";
import { expect, test, vi } from "vitest";
import { stdioStream } from "../src/stdio-stream.js";

const ignore = (): void => {};

async function read(chunks: readonly (string | Buffer)[], unreadable = ignore) {
  const output = new PassThrough();
  const input = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const { readable } = stdioStream(input, output, unreadable);
  const messages: unknown[] = [];
  for await (const message of readable) messages.push(message);
  return { messages, refused: String(output.read() ?? "") };
}

test("messages come one a line, however the bytes are cut", async () => {
  const bytes = Buffer.from('{"a":"é\u2028"}\r\n\n{"b":1}\n{"c":2}');
  const cut = [...bytes].map((byte) => Buffer.from([byte]));
  expect(await read(cut)).toEqual({ messages: [{ a: "é\u2028" }, { b: 1 }, { c: 2 }], refused: "" });
});

test.each([
  ["no JSON", "{", -32700],
  ["a batch", '[{"jsonrpc":"2.0"}]', -32600],
  ["no object", "null", -32600],
])("%s is answered with an error of no id, and what follows is read", async (_, line, code) => {
  const { messages, refused } = await read([`${line}\n{"b":1}\n`]);
  expect(messages).toEqual([{ b: 1 }]);
  expect(JSON.parse(refused)).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
});

test("G8 containment: a line that is too long ends the reading, and somebody is told", async () => {
  const unreadable = vi.fn();
  const long = Buffer.alloc(33 * 1024 * 1024, "x");
  await expect(read([long], unreadable)).rejects.toMatchObject({ code: "lineTooLong" });
  expect(unreadable).toHaveBeenCalledOnce();
});

test("a client that does not read holds up who writes; one that goes away does not", async () => {
  const output = new Writable({ highWaterMark: 1, write: ignore });
  const { writable } = stdioStream(new PassThrough(), output, ignore);
  const writer = writable.getWriter();
  let written = false;
  const writing = writer.write({ a: 1 }).then(() => {
    written = true;
  });
  await new Promise(setImmediate);
  expect(written).toBe(false);
  output.destroy();
  await writing;
  expect(written).toBe(true);
});

test("input is read no faster than its messages are", async () => {
  let made = 0;
  const input = Readable.from(
    (function* endless() {
      for (;;) yield Buffer.from(`{"made":${made++}}\n`);
    })(),
    { highWaterMark: 1 },
  );
  const reader = stdioStream(input, new PassThrough(), ignore).readable.getReader();
  await reader.read();
  await new Promise(setImmediate);
  expect(made).toBeLessThan(5);
  await reader.cancel();
});
