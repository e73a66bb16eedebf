import type { SteeringDriver } from "./driver.js";
import { type Clock, createHub, type Hub, systemClock } from "./hub.js";
import type { BusyBehavior, ContentBlock, IdleBehavior, MessageStream, WireMessage } from "./protocol.js";
import { createChannel, nothing } from "./streams.js";
import { createWire } from "./wire.js";

/** Anything that can be connected to a stream: the SDK's `AgentApp`, its protocol router, another steerable. */
export interface AgentConnector {
  connect(stream: MessageStream, options?: ConnectOptions): unknown;
}

/** The SDK's connect options, passed through as they are. */
export interface ConnectOptions {
  readonly deferConnectHandlers?: boolean;
}

/** One connection of a steerable, with what the SDK's servers ask of a connector. */
export interface SteeringConnection {
  /** Resolves when the connection has ended on both sides. Never rejects. */
  readonly closed: Promise<void>;
  /** Calls the app's connect handlers that `deferConnectHandlers` held back. */
  startConnectHandlers(): void;
}

/** How the layer behaves. Every field has the default of the spec. */
export interface SteeringOptions {
  /** Hands steers to the vendor's own `steer()` while its run goes on. */
  readonly driver?: SteeringDriver;
  /** A steer with no turn running; a request may override it. Default `promptRequired` (spec §2). */
  readonly idleBehavior?: IdleBehavior;
  /** A prompt while a turn runs. Default `queue` (spec §7). */
  readonly whenBusy?: BusyBehavior;
  /** Understands `/steer` and `/queue` in prompts and advertises them. Default on (spec §7). */
  readonly slashCommands?: boolean;
  /** This app calls `take()`. Without it and without a driver, steering is emulated and says so. */
  readonly inbox?: boolean;
  /** Emulation: deliver at the end of the run (`finish`, default), or cancel the run and restate its task (`interrupt`). */
  readonly emulate?: "finish" | "interrupt";
  /** Milliseconds from a cancel to the owner's answer, whatever the agent does. Default 10,000 (spec §5). */
  readonly cancelGraceMs?: number;
  /** Pending steers in one session, by number and by bytes of text and data. Default 4,096 and 32 MiB (spec §2). */
  readonly maxPending?: { readonly steers: number; readonly bytes: number };
}

/** A steer that waits, as `take()` hands it over. */
export interface PendingSteer {
  readonly messageId: string;
  readonly prompt: readonly ContentBlock[];
}

/** An agent that can be steered. */
export interface Steerable {
  /** Connects the agent to one client. The type is that of `AgentApp.connect`, so servers and routers take a steerable. */
  connect(stream: MessageStream, options?: ConnectOptions): SteeringConnection;
  /**
   * The inbox, for an agent that owns its loop: what is pending, in order, handed over by this call. Call it at a step
   * boundary, before the next model call. `[]` when nothing is pending, no run is open, the turn is being cancelled, a
   * permission is open, or a steer is with the driver (spec §4).
   */
  take(sessionId: string): readonly PendingSteer[];
}

/** {@link steering} with a clock of the caller's. */
export const steeringWith = (
  app: AgentConnector,
  options: SteeringOptions = {},
  clock: Clock = systemClock,
): Steerable => {
  const {
    driver,
    idleBehavior = "promptRequired",
    whenBusy = "queue",
    slashCommands = true,
    inbox = false,
    emulate,
    cancelGraceMs = 10_000,
    maxPending = { steers: 4_096, bytes: 33_554_432 },
  } = options;
  const interrupts = emulate === "interrupt" && !driver && !inbox;
  const hub = createHub(
    { driver, idleBehavior, whenBusy, slashCommands, inbox, interrupts, cancelGraceMs, maxPending },
    clock,
  );
  return {
    connect: (stream, connectOptions) => connect(hub, app, stream, connectOptions),
    take: (sessionId) => hub.take(sessionId).map(({ messageId, prompt }) => ({ messageId, prompt })),
  };
};

/**
 * Puts the steering layer in front of an agent.
 *
 * The layer answers `_session/steering` and `_session/steering/revoke`, holds the owner's `session/prompt` response until
 * all work bound to the turn is done, and passes everything else on untouched. Guarantees G1-G8: spec §3.
 *
 * @alias
 * @param app the agent: anything with the SDK's `connect(stream)`
 * @param options see {@link SteeringOptions}
 * @returns the steerable; connect it where the app would have been connected
 * @example
 * const steerable = steering(app, { inbox: true });
 * steerable.connect(ndJsonStream(output, input));
 * // in the loop of the agent, before each model call:
 * for (const steer of steerable.take(sessionId)) messages.push({ role: "user", content: steer.prompt });
 */
export const steering: (app: AgentConnector, options?: SteeringOptions) => Steerable = steeringWith;

interface Lifecycle {
  readonly closed?: Promise<unknown>;
  startConnectHandlers?(): void;
}

const connect = (
  hub: Hub,
  app: AgentConnector,
  stream: MessageStream,
  options: ConnectOptions | undefined,
): SteeringConnection => {
  const reader: ReadableStreamDefaultReader<WireMessage> = stream.readable.getReader();
  const writer: WritableStreamDefaultWriter<WireMessage> = stream.writable.getWriter();
  let written = nothing();
  let letAgentGo: () => void = nothing;
  const agentLetGo = new Promise<void>((resolve) => {
    letAgentGo = resolve;
  });
  const stopReading = (reason: unknown): void => {
    reader.cancel(reason).catch(nothing);
    channel.wake();
  };
  const agentStopped = async (reason: unknown): Promise<void> => {
    channel.end();
    stopReading(reason);
  };
  const channel = createChannel((message) => {
    wire.fromAgent(message);
    return written;
  }, agentStopped);
  const wire = createWire(hub, {
    toClient: (message) => {
      written = writer.write(message);
      written.catch(nothing);
    },
    toAgent: channel.push,
    endAgent: () => {
      channel.end();
      letAgentGo();
    },
  });
  const pump = async (): Promise<void> => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      wire.fromClient(next.value);
      await channel.room();
    }
  };
  const lifecycle = app.connect(channel.stream, options) as Lifecycle | undefined;
  const clientEnded = pump().catch(nothing).then(wire.clientGone);
  writer.closed.catch(stopReading);
  const agentEnded = lifecycle?.closed ?? clientEnded.then(() => agentLetGo);
  const closed = agentEnded.catch(nothing).then(async () => {
    wire.agentGone();
    agentStopped(undefined);
    await clientEnded;
    await written.catch(nothing);
    reader.releaseLock();
    writer.releaseLock();
  });
  return { closed, startConnectHandlers: () => lifecycle?.startConnectHandlers?.() };
};
