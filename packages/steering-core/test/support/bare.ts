import { createHub, type Hub } from "../../src/hub.js";
import type { WireMessage } from "../../src/index.js";
import { createWire, type Wire } from "../../src/wire.js";
import { ManualClock } from "./clock.js";

/** One connection of a {@link Bare}, message by message and without streams. */
export interface BareConnection {
  readonly wire: Wire;
  readonly toClient: WireMessage[];
  readonly toAgent: WireMessage[];
  /** The layer let the agent go. */
  left: boolean;
  ask(id: number, method: string, params: object): void;
  reply(id: number | string, result: object): void;
}

/** The layer without its streams, for what cannot be seen from outside: what it remembers. */
export class Bare {
  readonly clock = new ManualClock();
  readonly hub: Hub;

  constructor() {
    const maxPending = { steers: 4_096, bytes: 33_554_432 };
    const policy = { idleBehavior: "promptRequired", whenBusy: "queue", interrupts: false, maxPending } as const;
    const traits = { driver: undefined, inbox: false, slashCommands: true, cancelGraceMs: 10_000 };
    this.hub = createHub({ ...traits, ...policy }, this.clock);
  }

  /** An initialized connection. */
  connect(): BareConnection {
    const [toClient, toAgent]: [WireMessage[], WireMessage[]] = [[], []];
    const endAgent = (): void => {
      connection.left = true;
    };
    const outlets = {
      toClient: (m: WireMessage) => toClient.push(m),
      toAgent: (m: WireMessage) => toAgent.push(m),
      endAgent,
    };
    const wire = createWire(this.hub, outlets);
    const connection: BareConnection = {
      wire,
      toClient,
      toAgent,
      left: false,
      ask: (id, method, params) => wire.fromClient({ jsonrpc: "2.0", id, method, params }),
      reply: (id, result) => wire.fromAgent({ jsonrpc: "2.0", id, result }),
    };
    connection.ask(0, "initialize", { clientCapabilities: { _meta: { steering: { receipts: true } } } });
    connection.reply(0, { protocolVersion: 1 });
    return connection;
  }

  /** Sessions, connections and timers that the layer remembers. */
  get remembered(): { sessions: number; links: number; leaving: number; timers: number } {
    const { sessions, links, leaving } = this.hub;
    return { sessions: sessions.size, links: links.size, leaving: leaving.size, timers: this.clock.armed };
  }
}
