import { describe, expect, it } from "vitest";
import type { WireMessage } from "../src/index.js";
import type { MessageStream } from "../src/protocol.js";
import { steeringWith } from "../src/steering.js";
import { createChannel, nothing } from "../src/streams.js";
import { ManualClock } from "./support/clock.js";
import { Peer, quiet, streamPair, textBlock } from "./support/rig.js";

const note = (index: number): WireMessage => ({ jsonrpc: "2.0", method: "note", params: { index } });
const indexOf = (message: WireMessage | undefined): unknown =>
  (message?.params as { index: number } | undefined)?.index;

/** A steerable around an app that does with its streams what the test says. */
const connectTo = (
  app: (stream: MessageStream) => unknown,
  clientSide: MessageStream = streamPair()[0],
): Promise<void> =>
  steeringWith({ connect: (stream) => app(stream) }, {}, new ManualClock()).connect(clientSide).closed;

/** A client's stream that counts what was read of it, and never ends. */
const countingSource = (): { readable: ReadableStream<WireMessage>; read: () => number } => {
  let read = 0;
  const pull = (controller: ReadableStreamDefaultController<WireMessage>): void => {
    read += 1;
    controller.enqueue(note(read));
  };
  return { readable: new ReadableStream({ pull }, { highWaterMark: 0 }), read: () => read };
};

describe("G8 containment: back pressure", () => {
  it("a client is not read further than the agent reads", async () => {
    const source = countingSource();
    let reader: ReadableStreamDefaultReader<WireMessage> | undefined;
    const app = (stream: MessageStream): undefined => {
      reader = stream.readable.getReader();
    };
    void connectTo(app, { readable: source.readable, writable: new WritableStream() });
    await quiet();
    const ahead = source.read();
    expect(ahead).toBeLessThan(200);
    await quiet();
    expect(source.read()).toBe(ahead);
    for (let index = 1; index <= 1_000; index += 1) expect(indexOf((await reader?.read())?.value)).toBe(index);
    await quiet();
    expect(source.read()).toBeGreaterThanOrEqual(1_000);
    expect(source.read()).toBeLessThan(1_200);
    await reader?.cancel();
  });

  it.each(["goes", "stops reading"])("an agent that %s with a full channel leaves nothing waiting", async (how) => {
    let leave: () => unknown = () => {};
    const gone = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const app = (stream: MessageStream): object => {
      if (how === "goes") return { closed: gone };
      leave = () => stream.readable.getReader().cancel();
      return {};
    };
    let isClosed = false;
    void connectTo(app, { readable: countingSource().readable, writable: new WritableStream() }).then(() => {
      isClosed = true;
    });
    await quiet();
    leave();
    await quiet();
    expect(isClosed).toBe(true);
  });

  it("an agent's write resolves when the client's stream has taken it", async () => {
    const taken: WireMessage[] = [];
    let release: () => void = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const writable = new WritableStream<WireMessage>({
      write: async (message) => {
        await blocked;
        taken.push(message);
      },
    });
    let written = false;
    const app = (stream: MessageStream): undefined => {
      void stream.writable
        .getWriter()
        .write(note(1))
        .then(() => {
          written = true;
        });
    };
    void connectTo(app, { readable: new ReadableStream(), writable });
    await quiet();
    expect(written).toBe(false);
    release();
    await quiet();
    expect([written, taken]).toEqual([true, [note(1)]]);
  });
});

describe("G8 containment: the agent's end of a connection", () => {
  it("one that stops reading ends the connection", async () => {
    const source = { cancelled: 0 };
    const cancel = (): void => {
      source.cancelled += 1;
    };
    const app = (stream: MessageStream): undefined => void stream.readable.getReader().cancel("enough");
    await connectTo(app, { readable: new ReadableStream({ cancel }), writable: new WritableStream() });
    expect(source.cancelled).toBe(1);
  });

  it("one that reads to the end of its client has read all", async () => {
    const [mine, theirs] = streamPair();
    const client = new Peer(mine);
    const seen: unknown[] = [];
    let isDone = false;
    const app = async (stream: MessageStream): Promise<void> => {
      const reader = stream.readable.getReader();
      for (let next = await reader.read(); !next.done; next = await reader.read()) seen.push(indexOf(next.value));
      isDone = true;
    };
    void connectTo((stream) => void app(stream), theirs);
    for (let index = 0; index < 300; index += 1) client.notify("note", { index });
    client.end();
    await quiet();
    expect(seen).toEqual(Array.from({ length: 300 }, (_, index) => index));
    expect(isDone).toBe(true);
  });

  it("several reads at once are answered in order, and all end with the stream", async () => {
    const channel = createChannel(nothing, nothing);
    const reader = channel.stream.readable.getReader();
    const reads = [reader.read(), reader.read(), reader.read()];
    await quiet();
    channel.push(note(1));
    channel.push(note(2));
    channel.end();
    channel.push(note(3));
    const results = await Promise.all([...reads, reader.read()]);
    expect(results.map(({ done, value }) => [done, indexOf(value)])).toEqual([
      [false, 1],
      [false, 2],
      [true, undefined],
      [true, undefined],
    ]);
  });

  it("there is room again only when the agent has read what waits beyond the limit", async () => {
    const channel = createChannel(nothing, nothing);
    const reader = channel.stream.readable.getReader();
    for (let index = 0; index < 200; index += 1) channel.push(note(index));
    let read = 0;
    const hasRoom = async (): Promise<boolean> => {
      const room = channel.room();
      if (room === undefined) return true;
      const waits = Symbol("waits");
      const isWaiting = (await Promise.race([room, quiet().then(() => waits)])) === waits;
      expect(isWaiting).toBe(true);
      return false;
    };
    while (read < 200 && !(await hasRoom())) {
      await reader.read();
      read += 1;
    }
    expect(read).toBeGreaterThan(100);
    expect(read).toBeLessThan(200);
  });

  it("what was sent before the end is still read after it", async () => {
    const channel = createChannel(nothing, nothing);
    const reader = channel.stream.readable.getReader();
    channel.push(note(1));
    channel.end();
    expect(indexOf((await reader.read()).value)).toBe(1);
    expect((await reader.read()).done).toBe(true);
    expect(channel.room()).toBeUndefined();
  });

  it("the writer and the reader can be given back and closed", async () => {
    const written: WireMessage[] = [];
    const write = async (message: WireMessage): Promise<void> => void written.push(message);
    const { readable, writable } = createChannel(write, nothing).stream;
    const writer = writable.getWriter();
    await writer.write(note(1));
    await writer.close();
    await writer.abort();
    writer.releaseLock();
    readable.getReader().releaseLock();
    expect(written).toEqual([note(1)]);
  });
});

