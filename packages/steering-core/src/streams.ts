/**
 * The agent's end of a connection. A WHATWG stream of our own in the way would cost a fifth of the throughput; so what the
 * agent is given is no more than a reader and a writer, which is all that the SDK, its router and its servers ask for.
 */
import type { MessageStream, WireMessage } from "./protocol.js";

/** How many messages of a client wait for an agent that does not read, before the client is no longer read. */
const READ_AHEAD = 64;

/** Messages on their way to the agent. */
export interface Channel {
  push(message: WireMessage): void;
  /** Nothing more will come. */
  end(): void;
  /** Lets go of whoever waits for room. */
  wake(): void;
  /** Resolves when the agent has read enough for more. */
  room(): Promise<void> | undefined;
  /** One reader's worth of messages: what waits, then what comes, until the end. */
  read(): Promise<IteratorResult<WireMessage>>;
}

export function createChannel(): Channel {
  const queue: WireMessage[] = [];
  let ended = false;
  let wake = (): void => {};
  // Either the reader waits for a message or the client for room: never both at one time.
  const change = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  async function* drain(): AsyncGenerator<WireMessage, undefined> {
    for (;;) {
      const message = queue.shift();
      if (message) {
        wake();
        yield message;
      } else if (ended) return;
      else await change();
    }
  }
  const messages = drain();
  return {
    push: (message) => {
      if (!ended) queue.push(message);
      wake();
    },
    end: () => {
      ended = true;
      wake();
    },
    wake: () => wake(),
    room: () => (queue.length < READ_AHEAD || ended ? undefined : change()),
    read: () => messages.next(),
  };
}

/** The streams that the agent connects to. `stopped`: the agent stopped reading. */
export function agentStream(
  { read }: Channel,
  write: (message: WireMessage) => Promise<void>,
  stopped: (reason: unknown) => void,
): MessageStream {
  const releaseLock = (): void => {};
  const nothing = async (): Promise<void> => {};
  const reader = { read, cancel: async (reason: unknown) => stopped(reason), releaseLock };
  const writer = { write, close: nothing, abort: nothing, releaseLock, closed: new Promise(() => {}) };
  return { readable: { getReader: () => reader }, writable: { getWriter: () => writer } } as unknown as MessageStream;
}
