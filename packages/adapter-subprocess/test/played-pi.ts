import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";
import type { Agent, DialectSession } from "../src/dialect.js";
import { piRpc } from "../src/dialects/pi-rpc.js";

export const STATE = { sessionId: "session", sessionFile: "/session.jsonl", isStreaming: false, isCompacting: false };

const NOBODY: Agent = {
  command: ["pi"],
  environment: {},
  log: () => {},
  visit: () => Promise.reject(new Error("unused")),
};

/** Pi, played by the test, for races that the real one cannot be made to lose or win on demand: it sees the commands and says what the test makes it say. */
export class PlayedPi {
  readonly commands: JsonRecord[] = [];
  readonly events: string[] = [];
  readonly session: DialectSession;
  stopped = false;
  readonly #waiting: { type: string; resolve: (command: JsonRecord) => void }[] = [];

  constructor() {
    const channel = {
      cwd: "/",
      log: () => {},
      send: async (command: JsonRecord) => this.#take(command),
      stop: async () => {
        this.stopped = true;
      },
    };
    this.session = piRpc.session(channel, NOBODY);
  }

  say(...records: JsonRecord[]): void {
    for (const record of records) this.session.receive(record);
  }

  /** The next command of that type, sent already or still to come. */
  next(type: string): Promise<JsonRecord> {
    const sent = this.commands.findIndex((command) => command["type"] === type);
    const [command] = sent === -1 ? [] : this.commands.splice(sent, 1);
    return command ? Promise.resolve(command) : new Promise((resolve) => this.#waiting.push({ type, resolve }));
  }

  /** Answers the next command of that type. */
  async answer(type: string, data?: JsonRecord): Promise<JsonRecord> {
    const command = await this.next(type);
    this.say({ type: "response", id: command["id"], command: type, success: true, ...(data && { data }) });
    return command;
  }

  /** Refuses the next command of that type, as Pi 0.73 does with what it does not know: without its id. */
  async refuse(type: string): Promise<void> {
    await this.next(type);
    this.say({ type: "response", command: type, success: false, error: `Unknown command: ${type}` });
  }

  /** Begins a run, up to Pi's `agent_start`. */
  async begin(text = "go"): Promise<{ outcome: Promise<TurnOutcome>; turn: Turn }> {
    const turn = this.#turn(text);
    const outcome = this.session.prompt(turn);
    outcome.catch(() => {});
    await this.answer("get_state", { ...STATE, messageCount: 0 });
    await this.answer("prompt");
    await this.answer("get_state", { ...STATE, isStreaming: true, messageCount: 1 });
    this.say({ type: "agent_start" }, userMessage(text));
    return { outcome, turn };
  }

  /** Says that the run is over and, when asked, that Pi is idle. */
  async settle(messageCount = 2): Promise<void> {
    this.say({ type: "agent_end" });
    await this.answer("get_state", { ...STATE, messageCount });
  }

  /** A steer whose reports are written down in `events`. */
  steer(text: string): { message: SteerMessage; verdict: Promise<string>; abort: () => void } {
    const controller = new AbortController();
    const message: SteerMessage = {
      turnId: "turn",
      messageId: text,
      prompt: [{ type: "text", text }],
      signal: controller.signal,
      delivered: () => this.events.push(`delivered ${text}`),
      undelivered: () => this.events.push(`undelivered ${text}`),
    };
    return {
      message,
      verdict: this.session.steer?.(message) ?? Promise.resolve("no steer"),
      abort: () => controller.abort(),
    };
  }

  #take(command: JsonRecord): void {
    const index = this.#waiting.findIndex(({ type }) => type === command["type"]);
    const [waiting] = index === -1 ? [] : this.#waiting.splice(index, 1);
    if (waiting) waiting.resolve(command);
    else this.commands.push(command);
  }

  #turn(text: string): Turn {
    return {
      prompt: [{ type: "text", text }],
      continuation: false,
      signal: new AbortController().signal,
      update: (update) => {
        if (update.sessionUpdate.startsWith("tool_call")) this.events.push(JSON.stringify(update));
      },
      flushed: async () => {},
      requestPermission: () => Promise.reject(new Error("unused")),
      take: () => [],
    };
  }
}

export function userMessage(text: string): JsonRecord {
  return { type: "message_start", message: { role: "user", content: [{ type: "text", text }] } };
}

export function reply(stopReason: string): JsonRecord {
  return { type: "message_end", message: { role: "assistant", content: [], stopReason } };
}

export function turnOf(text: string): Turn {
  return {
    prompt: [{ type: "text", text }],
    continuation: false,
    signal: new AbortController().signal,
    update: () => {},
    flushed: async () => {},
    requestPermission: () => Promise.reject(new Error("unused")),
    take: () => [],
  };
}

export async function refused(pi: PlayedPi, error: string): Promise<{ outcome: Promise<TurnOutcome> }> {
  const outcome = pi.session.prompt(turnOf("go"));
  outcome.catch(() => {});
  await pi.answer("get_state", { ...STATE, messageCount: 0 });
  const command = await pi.next("prompt");
  pi.say({ type: "response", id: command["id"], command: "prompt", success: false, error });
  return { outcome };
}

/** Answers every question about Pi's state with "idle" until the run is over. */
export async function settleWith(pi: PlayedPi, outcome: Promise<unknown>): Promise<void> {
  let over = false;
  const end = outcome.finally(() => {
    over = true;
  });
  while (!over) await Promise.race([end, pi.answer("get_state", { ...STATE, messageCount: 5 })]);
}
