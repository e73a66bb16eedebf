import { Readable, Writable } from "node:stream";
import { type SpawnedChild, spawnChild } from "@acp-steering/kit/process";
import {
  type AnyMessage,
  type ClientConnection,
  client,
  methods,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type Stream,
} from "@agentclientprotocol/sdk/unstable";
import { SceneError } from "./scene-event.js";

/** How to start the agent. */
export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The folder in which the agent process is started. */
  readonly cwd: string;
}

/** Sees every message, in order, before it goes on: `out` to the agent, `in` from it. */
export type Tap = (direction: "out" | "in", message: AnyMessage) => void;

const STDERR_LIMIT = 65_536;
const STDERR_LINES = 5;
const EXIT_GRACE_MS = 5_000;

/**
 * The scene's editor: a small ACP client, built on the SDK, with the agent as its child process. It gives every permission
 * that it is asked for, and has neither files nor terminals to offer.
 */
export class Host {
  /** @throws SceneError `setup` when the command cannot be started */
  static async start(agent: AgentCommand, tap: Tap): Promise<Host> {
    try {
      return new Host(await spawnChild(agent), [agent.command, ...agent.args].join(" "), tap);
    } catch (error) {
      throw new SceneError("setup", (error as Error).message, { cause: error });
    }
  }

  readonly #child: SpawnedChild;
  readonly #commandLine: string;
  readonly #connection: ClientConnection;
  #stderr = "";

  private constructor(child: SpawnedChild, commandLine: string, tap: Tap) {
    this.#child = child;
    this.#commandLine = commandLine;
    child.stderr.setEncoding("utf8");
    child.stderr.on("data", (chunk: string) => {
      this.#stderr = (this.#stderr + chunk).slice(-STDERR_LIMIT);
    });
    child.stdin.on("error", () => {});
    const stream = ndJsonStream(
      Writable.toWeb(child.stdin),
      Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
    );
    this.#connection = client({ name: "steering-scene" })
      .onRequest(methods.client.session.requestPermission, ({ params }) => allow(params))
      .onNotification("*", () => {})
      .connect(tapped(stream, tap));
  }

  /**
   * Sends a request and waits until it is answered; what the answer was stands in the tap.
   *
   * @throws SceneError `agentFailed` when the agent ends first
   */
  async ask(method: string, params: unknown): Promise<void> {
    try {
      await this.#connection.agent.request(method, params);
    } catch (error) {
      if (typeof (error as { code?: unknown }).code === "number") return;
      throw await this.#ended(error);
    }
  }

  /** The last lines that the agent wrote to stderr, for an error message. */
  lastWords(): string {
    const lines = this.#stderr.trim().split("\n").slice(-STDERR_LINES).join("\n  ");
    return lines === "" ? "\nIt wrote nothing to stderr." : `\nThe agent's stderr ends with:\n  ${lines}`;
  }

  /** Ends the agent's input and waits until it has ended; it is stopped when it does not. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    const stop = setTimeout(() => void this.#child.stop(), EXIT_GRACE_MS);
    await this.#child.exited;
    clearTimeout(stop);
    this.#connection.close();
  }

  /** Ends the agent at once. */
  async stop(): Promise<void> {
    await this.#child.stop();
    this.#connection.close();
  }

  async #ended(cause: unknown): Promise<SceneError> {
    this.#child.stdin.end();
    const { code, signal } = await this.#child.exited;
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const what = `The agent “${this.#commandLine}” ended ${how} before the scene was over.`;
    return new SceneError("agentFailed", what + this.lastWords(), { cause });
  }
}

function allow({ options }: RequestPermissionRequest): RequestPermissionResponse {
  const allowing = options.find(({ kind }) => kind.startsWith("allow"));
  if (allowing === undefined) return { outcome: { outcome: "cancelled" } };
  return { outcome: { outcome: "selected", optionId: allowing.optionId } };
}

function tapped(stream: Stream, tap: Tap): Stream {
  const through = (direction: "out" | "in"): TransformStream<AnyMessage, AnyMessage> =>
    new TransformStream({
      transform(message, controller) {
        tap(direction, message);
        controller.enqueue(message);
      },
    });
  const outgoing = through("out");
  // A pipe that breaks is an agent that ended; the requests say so.
  outgoing.readable.pipeTo(stream.writable).catch(() => {});
  return { writable: outgoing.writable, readable: stream.readable.pipeThrough(through("in")) };
}
