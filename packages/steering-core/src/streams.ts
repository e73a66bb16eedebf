/**
 * The agent's end of a connection. A WHATWG stream of our own in the way would cost a fifth of the throughput; so what the
 * agent is given is no more than a reader and a writer, which is all that the SDK, its router and its servers ask for.
 */
import type { MessageStream, WireMessage } from "./protocol.js";

/** How many messages of a client wait for an agent that does not read, before the client is no longer read. */
const READ_AHEAD = 64;

export const nothing = async (): Promise<void> => {};

/** Messages on their way to the agent. */
export interface Channel {
  /** What the agent connects to. */
  readonly stream: MessageStream;
  push(message: WireMessage): void;
  /** Nothing more will come. */
  end(): void;
  /** Lets go of whoever waits for room. */
  wake(): void;
  /** Resolves when the agent has read enough for more. */
  room(): Promise<void> | undefined;
}

/** `write` takes the messages of the agent. `cancel`: the agent stopped reading. */
export const createChannel = (
  write: (message: WireMessage) => Promise<void>,
  cancel: (reason: unknown) => Promise<void>,
): Channel => {
  const queue: WireMessage[] = [];
  let ended = false;
  let wake: () => void = nothing;
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
  const reader = { read: () => messages.next(), cancel, releaseLock: nothing };
  const writer = { write, close: nothing, abort: nothing, releaseLock: nothing, closed: new Promise(nothing) };
  return {
    stream: {
      readable: { getReader: () => reader },
      writable: { getWriter: () => writer },
    } as unknown as MessageStream,
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
  };
};
