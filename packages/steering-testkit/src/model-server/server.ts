import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Dialect } from "./dialect.js";
import { ModelServerError } from "./errors.js";
import { Exchange } from "./exchange.js";
import { Holds } from "./holds.js";
import { requestLine } from "./log-lines.js";
import { playReply } from "./play.js";
import type { Reply, Script } from "./reply.js";
import { ReplySource } from "./reply-source.js";
import type { ModelRequest } from "./request.js";
import { RequestLog } from "./request-log.js";
import { type Routes, route } from "./router.js";
import { WaitingRoom } from "./waiting-room.js";

const HOST = "127.0.0.1";
const MAX_BODY_BYTES = 32 * 1024 * 1024;
const MAX_RECORDED_BYTES = 256 * 1024 * 1024;

/** How a model server is started; everything is optional. */
export interface ModelServerOptions {
  /** What the model says; without one it answers `Done.` to everything. */
  readonly script?: Script;
  /** 0 (default) takes any free port. */
  readonly port?: number;
  /** Gets one line for each request, refusal and client that went away, without prompt text. */
  readonly log?: (line: string) => void;
  /** Gets each request with its reply when the answer has ended, in whatever way. */
  readonly record?: (request: ModelRequest) => void;
  /** Adds the new user and tool messages of each request to its log line. Default false. */
  readonly logContent?: boolean;
  /** Serves `/_control/…`, which gives prompts to whoever asks on this machine. Default false. */
  readonly control?: boolean;
  /** A larger request body is refused with 413. Default 32 MiB, as the providers have it. */
  readonly maxBodyBytes?: number;
}

/** A running model server. */
export interface ModelServer {
  /** Base URL for a client's configuration: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  /**
   * All requests since the start or the last reset in order of arrival. Beyond 256 MiB of bodies the oldest that were
   * answered keep their place and lose their content; they are marked `forgotten`.
   */
  readonly requests: readonly ModelRequest[];
  /** Resolves with the request after number `after` (-1: the first), by default the next one that is not here yet. */
  nextRequest(after?: number): Promise<ModelRequest>;
  /** Resolves with the first request after number `after` (-1 by default) whose reply is held under this name. */
  held(name: string, after?: number): Promise<ModelRequest>;
  /**
   * Lets every reply go on that is held under this name. Without effect when it was let go, or its client went away,
   * before; throws `unknownHold` for a name that nothing has been held under since the last reset.
   */
  release(name: string): void;
  /** Adds replies to the end of the script; where the script is a function, they come before it is asked again. */
  enqueue(...replies: Reply[]): void;
  /** The requests in which the text is, or is part of, a user message. */
  seen(text: string): ModelRequest[];
  /** Resolves when the answer to the request with this index has ended, in whatever way. */
  settled(index: number): Promise<ModelRequest>;
  /** Back to the start: no requests, the script from its first reply, open answers broken off. */
  reset(): void;
  /** Ends the server and all open answers; whoever waits for something gets `waitEnded`. */
  close(): Promise<void>;
}

const listen = async (server: Server, port: number): Promise<number> => {
  try {
    server.listen(port, HOST);
    await once(server, "listening");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    const advice = "Choose another port, or 0 for any free one.";
    throw new ModelServerError("portUnavailable", `Cannot listen on ${HOST}:${port} (${code}). ${advice}`, { cause });
  }
  return (server.address() as AddressInfo).port;
};

const untilGone = ({ signal }: Exchange): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/**
 * Starts an HTTP server on loopback that answers as scripted. It speaks OpenAI chat completions (`/v1/chat/completions`),
 * OpenAI Responses (`/v1/responses`) and Anthropic Messages (`/v1/messages`) at the same time, streamed and not, with or
 * without `/v1` and below any base path.
 *
 * @returns the server, listening; end it with `close()`
 * @throws ModelServerError `invalidScript` (which reply, which field) or `portUnavailable`
 * @example
 * ```ts
 * const model = await startModelServer({ script: [{ text: "Let me think.", hold: "thinking", holdAt: "afterText" }] });
 * const request = await model.held("thinking");
 * model.release("thinking");
 * await model.close();
 * ```
 */
export const startModelServer = async (options: ModelServerOptions = {}): Promise<ModelServer> => {
  const log = options.log ?? ((): void => {});
  const room = new WaitingRoom();
  const requests = new RequestLog(room, MAX_RECORDED_BYTES);
  const holds = new Holds(room);
  const replies = new ReplySource(options.script ?? []);
  const open = new Set<Exchange>();

  const breakOff = (why: string): void => {
    for (const exchange of open) exchange.destroy();
    room.empty(why);
  };

  const reset = (): void => {
    breakOff("The model server was reset");
    requests.clear();
    holds.clear();
    replies.restart();
  };

  const perform = async (exchange: Exchange, dialect: Dialect, request: ModelRequest): Promise<void> => {
    let reply: Reply;
    try {
      // A script may take its time, a test that decides by hand any time: the client need not wait for it.
      reply = await Promise.race([replies.next(request), untilGone(exchange)]);
    } catch (error) {
      exchange.signal.throwIfAborted();
      const message = error instanceof Error ? error.message : String(error);
      log(`request ${request.index}: the script failed`);
      return exchange.sendJson(500, dialect.error({ status: 500, message: `The script failed: ${message}` }));
    }
    requests.decide(request, reply);
    await playReply({ exchange, dialect, request, reply, holds });
  };

  const answerModelRequest: Routes["answerModelRequest"] = async (exchange, dialect, arrived) => {
    const request = requests.add(arrived);
    log(requestLine(request, options.logContent === true));
    open.add(exchange);
    try {
      await perform(exchange, dialect, request);
    } finally {
      open.delete(exchange);
      if (exchange.abortedByClient) log(`request ${request.index}: the client went away`);
      requests.settle(request, { aborted: exchange.abortedByClient });
      options.record?.(request);
    }
  };

  const routes: Routes = {
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    controlled:
      options.control === true
        ? {
            requests: () => requests.requests,
            held: () => holds.list(),
            release: (name) => holds.release(name),
            reset,
          }
        : undefined,
    log,
    earlier: () => requests.requests,
    answerModelRequest,
  };

  // An idle connection that the server closes just as the client reuses it would look like a fault of the agent.
  const server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    const exchange = new Exchange(response);
    route(routes, exchange, incoming).catch((error: unknown) => {
      if (exchange.signal.aborted) return;
      log(`internal error: ${error instanceof Error ? error.message : String(error)}`);
      exchange.destroy();
    });
  });
  const port = await listen(server, options.port ?? 0);

  return {
    url: `http://${HOST}:${port}/v1`,
    get requests(): readonly ModelRequest[] {
      return requests.requests;
    },
    nextRequest: (after) => requests.next(after),
    held: (name, after = -1) => holds.whenHeld(name, after),
    release: (name) => {
      holds.release(name);
    },
    enqueue: (...added) => replies.enqueue(added),
    seen: (text) => requests.seen(text),
    settled: (index) => requests.settled(index),
    reset,
    close: async () => {
      breakOff("The model server was closed");
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      await closed;
    },
  };
};
