import type { Vendor } from "@acp-steering/kit";
import type { Opening, Place, Reopening, SessionUpdate } from "./dialect.js";
import { SubprocessSession, type SubprocessSessionOptions } from "./subprocess-session.js";

export type OpenSessionsOptions = Omit<SubprocessSessionOptions, "opening" | "released">;

type NewSession = Parameters<Vendor["open"]>[0];
type Request = Pick<NewSession, "cwd"> &
  Partial<Pick<NewSession, "mcpServers" | "additionalDirectories">> & { readonly sessionId: string };

/** The sessions that are open, and the ways to open one. */
export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #sessions = new Map<string, Promise<SubprocessSession>>();

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
  }

  open(request: NewSession): Promise<SubprocessSession> {
    return this.#enter({ ...this.#place(request), kind: "new" });
  }

  async load(request: Request, replay: (update: SessionUpdate) => void): Promise<SubprocessSession> {
    const session = await this.reopen("load", request);
    await session.replay(replay);
    return session;
  }

  /** Two children of one conversation would write over each other: a session that is open is given as it is. */
  reopen(kind: "load" | "resume", request: Request): Promise<SubprocessSession> {
    const { sessionId } = request;
    const known = this.#sessions.get(sessionId);
    if (known) return known;
    const session = this.#start(this.#reopening(kind, request));
    this.#sessions.set(sessionId, session);
    session.catch(() => this.#sessions.delete(sessionId));
    return session;
  }

  fork(request: Request): Promise<SubprocessSession> {
    return this.#enter(this.#reopening("fork", request));
  }

  async #enter(opening: Opening): Promise<SubprocessSession> {
    const session = await this.#start(opening);
    this.#sessions.set(session.id, Promise.resolve(session));
    return session;
  }

  #start(opening: Opening): Promise<SubprocessSession> {
    const released = (id: string): boolean => this.#sessions.delete(id);
    return SubprocessSession.open({ ...this.#options, opening, released });
  }

  #reopening(kind: Reopening["kind"], request: Request): Reopening {
    return { ...this.#place(request), kind, conversation: { id: request.sessionId } };
  }

  #place({ cwd, mcpServers = [], additionalDirectories = [] }: Omit<Request, "sessionId">): Place {
    const { dialect, log } = this.#options;
    const takesServers = dialect.mcpCapabilities !== undefined;
    if (mcpServers.length > 0 && !takesServers)
      log(`${dialect.title} takes no MCP servers; left out: ${mcpServers.length}`);
    return {
      cwd,
      mcpServers: takesServers ? mcpServers : [],
      additionalDirectories: dialect.additionalDirectories ? additionalDirectories : [],
    };
  }
}
