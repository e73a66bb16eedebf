import { setTimeout as delay } from "node:timers/promises";
import { VendorError } from "@acp-steering/kit";
import { type Log, withTimeout } from "@acp-steering/kit/adapter";
import { type ChildExit, type SpawnedChild, StderrTail, spawnChild } from "@acp-steering/kit/process";
import { type FindKimiOptions, findKimi } from "./find-kimi.js";
import { type KimiAddress, KimiApi } from "./kimi-api.js";
import { KimiGone } from "./kimi-error.js";
import type { KimiSocket } from "./kimi-socket.js";

export interface KimiServerOptions extends FindKimiOptions {
  /** Kimi's folder for settings, login and sessions. Default: Kimi's own. */
  readonly home?: string | undefined;
  readonly log: Log;
  /** How long a new server may take until it listens, in milliseconds. */
  readonly startTimeoutMs: number;
}

/** One running Kimi server and both ways to talk to it. */
export interface KimiConnection {
  readonly api: KimiApi;
  readonly socket: KimiSocket;
  readonly alive: boolean;
  readonly port: number;
  /** Another server of the same home. They have one token. */
  neighbour(host: string, port: number): KimiApi;
  /** Resolves, with why, when the server is gone or its event stream is. */
  readonly lost: Promise<KimiGone>;
}

/** Kimi prints where it listens for people, with the token in the fragment of the address. */
const READY = /http:\/\/([\d.]+):(\d+)\/?#token=([\w.~-]+)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
const COLOURS = /\u001b\[[0-9;]*m/g;
const MAX_BANNER_CHARACTERS = 100_000;
/** A server whose event stream is closed ends in 50 ms. */
const GRACE_MS = 2_000;
/** How long the exit of a process may be behind the end of its connections. */
const DYING_MS = 200;

/**
 * Kimi's own server (`kimi web`) as our child: started when first needed, started again after it has gone, ended with us.
 *
 * The debug endpoints are switched on because the documented ones take no MCP servers and no further folders for a
 * session, tell of no session's MCP servers, and have no way to close a session or to have Kimi write down what a kill
 * would lose. They too are on loopback and behind the token.
 */
export class KimiServer {
  readonly #options: KimiServerOptions;
  #running: Promise<RunningServer> | undefined;
  #stopped = false;

  constructor(options: KimiServerOptions) {
    this.#options = options;
  }

  /** @throws VendorError where it cannot be started */
  async connect(): Promise<KimiConnection> {
    if (this.#stopped) throw new VendorError("Kimi's server was stopped with the adapter.");
    this.#running ??= this.#follow(this.#start());
    return this.#running;
  }

  /** Ends the server. The next `connect()` starts a new one. */
  async restart(): Promise<void> {
    const starting = this.#running;
    this.#running = undefined;
    await (await starting?.catch(() => undefined))?.stop();
  }

  /** Ends the server for good. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.restart();
  }

  /** Forgets a server that cannot be started or is gone, unless another one has taken its place. */
  #follow(starting: Promise<RunningServer>): Promise<RunningServer> {
    const forget = (): void => {
      if (this.#running === starting) this.#running = undefined;
    };
    starting
      .then(({ lost }) => lost)
      .then(({ message }) => {
        if (!this.#stopped) this.#options.log(message);
        forget();
      }, forget);
    return starting;
  }

  async #start(): Promise<RunningServer> {
    try {
      const running = await RunningServer.start(this.#options);
      return running;
    } catch (error) {
      throw startFailed(error as Error);
    }
  }
}

class RunningServer implements KimiConnection {
  readonly api: KimiApi;
  readonly socket: KimiSocket;
  readonly lost: Promise<KimiGone>;
  readonly #child: SpawnedChild;
  readonly #address: KimiAddress;
  #alive = true;

  static async start(options: KimiServerOptions): Promise<RunningServer> {
    const { env, home, startTimeoutMs } = options;
    const { executable, args } = await findKimi(options);
    const child = await spawnChild({
      command: executable,
      args: [...args, "web", "--no-open", "--port", "0", "--debug-endpoints"],
      env: { ...env, KIMI_CODE_NO_AUTO_UPDATE: "1", ...(home !== undefined && { KIMI_CODE_HOME: home }) },
      graceMs: GRACE_MS,
    });
    child.stdin.end();
    try {
      const [address, { KimiSocket }] = await Promise.all([readAddress(child, startTimeoutMs), loadSocket()]);
      return new RunningServer(child, address, await KimiSocket.open(address));
    } catch (error) {
      await child.stop();
      throw error;
    }
  }

  private constructor(child: SpawnedChild, address: KimiAddress, socket: KimiSocket) {
    this.#child = child;
    this.#address = address;
    this.api = new KimiApi(address);
    this.socket = socket;
    this.lost = this.#follow();
  }

  get alive(): boolean {
    return this.#alive;
  }

  get port(): number {
    return this.#address.port;
  }

  neighbour(host: string, port: number): KimiApi {
    return new KimiApi({ ...this.#address, host, port });
  }

  /** The socket first: with one open Kimi does not react to SIGTERM. */
  async stop(): Promise<void> {
    this.socket.close();
    await this.#child.stop();
  }

  async #follow(): Promise<KimiGone> {
    const exit = this.#child.exited.then((end) => `Kimi's server ${describeExit(end)}`);
    const closed = this.socket.closed.then(() => "Kimi's server closed its event stream");
    await Promise.race([exit, closed]);
    this.#alive = false;
    // Of a server that dies, the stream's end may be noticed first.
    const why = await Promise.race([exit, closed.then(() => delay(DYING_MS)).then(() => closed)]);
    // One of the two is of no use without the other.
    await this.stop();
    this.api.close();
    return new KimiGone(why);
  }
}

/** Loaded while Kimi starts: before, the first answer to a client would wait for it. */
function loadSocket(): Promise<typeof import("./kimi-socket.js")> {
  return import("./kimi-socket.js");
}

/** Reads both pipes to their ends: a child whose pipes are full stands still. Nothing of it is passed on. */
async function readAddress(child: SpawnedChild, timeoutMs: number): Promise<KimiAddress> {
  const said = new StderrTail();
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  const address = new Promise<KimiAddress>((resolve) => {
    let banner = "";
    child.stdout.on("data", (chunk: Buffer) => {
      if (banner.length > MAX_BANNER_CHARACTERS) return;
      banner += chunk.toString("utf8");
      const [, host, port, token] = READY.exec(banner.replace(COLOURS, "")) ?? [];
      if (host && port && token) resolve({ host, port: Number(port), token });
    });
  });
  const ended = child.exited.then((exit): never => {
    const words = said.lines();
    throw new Error(`it ${describeExit(exit)}${words.length > 0 ? `. It said: ${words.join(" | ")}` : ""}`);
  });
  return withTimeout(Promise.race([address, ended]), timeoutMs, `it does not listen after ${timeoutMs} ms`);
}

function describeExit({ code, signal }: ChildExit): string {
  return signal ? `was ended by ${signal}` : `ended with exit code ${code}`;
}

function startFailed(error: Error): Error {
  if (error instanceof VendorError) return error;
  return new VendorError(
    `Cannot start Kimi's server: ${error.message}. Try \`kimi web --no-open\` in a terminal; if it does not work there ` +
      "either, install Kimi Code again.",
    { data: { reason: "agentStartFailed" }, cause: error },
  );
}
