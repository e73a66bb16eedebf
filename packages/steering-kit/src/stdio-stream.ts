import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import type { MessageStream, RpcError } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import { LineReader } from "./process/line-reader.js";

/** As large as the SDK lets a message be. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;
const PARSE_ERROR = -32700;

const NOT_JSON: RpcError = { code: PARSE_ERROR, message: "Parse error: a line that is no JSON" };
const NO_MESSAGE: RpcError = {
  code: CODE.invalidRequest,
  message: "Invalid request: a line has to be one JSON-RPC message, an object; there are no batches",
};

/**
 * The messages on a pair of byte streams, one JSON object a line. The SDK has the same as `ndJsonStream`; with it the whole
 * SDK would have to be loaded before the client hears a word.
 *
 * A line that is no message is answered with an error of no id (JSON-RPC 2.0, section 5). A line that is too long ends the
 * reading with a `LineTooLongError`, which `unreadable` is told of: what follows it cannot be trusted.
 */
export function stdioStream(input: Readable, output: Writable, unreadable: (error: Error) => void): MessageStream {
  const write = (message: unknown): Promise<void> | undefined =>
    output.write(`${JSON.stringify(message)}\n`) ? undefined : drained(output);
  const messages = parse(input, (error) => write({ jsonrpc: "2.0", id: null, error }));
  const readable = new ReadableStream(
    {
      pull: async (controller) => {
        try {
          const { done, value } = await messages.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          unreadable(error as Error);
          controller.error(error);
        }
      },
      cancel: () => void input.destroy(),
    },
    { highWaterMark: 0 },
  );
  return { readable, writable: new WritableStream({ write }) };
}

async function* parse(
  input: Readable,
  refuse: (error: RpcError) => Promise<void> | undefined,
): AsyncGenerator<object, undefined> {
  const reader = new LineReader(MAX_MESSAGE_BYTES);
  for await (const line of linesOf(input, reader)) {
    if (line.trim() === "") continue;
    const message = parseLine(line);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) yield message;
    else await refuse(message === undefined ? NOT_JSON : NO_MESSAGE);
  }
}

async function* linesOf(input: Readable, reader: LineReader): AsyncGenerator<string, undefined> {
  for await (const chunk of input) yield* reader.push(chunk as Buffer);
  yield* reader.end();
}

/** `undefined` for what is no JSON, which no JSON is. */
function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Resolves as well when the stream is gone: what waits for a client that has left waits for nothing. */
async function drained(output: Writable): Promise<void> {
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race(["drain", "close"].map((event) => once(output, event, { signal }))).catch(() => {});
  waiting.abort();
}
