import { PassThrough } from "node:stream";
import { type MessageStream, steering, type WireMessage } from "@acp-steering/core";
import type { AgentProcessSink } from "../src/agent-process.js";
import { LineScanner } from "../src/line-scanner.js";
import { Relay } from "../src/relay.js";

/** A layer between a client and an agent that a test plays, both as bytes. */
export interface PlayedWire {
  fromClient(line: string): void;
  fromAgent(bytes: Buffer): void;
  /** Lines in their order. */
  readonly toClient: readonly string[];
  readonly toAgent: readonly string[];
}

const linesOf = (bytes: Buffer): string[] => bytes.toString("utf8").split("\n").slice(0, -1);

/** The relay itself, with an agent process that a test plays. */
export async function relayWire(): Promise<PlayedWire & { readonly spans: () => number }> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const [toClient, toAgent]: [string[], string[]] = [[], []];
  let spans = 0;
  let scanner: LineScanner | undefined;
  let sink: AgentProcessSink | undefined;
  let unfinished = Buffer.alloc(0);
  output.on("data", (bytes: Buffer) => {
    unfinished = Buffer.concat([unfinished, bytes]);
    const end = unfinished.lastIndexOf("\n") + 1;
    toClient.push(...linesOf(unfinished.subarray(0, end)));
    unfinished = unfinished.subarray(end);
  });
  const relay = new Relay({ command: "played", strategy: "finish", input, output }, async (_, given) => {
    sink = given;
    const countSpan = (lines: Buffer): void => {
      spans += 1;
      given.span(lines);
    };
    scanner = new LineScanner({ ...given, span: countSpan });
    return {
      stderr: [],
      write: (line) => void toAgent.push(line.toString("utf8")),
      pause: () => {},
      resume: () => {},
      endInput: () => {},
      stop: async () => {},
    };
  });
  await relay.start();
  return {
    toClient,
    toAgent,
    fromClient: (line) => void input.write(`${line}\n`),
    fromAgent: (bytes) => {
      sink?.chunk("begins");
      scanner?.push(bytes);
      sink?.chunk("ends");
    },
    spans: () => spans,
  };
}

/** What the relay has to be like: every line is parsed and goes through the layer. */
export function plainWire(): PlayedWire {
  const [toClient, toAgent]: [string[], string[]] = [[], []];
  const originals = new WeakMap<object, string>();
  const textOf = (message: WireMessage): string => originals.get(message) ?? JSON.stringify(message);
  const collect = (lines: string[]): WritableStream<WireMessage> =>
    new WritableStream({ write: (message) => void lines.push(textOf(message)) });
  const client = new TransformStream<WireMessage, WireMessage>();
  const clientWriter = client.writable.getWriter();
  let agentWriter: WritableStreamDefaultWriter<WireMessage> | undefined;
  const connect = ({ readable, writable }: MessageStream): void => {
    agentWriter = writable.getWriter();
    const reader: ReadableStreamDefaultReader<WireMessage> = readable.getReader();
    void (async () => {
      for (let next = await reader.read(); !next.done; next = await reader.read()) toAgent.push(textOf(next.value));
    })();
  };
  steering({ connect }, { emulate: "finish" }).connect({ readable: client.readable, writable: collect(toClient) });
  let unfinished = Buffer.alloc(0);
  const read = (line: string): WireMessage => {
    const message = JSON.parse(line) as WireMessage;
    originals.set(message, line);
    return message;
  };
  return {
    toClient,
    toAgent,
    fromClient: (line) => void clientWriter.write(read(line)),
    fromAgent: (bytes) => {
      unfinished = Buffer.concat([unfinished, bytes]);
      const end = unfinished.lastIndexOf("\n") + 1;
      for (const line of linesOf(unfinished.subarray(0, end))) void agentWriter?.write(read(line));
      unfinished = unfinished.subarray(end);
    },
  };
}
