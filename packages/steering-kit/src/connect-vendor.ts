import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk/unstable";
import { introduction } from "./introduce.js";
import type { ConnectionSessions } from "./session-registry.js";
import type { Vendor } from "./vendor.js";

export interface VendorConnection {
  readonly vendor: Vendor;
  /** Closed with the connection. */
  readonly sessions: ConnectionSessions;
  readonly stream: Stream;
}

type Reader = ReadableStreamDefaultReader<AnyMessage>;
type ReadResult = Awaited<ReturnType<Reader["read"]>>;
type Writer = WritableStreamDefaultWriter<AnyMessage>;

/**
 * Connects a vendor's ACP agent. Loading the SDK takes longer than all else at the start, so the client's `initialize` is
 * answered first; the SDK is shown it afterwards, since it takes no other request before.
 */
export function connectVendor(options: VendorConnection): { readonly closed: Promise<void> } {
  return { closed: connected(options).finally(() => options.sessions.closeAll()) };
}

async function connected({ vendor, sessions, stream }: VendorConnection): Promise<void> {
  const reader = stream.readable.getReader();
  const writer = stream.writable.getWriter();
  const first = await reader.read();
  if (first.done) return;
  const isAnswered = await answerInitialize(first.value, vendor, writer);
  const { buildApp } = await import("./app.js");
  const rest = fromFirst(first, isAnswered, reader, writer);
  await buildApp(vendor, sessions).connect(rest).closed;
}

/** Whether it was an `initialize` that the SDK would answer too. What is wrong with any other is the SDK's to say. */
async function answerInitialize({ method, id, params }: WireMessage, vendor: Vendor, writer: Writer): Promise<boolean> {
  if (method !== METHOD.initialize || id === undefined || !hasVersion(params)) return false;
  await writer.write({ jsonrpc: "2.0", id, result: introduction(vendor) });
  return true;
}

const MAX_VERSION = 65_535;

function hasVersion(params: unknown): boolean {
  if (typeof params !== "object" || params === null || !("protocolVersion" in params)) return false;
  const version = params.protocolVersion;
  return Number.isInteger(version) && Number(version) >= 0 && Number(version) <= MAX_VERSION;
}

/** What the SDK uses of a stream. It takes a lock for each message; ours are held for as long as the connection lasts. */
function held(reader: Pick<Reader, "read" | "cancel">, writer: Pick<Writer, "write">): Stream {
  const releaseLock = (): void => {};
  const readable = { getReader: () => ({ read: reader.read, cancel: reader.cancel, releaseLock }) };
  return { readable, writable: { getWriter: () => ({ write: writer.write, releaseLock }) } } as unknown as Stream;
}

/**
 * The connection from its first message on. Where that has been answered, the SDK's own answer goes nowhere, and what
 * follows waits for it.
 */
function fromFirst(first: ReadResult & { done: false }, isAnswered: boolean, reader: Reader, writer: Writer): Stream {
  const { id }: WireMessage = first.value;
  let answer = (): void => {};
  let awaited: Promise<void> | undefined = isAnswered
    ? new Promise((resolve) => {
        answer = resolve;
      })
    : undefined;
  let next: ReadResult | undefined = first;
  const read = async (): Promise<ReadResult> => {
    if (!next) return awaited ? awaited.then(() => reader.read()) : reader.read();
    const result = next;
    next = undefined;
    return result;
  };
  const write = async (message: WireMessage): Promise<void> => {
    if (!awaited || message.id !== id || message.method !== undefined) return writer.write(message as AnyMessage);
    awaited = undefined;
    answer();
  };
  return held({ read, cancel: (reason) => reader.cancel(reason) }, { write });
}
