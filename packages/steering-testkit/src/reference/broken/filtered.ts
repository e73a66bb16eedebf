import type { Steerable, SteeringConnection, WireMessage } from "@acp-steering/core";

/** What can be connected to a client. */
export type Connectable = Pick<Steerable, "connect">;

/** Where a filter puts messages, its own ones too. */
export interface Wire {
  toAgent(message: WireMessage): void;
  toClient(message: WireMessage): void;
}

/** Gets every message of one connection in place of its receiver. */
export interface Filter {
  fromClient(message: WireMessage): void;
  fromAgent(message: WireMessage): void;
}

const ignore = (): void => {};

/** An agent with a filter between it and each of its clients. */
export function filtered(agent: Connectable, makeFilter: (wire: Wire) => Filter): Connectable {
  return { connect: (stream, options) => connect(agent, makeFilter, stream, options) };
}

function connect(
  agent: Connectable,
  makeFilter: (wire: Wire) => Filter,
  ...[stream, options]: Parameters<Connectable["connect"]>
): SteeringConnection {
  const reader: ReadableStreamDefaultReader<WireMessage> = stream.readable.getReader();
  const writer: WritableStreamDefaultWriter<WireMessage> = stream.writable.getWriter();
  const toAgent = new TransformStream<WireMessage, WireMessage>();
  const agentWriter = toAgent.writable.getWriter();
  const filter = makeFilter({
    toAgent: (message) => void agentWriter.write(message).catch(ignore),
    toClient: (message) => void writer.write(message).catch(ignore),
  });
  const fromAgent = new WritableStream<WireMessage>({ write: (message) => filter.fromAgent(message) });

  const pump = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) filter.fromClient(next.value);
  };
  const pumped = pump()
    .catch(ignore)
    .then(() => agentWriter.close().catch(ignore));

  const connection = agent.connect({ readable: toAgent.readable, writable: fromAgent }, options);
  const closed = connection.closed.then(async () => {
    await reader.cancel().catch(ignore);
    await pumped;
    reader.releaseLock();
    writer.releaseLock();
  });
  return { closed, startConnectHandlers: () => connection.startConnectHandlers() };
}
