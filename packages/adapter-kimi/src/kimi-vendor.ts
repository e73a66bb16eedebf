import { homedir } from "node:os";
import { join } from "node:path";
import type { Vendor } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { type Log, logAs, recordOf } from "@acp-steering/kit/adapter";
import type { FindKimiOptions } from "./find-kimi.js";
import { explain, isRefusal, REFUSAL } from "./kimi-error.js";
import { signInRequired } from "./kimi-outcome.js";
import { type KimiConnection, KimiServer } from "./kimi-server.js";
import { KimiSession } from "./kimi-session.js";
import {
  createSession,
  deleteSession,
  forkSession,
  listSessions,
  resumeSession,
  type SessionExtras,
} from "./kimi-sessions.js";
import { toKimiMcpServers } from "./mcp-servers.js";
import { runsElsewhere } from "./other-servers.js";
import { lockSession, sessionInUse } from "./session-lock.js";

type AuthMethod = NonNullable<Vendor["authMethods"]>[number];

export interface KimiVendorOptions extends Partial<FindKimiOptions> {
  /** Kimi's home: settings, login, sessions. Default: the environment's `KIMI_CODE_HOME`, else `~/.kimi-code`. */
  readonly home?: string | undefined;
  /** How long a new server may take until it listens, in milliseconds. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** The command that signs the user in, in a terminal. Default: `kimi login`. */
  readonly login?: { readonly command: string; readonly args: readonly string[] };
  readonly log?: Log;
  readonly version?: string;
}

/**
 * A vendor for Kimi Code: one server (`kimi web`) of the user's own Kimi for all sessions, on loopback, started with the first.
 *
 * `open` and `load` reject with one error that says what to do: where Kimi or a Node.js for it cannot be found, where it does
 * not start, where nobody is signed in (-32000), where another adapter has the session. A server that dies in the middle
 * of a prompt costs that prompt; the next one starts it again, with the conversation so far.
 *
 * @example
 * ```ts
 * const agent = steeringAgent(kimiVendor());
 * await serveStdio(agent);
 * ```
 */
export function kimiVendor(options: KimiVendorOptions = {}): Vendor {
  return new KimiVendor(options);
}

type NewSession = Parameters<Vendor["open"]>[0];

class KimiVendor implements Vendor {
  readonly name = "kimi-code";
  readonly title = "Kimi";
  readonly version: string;
  readonly supports: NonNullable<Vendor["supports"]> = {
    content: ["text", "image", "resource_link", "resource"],
    boundary: "nextStep",
  };
  readonly promptCapabilities: NonNullable<Vendor["promptCapabilities"]> = { image: true, embeddedContext: true };
  readonly mcpCapabilities: NonNullable<Vendor["mcpCapabilities"]> = { http: true, sse: true };
  readonly additionalDirectories = true;
  readonly authMethods: readonly AuthMethod[];
  readonly #home: string;
  readonly #log: Log;
  readonly #server: KimiServer;
  readonly #sessions = new Map<string, KimiSession>();

