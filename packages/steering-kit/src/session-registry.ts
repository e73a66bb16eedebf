import type { PendingSteer } from "@acp-steering/core";
import { RequestError } from "@agentclientprotocol/sdk/unstable";
import { AgentSession } from "./agent-session.js";
import type { VendorSession } from "./vendor.js";

/** The sessions that one connection may use, and those it has to close when it ends. */
export interface ConnectionSessions {
  add(vendorSession: VendorSession): AgentSession;
  /** @throws RequestError -32002 when the session is unknown or closed. */
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
        const session = new AgentSession(vendorSession, this.#take);
        this.#sessions.set(session.id, session);
        owned.add(session.id);
        // Opening outlived its connection: nobody else would ever close this session.
        if (ended) void close(session.id);
        return session;
      },
      get: (sessionId) => {
        const session = this.#sessions.get(sessionId);
        if (!session) throw RequestError.sessionNotFound(sessionId);
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

  async #close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await session?.close();
  }
}
