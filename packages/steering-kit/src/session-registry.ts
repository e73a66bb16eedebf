import type { PendingSteer } from "@acp-steering/core";
import { CODE } from "@acp-steering/core/protocol";
import { AgentSession } from "./agent-session.js";
import type { VendorSession } from "./vendor.js";
import { VendorError } from "./vendor-error.js";

/** The sessions that one connection may use, and those it has to close when it ends. */
export interface ConnectionSessions {
  /** @throws VendorError when another session of that id is open; the new one is closed then. */
  add(vendorSession: VendorSession): AgentSession;
  /** @throws VendorError -32002 when the session is unknown or closed. */
  get(sessionId: string): AgentSession;
  find(sessionId: string): AgentSession | undefined;
  close(sessionId: string): Promise<void>;
  closeAll(): Promise<void>;
}

/** The open sessions of one agent, over all its connections. */
export class SessionRegistry {
  readonly #sessions = new Map<string, AgentSession>();
  readonly #take: (sessionId: string) => readonly PendingSteer[];

  constructor(take: (sessionId: string) => readonly PendingSteer[]) {
    this.#take = take;
  }

  find(sessionId: string): AgentSession | undefined {
    return this.#sessions.get(sessionId);
  }

  forConnection(): ConnectionSessions {
    const owned = new Set<string>();
    let ended = false;
    const close = (sessionId: string): Promise<void> => {
      owned.delete(sessionId);
      return this.#close(sessionId);
    };
    return {
      add: (vendorSession) => {
        const session = this.#add(vendorSession);
        owned.add(session.id);
        // Opening outlived its connection: nobody else would ever close this session.
        if (ended) void close(session.id);
        return session;
      },
      get: (sessionId) => {
        const session = this.#sessions.get(sessionId);
        if (!session) throw notOpen(sessionId);
        return session;
      },
      find: (sessionId) => this.#sessions.get(sessionId),
      close,
      closeAll: async () => {
        ended = true;
        await Promise.allSettled([...owned].map(close));
      },
    };
  }

  async closeAll(): Promise<void> {
    await Promise.allSettled([...this.#sessions.keys()].map((sessionId) => this.#close(sessionId)));
  }

  /** Loading an open session may give the same one; two of one id could not be told apart. */
  #add(vendorSession: VendorSession): AgentSession {
    const { id } = vendorSession;
    const known = this.#sessions.get(id);
    if (known?.vendorSession === vendorSession) return known;
    const session = new AgentSession(vendorSession, this.#take);
    if (known) {
      session.close().catch(() => {});
      throw new VendorError(
        `Session ${id} is open already. Close it first, or start the agent without a fixed session.`,
      );
    }
    this.#sessions.set(id, session);
    return session;
  }

  async #close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
  }
}

function notOpen(sessionId: string): VendorError {
  return new VendorError(`Session ${sessionId} is not open here. Open a new one, or load it where the agent can.`, {
    code: CODE.notFound,
    data: { sessionId },
  });
}