  constructor(options: KimiVendorOptions) {
    const { env = process.env, log = logAs("kimi-steering-acp"), startTimeoutMs = 60_000, version = "0.0.0" } = options;
    this.version = version;
    this.#log = log;
    this.#home = options.home ?? env["KIMI_CODE_HOME"] ?? join(homedir(), ".kimi-code");
    this.#server = new KimiServer({ ...options, env, log, startTimeoutMs });
    this.authMethods = [loginMethod(options, this.#home)];
  }

  async open(request: NewSession): Promise<KimiSession> {
    const { cwd } = request;
    const extras = extrasOf(request);
    const connection = await this.#signedIn();
    try {
      return await this.#enter(await createSession(connection, cwd, extras), connection, { cwd, extras });
    } catch (error) {
      throw explainOpen(error as Error, cwd);
    }
  }

  async load(request: LoadRequest, replay: Parameters<KimiSession["replay"]>[0]): Promise<KimiSession> {
    const session = await this.resume(request);
    await session.replay(replay).catch((error: Error) => {
      throw explain(error, request.sessionId);
    });
    return session;
  }

  async resume(request: ResumeRequest): Promise<KimiSession> {
    const { sessionId, cwd } = request;
    const open = this.#sessions.get(sessionId);
    if (open) return open;
    const extras = extrasOf(request);
    const connection = await this.#signedIn();
    return this.#enter(sessionId, connection, { cwd, extras }, () => resumeSession(connection, sessionId, extras));
  }

  async fork(request: ForkRequest): Promise<KimiSession> {
    const { sessionId, cwd } = request;
    const extras = extrasOf(request);
    const connection = await this.#signedIn();
    const forked = await forkSession(connection, sessionId, extras).catch((error: Error) => {
      throw explain(error, sessionId);
    });
    return this.#enter(forked, connection, { cwd, extras }, () => resumeSession(connection, forked, extras));
  }

  async list({ cwd, cursor }: ListRequest): Promise<Awaited<ReturnType<NonNullable<Vendor["list"]>>>> {
    const page = await listSessions(await this.#server.connect(), cursor ?? undefined).catch(explained);
    return { ...page, sessions: page.sessions.filter((session) => !cwd || session.cwd === cwd) };
  }

  async delete({ sessionId }: { sessionId: string }): Promise<void> {
    const release = lockSession(this.#home, sessionId);
    try {
      await deleteSession(await this.#server.connect(), sessionId);
    } catch (error) {
      throw explain(error as Error, sessionId);
    } finally {
      release();
    }
  }

  /** The user says that they have signed in, most likely in another process: Kimi reads its settings when it starts. */
  async authenticate(): Promise<void> {
    if (this.#sessions.size === 0) await this.#server.restart();
    await this.#signedIn();
  }

  async logout(): Promise<void> {
    await (await this.#server.connect()).api.post("/api/v1/oauth/logout").catch(explained);
  }

  dispose(): Promise<void> {
    return this.#server.stop();
  }

  async #signedIn(): Promise<KimiConnection> {
    const connection = await this.#server.connect();
    const auth = await connection.api.get("/api/v1/auth").catch(explained);
    const { models_ready: ready } = recordOf(auth);
    if (ready === false) throw signInRequired("Kimi has no model that it may use.");
    return connection;
  }

  async #enter(
    id: string,
    connection: KimiConnection,
    place: { readonly cwd: string; readonly extras: SessionExtras },
    prepare: () => Promise<void> = async () => {},
  ): Promise<KimiSession> {
    const unlock = lockSession(this.#home, id);
    try {
      const other = await runsElsewhere(connection, this.#home, id);
      if (other !== undefined) throw sessionInUse(id, `process ${other}`);
      await prepare();
      const session = await KimiSession.open(connection, {
        ...place,
        id,
        server: this.#server,
        log: this.#log,
        released: () => {
          this.#sessions.delete(id);
          unlock();
        },
        othersRun: () => [...this.#sessions.values()].some((other) => other.id !== id && other.running),
      });
      this.#sessions.set(id, session);
      return session;
    } catch (error) {
      unlock();
      throw explain(error as Error, id);
    }
  }
}

type LoadRequest = Parameters<NonNullable<Vendor["load"]>>[0];
type ResumeRequest = Parameters<NonNullable<Vendor["resume"]>>[0];
type ForkRequest = Parameters<NonNullable<Vendor["fork"]>>[0];
type ListRequest = Parameters<NonNullable<Vendor["list"]>>[0];

function extrasOf(request: Partial<Pick<NewSession, "mcpServers" | "additionalDirectories">>): SessionExtras {
  return {
    mcpServers: toKimiMcpServers(request.mcpServers ?? []),
    additionalDirectories: request.additionalDirectories ?? [],
  };
}

function explained(error: Error): never {
  throw explain(error);
}

function explainOpen(error: Error, cwd: string): Error {
  if (!isRefusal(error, REFUSAL.noFolder)) return explain(error);
  return new VendorError(`The folder "${cwd}" does not exist. Give an existing folder as cwd.`, { cause: error });
}

/** As `kimi acp` offers it: a command for a terminal. Clients that do not know the method find it under `_meta`. */
function loginMethod({ login, kimi = "kimi" }: KimiVendorOptions, home: string): AuthMethod {
  const { command, args } = login ?? { command: kimi, args: ["login"] };
  const name = "Login with Kimi account";
  const env = { KIMI_CODE_HOME: home };
  return {
    id: "login",
    type: "terminal",
    name,
    description: "Sign in with a code, in a terminal.",
    args: ["--login"],
    env,
    _meta: { "terminal-auth": { type: "terminal", label: name, command, args: [...args], env } },
  };
}
