import { CODE } from "@acp-steering/core/protocol";
import type { Vendor } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { type Log, logAs } from "@acp-steering/kit/adapter";
import { toVendorError } from "./bridge-error.js";
import { BridgeHost, type LiveBridge } from "./bridge-host.js";
import type { BridgeAuth, BridgeSession, HistoryEntry } from "./bridge-protocol.js";
import { HermesSession } from "./hermes-session.js";
import { HermesUpdates } from "./hermes-updates.js";

export interface HermesVendorOptions {
  /** The interpreter of the Hermes install. Default: the first of the usual places that has Hermes. */
  readonly python?: string;
  /** Where Hermes keeps its settings, keys and sessions. Default: what `HERMES_HOME` says, else `~/.hermes`. */
  readonly hermesHome?: string;
  /** How long Hermes may take to load, in milliseconds. Default 60,000. */
  readonly startTimeoutMs?: number;
  /** Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly log?: Log;
  readonly version?: string;
}

/**
 * Hermes has its keys from its own configuration; what it lacks is set there, not here. Which provider it is, Hermes says
 * once it runs, and `initialize` does not wait for that.
 */
const AUTH_METHOD = {
  id: "hermes",
  name: "Hermes' own configuration",
  description: "Run `hermes model` in a terminal to choose a provider and give it its key.",
} as const;

/**
 * A vendor for Hermes Agent: one Python process with the user's own Hermes, started with the first request, for all
 * sessions.
 *
 * `open` and `load` reject with one error that lists where Hermes was looked for (`data.reason: "hermesNotFound"`), or
 * says why it does not start (`"agentStartFailed"`); -32000 where Hermes' provider lacks its key. A process that dies in
 * the middle of a prompt costs that prompt (`"agentExited"`); the next one starts it again, with the history.
 *
 * @example
 * ```ts
 * await serveStdio(steeringAgent(hermesVendor()));
 * ```
 */
export function hermesVendor(options: HermesVendorOptions = {}): Vendor {
  const {
    log = logAs("hermes-steering-acp"),
    env = process.env,
    startTimeoutMs = 60_000,
    python,
    hermesHome,
    version = "0.0.0",
  } = options;
  const host = new BridgeHost({ python, hermesHome, startTimeoutMs, env, log });
  const sessions = new Map<string, HermesSession>();

  const sessionOf = (live: LiveBridge, state: BridgeSession, mcpServers: readonly unknown[]): HermesSession => {
    const known = sessions.get(state.session);
    known?.reloaded(state);
    if (known) return known;
    const onClosed = (): void => void sessions.delete(state.session);
    const session = new HermesSession({ host, live, state, mcpServers, log, onClosed });
    sessions.set(state.session, session);
    return session;
  };

  const load = async (
    { sessionId, cwd, mcpServers = [] }: { sessionId: string; cwd: string; mcpServers?: readonly unknown[] },
    onHistory?: (entries: readonly HistoryEntry[]) => void,
  ): Promise<HermesSession> => {
    const live = await host.live();
    const fields = { session: sessionId, cwd, mcpServers, replay: onHistory !== undefined };
    return sessionOf(live, await asked(live.bridge.request("load", fields, onHistory)), mcpServers);
  };

  return {
    name: "hermes",
    title: "Hermes",
    version,
    supports: { content: ["text", "resource_link", "resource"], boundary: "afterTool" },
    promptCapabilities: { image: true, embeddedContext: true },
    authMethods: [AUTH_METHOD],
    authenticate: async () => {
      const { bridge } = await host.live();
      assertConfigured(await asked(bridge.request("auth", {})));
    },
    open: async ({ cwd, mcpServers }) => {
      const live = await host.live();
      return sessionOf(live, await asked(live.bridge.request("open", { cwd, mcpServers })), mcpServers);
    },
    load: (request, replay) => {
      const updates = new HermesUpdates(replay);
      return load(request, (entries) => {
        for (const entry of entries) updates.event(entry);
      }).finally(() => updates.end());
    },
    resume: (request) => load(request),
    fork: async ({ sessionId, cwd, mcpServers = [] }) => {
      const live = await host.live();
      return sessionOf(
        live,
        await asked(live.bridge.request("fork", { session: sessionId, cwd, mcpServers })),
        mcpServers,
      );
    },
    list: async ({ cwd, cursor }) => {
      const { bridge } = await host.live();
      const page = await asked(bridge.request("list", { ...(cwd && { cwd }), ...(cursor && { cursor }) }));
      return {
        sessions: page.sessions.map(({ session, ...about }) => ({ sessionId: session, ...about })),
        ...(page.cursor && { nextCursor: page.cursor }),
      };
    },
    dispose: () => host.dispose(),
  };
}

async function asked<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer;
  } catch (error) {
    throw toVendorError(error);
  }
}

function assertConfigured({ configured, message, variables }: BridgeAuth): void {
  if (configured) return;
  throw new VendorError(`Hermes cannot reach a model yet. ${message ?? AUTH_METHOD.description}`, {
    code: CODE.authRequired,
    data: { reason: "authRequired", variables },
  });
}
