/**
 * The agent's end of a connection, as a pair of streams whose reader and writer are ours.
 *
 * A second WHATWG stream in the way costs a fifth of the throughput. So the reader and the writer that the SDK asks for
 * are plain objects; a consumer that pipes or iterates instead gets the native stream underneath, which is only slower.
 */
import type { MessageStream, WireMessage } from "./protocol.js";

type ReadResult =
  | { readonly done: false; readonly value: WireMessage }
  | { readonly done: true; readonly value: undefined };
const DONE: ReadResult = { done: true, value: undefined };

/** How many messages of a client wait for an agent that does not read, before the client is no longer read. */
const READ_AHEAD = 64;

/** Messages on their way to the agent. */
export class Channel {
  private readonly queue: WireMessage[] = [];
  private readonly readers: ((result: ReadResult) => void)[] = [];
  private resume: (() => void) | undefined;
  private ended = false;
  private finish: () => void = () => {};
  /** Resolves when nothing more will come. */
  readonly finished: Promise<void> = new Promise((resolve) => {
    this.finish = resolve;
  });

  push(message: WireMessage): void {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader) reader({ done: false, value: message });
    else this.queue.push(message);
  }

  end(): void {
    this.ended = true;
    for (const reader of this.readers.splice(0)) reader(DONE);
    this.wake();
    this.finish();
  }

  /** Lets go of whoever waits for room. */
  wake(): void {
    this.resume?.();
  }

  read(): Promise<ReadResult> {
    const value = this.queue.shift();
    if (value !== undefined) {
      if (this.queue.length < READ_AHEAD) this.wake();
      return Promise.resolve({ done: false, value });
    }
    return this.ended ? Promise.resolve(DONE) : new Promise((resolve) => this.readers.push(resolve));
  }

  /** Resolves when the agent has read enough for more. */
  room(): Promise<void> | undefined {
    if (this.queue.length < READ_AHEAD || this.ended) return undefined;
    return new Promise((resolve) => {
      this.resume = resolve;
    });
  }
}

/** What the agent's end does with what the agent does. */
export interface AgentEnd {
  readonly channel: Channel;
  /** A message of the agent; resolves when the client's stream has taken what came of it. */
  write(message: WireMessage): Promise<void>;
  /** The agent stopped reading. */
  stopped(reason: unknown): void;
}

/** The streams that the agent connects to. */
export function agentStream({ channel, write, stopped }: AgentEnd): MessageStream {
  const readable = new ReadableStream<WireMessage>(
    {
      pull: async (controller) => {
        const { done, value } = await channel.read();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: stopped,
    },
    { highWaterMark: 0 },
  );
  const open = new Promise<undefined>(() => {});
  const reader = {
    read: () => channel.read(),
    cancel: async (reason?: unknown) => stopped(reason),
    releaseLock: () => {},
    closed: open,
  };
  const writable = new WritableStream<WireMessage>({ write });
  const writer = {
    write,
    close: async () => {},
    abort: async () => {},
    releaseLock: () => {},
    ready: Promise.resolve(undefined),
    closed: open,
    desiredSize: 1,
  };
  return {
    readable: Object.defineProperty(readable, "getReader", { value: () => reader }),
    writable: Object.defineProperty(writable, "getWriter", { value: () => writer }),
  };
}
