import { type MessageStream, type SteeringOptions, steering, type WireMessage } from "@acp-steering/core";

/** Where the layer's messages go. */
export interface LayerOutlets {
  /** Called in order; from within {@link Layer.fromAgent} for what an agent's message brings. */
  toClient(message: WireMessage): void;
  /** The next message is asked for when what this returns is settled. */
  toAgent(message: WireMessage): Promise<void> | undefined;
  /** The layer is about to act on a message of the client, or on the client's end. */
  reading(): void;
  /** All messages of the client were read. */
  idle(): void;
  /** The client is gone, and nothing of it is left at the agent. */
  agentReleased(): void;
}

/** The steering layer between a client and an agent, as messages. */
export interface Layer {
  /** Whether messages of the client wait. */
  readonly busy: boolean;
  fromClient(message: WireMessage): void;
  /** The same, before all that wait. */
  fromClientFirst(message: WireMessage): void;
  clientEnded(): void;
  /** Handled at once: what it brings has gone out when this returns. */
  fromAgent(message: WireMessage): void;
  /** Nothing more comes from the agent: what it owes is answered. Resolves when the layer is done. */
  agentEnded(): Promise<void>;
}

type Next = IteratorResult<WireMessage, undefined>;

const END: Next = { done: true, value: undefined };
const never = new Promise<never>(() => {});
const nothing = async (): Promise<void> => {};
const releaseLock = (): void => {};

/** `steering()` of core, without a WHATWG stream in between: what the proxy does not touch must not cost anything. */
export function createLayer(options: SteeringOptions, outlets: LayerOutlets): Layer {
  const waiting: WireMessage[] = [];
  let ended = false;
  let deliver: ((next: Next) => void) | undefined;
  let write: (message: WireMessage) => unknown = () => {};
  let lose = (): void => {};
  const agentLost = new Promise<void>((resolve) => {
    lose = resolve;
  });

  const advance = (): void => {
    if (!deliver || (waiting.length === 0 && !ended)) return;
    const resolve = deliver;
    deliver = undefined;
    outlets.reading();
    const value = waiting.shift();
    resolve(value === undefined ? END : { done: false, value });
  };
  const read = (): Promise<Next> =>
    new Promise((resolve) => {
      deliver = resolve;
      if (waiting.length === 0 && !ended) outlets.idle();
      advance();
    });
  const end = (): void => {
    ended = true;
    advance();
  };
  const reader = { read, cancel: async () => end(), releaseLock };
  const written = Promise.resolve();
  const writer = {
    write: (message: WireMessage) => {
      outlets.toClient(message);
      return written;
    },
    close: nothing,
    abort: nothing,
    releaseLock,
    closed: never,
  };

  const connect = (stream: MessageStream): { readonly closed: Promise<void> } => {
    const messages = stream.readable.getReader();
    const agentWriter = stream.writable.getWriter();
    write = (message) => agentWriter.write(message);
    const pump = async (): Promise<void> => {
      for (let next = await messages.read(); !next.done; next = await messages.read()) {
        const full = outlets.toAgent(next.value);
        if (full) await full;
      }
      outlets.agentReleased();
    };
    void pump();
    return { closed: agentLost };
  };
  const stream = { readable: { getReader: () => reader }, writable: { getWriter: () => writer } };
  const { closed } = steering({ connect }, options).connect(stream as unknown as MessageStream);

  return {
    get busy() {
      return waiting.length > 0;
    },
    fromClient: (message) => {
      waiting.push(message);
      advance();
    },
    fromClientFirst: (message) => {
      waiting.unshift(message);
      advance();
    },
    clientEnded: end,
    fromAgent: (message) => void write(message),
    agentEnded: () => {
      lose();
      return closed;
    },
  };
}