describe("G8 containment: a client's stream that fails", () => {
  it("a client's writer that fails ends the connection, and the agent's write says why", async () => {
    const broken = new Error("broken pipe");
    const writable = new WritableStream({
      write: () => {
        throw broken;
      },
    });
    let failure: unknown;
    const app = (stream: MessageStream): undefined => {
      void stream.writable
        .getWriter()
        .write(note(1))
        .catch((reason: unknown) => {
          failure = reason;
        });
    };
    await connectTo(app, { readable: new ReadableStream(), writable });
    expect(failure).toBe(broken);
  });

  it("a client's writer that fails in a turn: the agent is told to cancel, and let go when it has answered", async () => {
    let isBroken = false;
    const writable = new WritableStream({
      write: () => {
        if (isBroken) throw new Error("broken pipe");
      },
    });
    const { readable, writable: input } = new TransformStream<WireMessage, WireMessage>();
    const clock = new ManualClock();
    let agent: Peer | undefined;
    const connect = (stream: MessageStream): undefined => {
      agent = new Peer(stream);
    };
    let isClosed = false;
    void steeringWith({ connect }, {}, clock)
      .connect({ readable, writable })
      .closed.then(() => {
        isClosed = true;
      });
    const writer = input.getWriter();
    const ask = async (id: number, method: string, params: object, result: object): Promise<void> => {
      void writer.write({ jsonrpc: "2.0", id, method, params });
      await quiet();
      agent?.send({ id, result });
      await quiet();
    };
    await ask(1, "initialize", {}, { protocolVersion: 1 });
    await ask(2, "session/new", {}, { sessionId: "s" });
    void writer.write({
      jsonrpc: "2.0",
      id: 3,
      method: "session/prompt",
      params: { sessionId: "s", prompt: [textBlock("go")] },
    });
    await quiet();
    isBroken = true;
    agent?.notify("session/update", { sessionId: "s", update: { sessionUpdate: "plan", entries: [] } });
    await quiet();
    clock.advance(0);
    await quiet();
    expect([agent?.of("session/cancel").length, isClosed]).toEqual([1, false]);
    agent?.send({ id: 3, result: { stopReason: "cancelled" } });
    await quiet();
    expect(isClosed).toBe(true);
  });

  it("an agent that does not wait for its writes is not struck down by it", async () => {
    const writable = new WritableStream({
      write: () => {
        throw new Error("broken pipe");
      },
    });
    const app = (stream: MessageStream): undefined => {
      const writer = stream.writable.getWriter();
      for (const index of [1, 2]) void writer.write(note(index));
    };
    const unhandled: unknown[] = [];
    const notice = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", notice);
    await connectTo(app, { readable: new ReadableStream(), writable });
    await quiet();
    process.off("unhandledRejection", notice);
    expect(unhandled).toEqual([]);
  });

  it("a client's reader that fails ends the connection", async () => {
    let fail: (reason: unknown) => void = () => {};
    const readable = new ReadableStream({
      start: (controller) => {
        fail = (reason) => controller.error(reason);
      },
    });
    let agent: Peer | undefined;
    const app = (stream: MessageStream): undefined => {
      agent = new Peer(stream);
    };
    const closed = connectTo(app, { readable, writable: new WritableStream() });
    fail(new Error("connection reset"));
    await closed;
    expect(agent?.received).toEqual([]);
  });

  it("closed resolves when the agent's own closed does, also when it rejects", async () => {
    for (const end of [Promise.resolve(), Promise.reject(new Error("agent broke"))]) {
      const [mine, theirs] = streamPair();
      new Peer(mine);
      await connectTo((stream) => {
        new Peer(stream);
        return { closed: end };
      }, theirs);
    }
  });

  it("the client's streams are given back when the connection has ended", async () => {
    const [mine, theirs] = streamPair();
    new Peer(mine).end();
    await connectTo((stream) => void new Peer(stream), theirs);
    expect([theirs.readable.locked, theirs.writable.locked]).toEqual([false, false]);
  });
});
