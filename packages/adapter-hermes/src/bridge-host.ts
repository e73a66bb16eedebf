import { fileURLToPath } from "node:url";
import { VendorError } from "@acp-steering/kit";
import { type Log, withTimeout } from "@acp-steering/kit/adapter";
import { Bridge } from "./bridge.js";
import type { BridgeReady, SessionEvent } from "./bridge-protocol.js";
import { findPython, pythonEnvironment } from "./find-python.js";

export interface BridgeHostOptions {
  readonly python: string | undefined;
  readonly hermesHome: string | undefined;
  readonly startTimeoutMs: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** A Python process whose Hermes is loaded. */
export interface LiveBridge {
  readonly bridge: Bridge;
  readonly ready: BridgeReady;
}

/** What wants to hear of one session. */
export interface SessionListener {
  event(event: SessionEvent): void;
  readonly running: boolean;
  /** Resolves when the client has taken what it was given so far. Never rejects. */
  drained(): Promise<unknown>;
}

/** The same place from src/ and from dist/. */
const SCRIPT = fileURLToPath(new URL("../bridge/bridge.py", import.meta.url));

/** The one Python process of the adapter: starts it when it is needed, and again after it has gone. */
export class BridgeHost {
  readonly #options: BridgeHostOptions;
  readonly #listeners = new Map<string, SessionListener>();
  /** Who has heard something since the last time that all was taken. */
  readonly #heard = new Set<SessionListener>();
  #starting: Promise<LiveBridge> | undefined;
  #live: LiveBridge | undefined;
  #disposed = false;

  constructor(options: BridgeHostOptions) {
    this.#options = options;
  }

  /** The living process; starts one where there is none. @throws VendorError that says what to do. */
  async live(): Promise<LiveBridge> {
    if (this.#live?.bridge.alive) return this.#live;
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** How many sessions have a prompt running. */
  get runs(): number {
    return [...this.#listeners.values()].filter(({ running }) => running).length;
  }

  listen(session: string, listener: SessionListener): void {
    this.#listeners.set(session, listener);
  }

  forget(session: string): void {
    this.#listeners.delete(session);
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#starting?.catch(() => {});
    await this.#live?.bridge.stop();
  }

  async #start(): Promise<LiveBridge> {
    const { hermesHome, env, log, startTimeoutMs } = this.#options;
    const python = await this.#python();
    const bridge = await Bridge.start({
      python,
      script: SCRIPT,
      env: { ...pythonEnvironment(env), ...(hermesHome !== undefined && { HERMES_HOME: hermesHome }) },
      log,
      onEvent: (event) => this.#hand(event),
      drained: () => this.#drained(),
    }).catch((error: unknown) => {
      throw startFailed(python, error);
    });
    try {
      this.#live = {
        bridge,
        ready: await withTimeout(bridge.ready, startTimeoutMs, `it was not ready within ${startTimeoutMs / 1_000} s`),
      };
    } catch (error) {
      await bridge.stop();
      throw startFailed(python, error);
    }
    log(`started Hermes ${this.#live.ready.hermes} (process ${bridge.pid}, ${python})`);
    if (this.#disposed) await bridge.stop();
    return this.#live;
  }

  #hand(event: SessionEvent): void {
    const listener = this.#listeners.get(event.session);
    if (!listener) return;
    this.#heard.add(listener);
    listener.event(event);
  }

  async #drained(): Promise<void> {
    const heard = [...this.#heard];
    this.#heard.clear();
    await Promise.all(heard.map((listener) => listener.drained()));
  }

  async #python(): Promise<string> {
    try {
      return await findPython(this.#options);
    } catch (error) {
      throw new VendorError((error as Error).message, { data: { reason: "hermesNotFound" }, cause: error });
    }
  }
}

function startFailed(python: string, error: unknown): VendorError {
  return new VendorError(
    `Cannot start Hermes with ${python}: ${(error as Error).message}. ` +
      "Try `hermes` in a terminal; if it does not work there either, install Hermes again, or name another interpreter with --python.",
    { data: { reason: "agentStartFailed" }, cause: error },
  );
}
