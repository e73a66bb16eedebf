import { existsSync } from "node:fs";
import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { type JsonRecord, textOf } from "@acp-steering/kit/adapter";
import type { Channel, Conversation, Dialect, DialectSession, Opening } from "../dialect.js";
import { PiCommands } from "./pi-commands.js";
import { type PiState, readForkEntries, readState } from "./pi-records.js";
import { PiRun } from "./pi-run.js";

/** Extension dialogs that block Pi until they are answered; the other methods only tell. */
const DIALOGS: readonly unknown[] = ["select", "confirm", "input", "editor"];

/** How long Pi may take to load its session again. It reads one file. */
const WITHDRAW_TIMEOUT_MS = 10_000;

/** Whether Pi did it, and within the time. */
async function inTime(load: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), WITHDRAW_TIMEOUT_MS);
  });
  const loaded = load.then(
    (answer) => (answer as JsonRecord | undefined)?.["cancelled"] !== true,
    () => false,
  );
  return Promise.race([loaded, timeout]).finally(() => clearTimeout(timer));
}

class PiSession implements DialectSession {
  readonly #channel: Channel;
  readonly #commands: PiCommands;
  #state: PiState | undefined;
  #run: PiRun | undefined;
  #turn: Turn | undefined;
  #sessionId = "";
  #sessionFile: string | undefined;

  constructor(channel: Channel) {
    this.#channel = channel;
    this.#commands = new PiCommands(channel);
  }

  async start(): Promise<Conversation> {
    const { sessionId } = await this.#readState();
    if (sessionId === "") throw new Error("its answer to get_state has no session id; is this Pi in RPC mode?");
    return { id: sessionId };
  }

  receive(record: JsonRecord): void {
    if (record["type"] === "response") this.#commands.receive(record);
    else if (record["type"] === "extension_ui_request") this.#dismiss(record);
    else this.#run?.event(record);
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const { cwd } = this.#channel;
    const readState = async (): Promise<PiState> => this.#state ?? (await this.#readState());
    const run = new PiRun({ commands: this.#commands, turn, readState, cwd });
    this.#run = run;
    this.#turn = turn;
    try {
      await run.settled();
      return run.outcome();
    } finally {
      await this.#withdrawLeftovers(run);
      this.#run = undefined;
      this.#turn = undefined;
      this.#state = undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#run?.steer(message) ?? Promise.resolve("tooLate");
  }

  interrupt(): void {
    this.#run?.interrupt();
  }

  async drained(): Promise<void> {
    await this.#turn?.flushed();
  }

  ended(error: Error): void {
    this.#commands.ended(error);
    this.#run?.ended(error);
  }

  conversation(): Conversation | undefined {
    const file = this.#sessionFile;
    return file !== undefined && existsSync(file) ? { id: this.#sessionId, file } : undefined;
  }

  async #readState(): Promise<PiState> {
    this.#state = readState(await this.#commands.send("get_state"));
    this.#sessionId = this.#state.sessionId;
    this.#sessionFile = this.#state.sessionFile;
    return this.#state;
  }

  /**
   * Pi keeps what it has not used in its queue, also over an abort or an error, and would use it in its next run: a
   * continuation with the same steers would bring them twice, a later turn would see another turn's steers. No command
   * empties the queue. Loading the session anew does, and so does a new process.
   */
  async #withdrawLeftovers(run: PiRun): Promise<void> {
    if (!run.leftovers) return;
    const load = run.strays > 0 ? this.#rewind(run.strays) : this.#loadAnew();
    if (!(await inTime(load))) await this.#channel.stop();
    run.handBackLeftovers();
  }

  #loadAnew(): Promise<unknown> {
    // Without a file the conversation lives in Pi alone; a clone of it takes the history along, but not the queue.
    const file = this.#sessionFile;
    return file ? this.#commands.send("switch_session", { sessionPath: file }) : this.#commands.send("clone");
  }

  /** A fork from the first of the last user messages is the conversation without them, and without the queue. */
  async #rewind(messages: number): Promise<unknown> {
    const entryId = readForkEntries(await this.#commands.send("get_fork_messages")).at(-messages);
    const forked = await this.#commands.send("fork", { entryId });
    await this.#readState();
    return forked;
  }

  #dismiss(request: JsonRecord): void {
    if (!DIALOGS.includes(request["method"])) return;
    void this.#channel.send({ type: "extension_ui_response", id: textOf(request["id"]), cancelled: true });
  }
}

function argumentsOf(opening: Opening): string[] {
  if (opening.kind === "new") return [];
  const { file, id } = opening.conversation;
  return ["--session", file ?? id];
}

/**
 * The Pi coding agent in RPC mode (`pi --mode rpc`, `@mariozechner/pi-coding-agent` 0.73). Its docs/rpc.md is the source.
 *
 * A steer takes effect at the next step: after the running tool calls, before the next model request, one steer a step
 * or all at once as the user's `steeringMode` says. The adapter leaves that setting alone, since Pi would save it for
 * every other use of Pi as well.
 */
export const piRpc: Dialect = {
  name: "pi-rpc",
  title: "Pi",
  install: "npm install -g @mariozechner/pi-coding-agent",
  usage: "pi --mode rpc",
  supports: { content: ["text", "image", "resource_link", "resource"], boundary: "nextStep" },
  promptCapabilities: { image: true, embeddedContext: true },
  arguments: async (opening) => argumentsOf(opening),
  session: (channel) => new PiSession(channel),
};
