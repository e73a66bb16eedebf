import type { Wishes } from "../cases/case.js";
import { WireClient } from "../wire-client.js";
import { WireError } from "../wire-record.js";
import type { Activity } from "./activity.js";
import { CheckError } from "./check-options.js";
import type { Patience } from "./patience.js";

/** How every agent process of a check is started. */
export interface AgentSetup {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** The folder in which its sessions work. */
  readonly sessionFolder: string;
  /** In characters to stdout, for each process. */
  readonly outputLimit: number;
  readonly patience: Patience;
  readonly activity: Activity;
}

type Fields = Readonly<Record<string, unknown>>;

const CLOSE_GRACE_MS = 1_000;
const AUTH_REQUIRED = -32000;
const STDERR_LINES = 5;

/** One agent process that has answered `initialize`. */
export class Agent {
  readonly client: WireClient;
  readonly wishes: Wishes;
  /** Its answer to `initialize`. */
  readonly initialized: Fields;
  readonly info: Fields;
  /** `_meta.steering` of its `initialize` result, where it has one. */
  readonly advertisement: Fields | undefined;
  readonly capabilities: Fields;
  /** A session in which nothing is open, for the next case that does not need a new one. */
  spare: { readonly sessionId: string; readonly uses: number } | undefined;
  readonly #setup: AgentSetup;
  #sessions = 0;

  private constructor(client: WireClient, wishes: Wishes, result: Fields, setup: AgentSetup) {
    this.client = client;
    this.wishes = wishes;
    this.initialized = result;
    this.info = fieldsOf(result["agentInfo"]);
    const steering = fieldsOf(result["_meta"])["steering"];
    this.advertisement = isFields(steering) ? steering : undefined;
    this.capabilities = fieldsOf(result["agentCapabilities"]);
    this.#setup = setup;
  }

  /** Starts the process only; it may have to be stopped before it has said a word. */
  static async spawn({ command, args, env, outputLimit, activity }: AgentSetup): Promise<WireClient> {
    try {
      const client = await WireClient.spawn({ command, args, env, outputLimit, graceMs: CLOSE_GRACE_MS });
      client.onRecord(() => activity.touch());
      return client;
    } catch (error) {
      throw new CheckError("setup", (error as Error).message, { cause: error });
    }
  }

  /** @throws CheckError `agentFailed` */
  static async initialize(client: WireClient, wishes: Wishes, setup: AgentSetup): Promise<Agent> {
    const capabilities = Object.keys(wishes).length === 0 ? {} : { _meta: { steering: wishes } };
    const result = await ask(client, "initialize", client.initialize(capabilities), setup);
    return new Agent(client, wishes, fieldsOf(result), setup);
  }

  /** How many sessions it was asked for. */
  get sessions(): number {
    return this.#sessions;
  }

  /** @throws CheckError `agentFailed` */
  async newSession(): Promise<string> {
    this.#sessions += 1;
    const answer = this.client.newSession(this.#setup.sessionFolder);
    const sessionId: unknown = await ask(this.client, "session/new", answer, this.#setup);
    if (typeof sessionId === "string" && sessionId !== "") return sessionId;
    throw failure(`gave no sessionId in its answer to session/new`, "", this.client, this.#setup);
  }

  /** Lets go of a session where the agent has a way to; some start a process for each. */
  async leave(sessionId: string): Promise<void> {
    if (!this.canClose) return;
    await this.client.request("session/close", { sessionId });
  }

  get canClose(): boolean {
    return isFields(fieldsOf(this.capabilities["sessionCapabilities"])["close"]);
  }
}

async function ask<Result>(
  client: WireClient,
  method: string,
  answer: Promise<Result>,
  setup: AgentSetup,
): Promise<Result> {
  const { activity, patience } = setup;
  const { startMs } = patience;
  try {
    return await activity.guard(answer, { silenceMs: startMs, totalMs: 2 * startMs }, (why) => {
      patience.hung();
      return new Error(`did not answer ${method}: ${why}`);
    });
  } catch (error) {
    const { code, message } = error as Partial<WireError> & Error;
    if (code === "agentExited") throw new CheckError("agentFailed", beforeAnswer(message, method), { cause: error });
    const what = error instanceof WireError ? `answered ${method} with error ${code}: ${message}` : message;
    const next = code === AUTH_REQUIRED ? "Log in with the agent's own command, then run this again." : "";
    throw failure(what, next, client, setup);
  }
}

// The message names the command and ends with the agent's last words.
const beforeAnswer = (message: string, method: string): string =>
  message.replace(/^(.*?)(;|$)/, `The agent $1 before it answered ${method}$2`);

function failure(what: string, next: string, client: WireClient, { command }: AgentSetup): CheckError {
  const sentence = `The agent ${command} ${what.replace(/\.$/, "")}.`;
  const advice = next === "" ? "Try the command by hand, and read what it says on stderr." : next;
  return new CheckError("agentFailed", `${sentence} ${advice}${lastWords(client)}`);
}

/** The end of an agent's stderr, to stand behind a message. */
export function lastWords({ stderr }: WireClient): string {
  const lines = stderr.trimEnd().split("\n").slice(-STDERR_LINES).join("\n");
  return lines === "" ? "" : `\nIts stderr ends with:\n${lines}`;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
