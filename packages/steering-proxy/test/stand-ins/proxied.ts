import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import type { MessageStream, WireMessage } from "@acp-steering/core";
import type { ProxyOptions } from "../../src/options.js";
import { createProxy } from "../../src/proxy.js";

type Proxied = Omit<ProxyOptions, "input" | "output">;

const STAND_IN = fileURLToPath(new URL("stand-in.mjs", import.meta.url));

/** A stand-in for a vendor's agent behind the proxy; `dialect` is one of `dialects.mjs`. */
export const proxiedStandIn = (dialect: string, modelUrl: string, options: Partial<Proxied> = {}) =>
  proxied({
    command: process.execPath,
    args: [STAND_IN, dialect],
    env: { ...process.env, OPENAI_BASE_URL: modelUrl },
    ...options,
  });

/** An agent process behind the proxy, as something to connect to. */
export const proxied = (options: Proxied) => ({
  connect: ({ readable, writable }: MessageStream): { readonly closed: Promise<unknown> } => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const closed = Promise.all([run(options, input, output), passOn(readable, input), readInto(writable, output)]);
    return { closed };
  },
});

async function run(options: Proxied, input: PassThrough, output: PassThrough): Promise<void> {
  try {
    const proxy = await createProxy({ ...options, input, output });
    await proxy.ended;
  } finally {
    output.end();
  }
}

async function passOn(readable: ReadableStream<WireMessage>, input: PassThrough): Promise<void> {
  for await (const message of readable) input.write(`${JSON.stringify(message)}\n`);
  input.end();
}

async function readInto(writable: WritableStream<WireMessage>, output: PassThrough): Promise<void> {
  const writer = writable.getWriter();
  let unfinished = "";
  output.setEncoding("utf8");
  for await (const chunk of output) {
    const lines = (unfinished + chunk).split("\n");
    unfinished = lines.pop() ?? "";
    for (const line of lines) await writer.write(JSON.parse(line) as WireMessage);
  }
  writer.releaseLock();
}
