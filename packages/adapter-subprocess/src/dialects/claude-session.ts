import type { Verdict } from "@acp-steering/core";
import type { ConfigChange, SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Agent, Channel, Conversation, DialectSession, Opening, SessionUpdate } from "../dialect.js";
import { ClaudeControl } from "./claude-control.js";
import { serversOf, sessionIdOf } from "./claude-opening.js";
import { ClaudeQuestions } from "./claude-questions.js";
import { ClaudeReplay } from "./claude-replay.js";
import { ClaudeRun } from "./claude-run.js";
import { currentBranch, readEntries } from "./claude-session-file.js";
import { ClaudeSettings } from "./claude-settings.js";
import { findSessionFile } from "./claude-store.js";
import { ClaudeUpdates } from "./claude-updates.js";

type Commands = NonNullable<VendorSession["commands"]>;
type Show = (update: SessionUpdate) => void;

/** One conversation in one Claude Code. */
export class ClaudeSession implements DialectSession {
  readonly #channel: Channel;
  readonly #agent: Agent;
  readonly #control: ClaudeControl;
  readonly #settings: ClaudeSettings;
  readonly #updates = new ClaudeUpdates((update) => this.#show(update));
  commands: Commands = [];
  #sessionId = "";
  /** Claude Code writes a session down with its first prompt. */
  #isWritten = false;
  #upTo: string | undefined;
  #turn: Turn | undefined;
  #run: ClaudeRun | undefined;
  #questions: ClaudeQuestions | undefined;
  #send: Show | undefined;

  constructor(channel: Channel, agent: Agent) {
    this.#channel = channel;
    this.#agent = agent;
    this.#control = new ClaudeControl(channel, {
      said: (record) => this.#said(record),
      asked: async (id, request) => this.#questions?.ask(id, request),
      withdrawn: (id) => this.#questions?.withdrawn(id),
    });
    this.#settings = new ClaudeSettings(this.#control);
  }

  async start(opening: Opening): Promise<Conversation> {
    const introduction = await this.#control.request("initialize");
    this.#sessionId = sessionIdOf(opening);
    this.#isWritten = opening.kind !== "new";
    this.commands = toCommands(introduction["commands"]);
    await this.#settings.read(introduction);
    if (opening.kind !== "new") await this.#settings.restore(opening.conversation.settings ?? {});
    if (opening.mcpServers.length > 0) await this.#startServers(opening);
    return { id: this.#sessionId };
  }

  async replay(show: Show): Promise<void> {
    const file = await findSessionFile(this.#sessionId, this.#agent);
    new ClaudeReplay(show).entries(currentBranch(await readEntries(file)));
  }

  receive(record: JsonRecord): void {
    this.#control.receive(record);
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const run = new ClaudeRun({ control: this.#control, turn, updates: this.#updates });
    this.#run = run;
    this.#turn = turn;
    this.#questions = new ClaudeQuestions(turn, {
      inputOf: (toolCallId) => this.#updates.inputOf(toolCallId),
      plan: () => this.#plan(),
    });
    try {
      return await run.settled();
    } finally {
      this.#questions.end();
      this.#questions = undefined;
      await this.#withdraw(run);
      this.#run = undefined;
      this.#turn = undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#run?.steer(message) ?? Promise.resolve("tooLate");
  }

  interrupt(): void {
    this.#run?.interrupt();
  }

  configOptions(): ReturnType<ClaudeSettings["configOptions"]> {
    return this.#settings.configOptions();
  }

  async setConfigOption(change: ConfigChange): Promise<void> {
    await this.#settings.set(change);
  }

  modes(): ReturnType<ClaudeSettings["modes"]> {
    return this.#settings.modes();
  }

  async setMode(modeId: string): Promise<void> {
    await this.#settings.setMode(modeId);
  }

  attach(send: Show): void {
    this.#send = send;
  }

  async drained(): Promise<void> {
    await this.#turn?.flushed();
  }

  ended(error: Error): void {
    this.#questions?.end();
    this.#control.ended(error);
    this.#run?.lost(error);
  }

  conversation(): Conversation | undefined {
    if (!this.#isWritten) return undefined;
    const { chosen: settings } = this.#settings;
    return { id: this.#sessionId, settings, ...(this.#upTo !== undefined && { upTo: this.#upTo }) };
  }

  /** A steer that nobody has read would come up in a later turn: a new child goes on without it. */
  async #withdraw(run: ClaudeRun): Promise<void> {
    this.#upTo = run.withdrawal;
    if (this.#upTo !== undefined) await this.#channel.stop();
    run.handBack();
  }

  async #plan(): Promise<string> {
    const { content } = await this.#control.request("get_plan").catch((): JsonRecord => ({}));
    return textOf(content);
  }

  /** A server that does not work costs its tools, not the session. */
  async #startServers(opening: Opening): Promise<void> {
    const servers = serversOf(opening);
    const { errors } = await this.#control
      .request("mcp_set_servers", { servers })
      .catch((error: Error): JsonRecord => ({ errors: { "of the client": error.message } }));
    for (const [name, error] of Object.entries(recordOf(errors)))
      this.#channel.log(`Claude Code cannot use the MCP server ${name}: ${textOf(error)}`);
  }

  #said(record: JsonRecord): void {
    if (record["type"] === "system") this.#system(record);
    this.#updates.said(record);
    this.#run?.said(record);
  }

  #system(record: JsonRecord): void {
    switch (record["subtype"]) {
      case "init":
        this.#isWritten = true;
        if (!this.#run) this.#stopUnasked();
        break;
      case "commands_changed":
        this.commands = toCommands(record["commands"]);
        this.#show({ sessionUpdate: "available_commands_update", availableCommands: [...this.commands] });
        break;
    }
    if (this.#settings.modeChanged(textOf(record["permissionMode"])))
      this.#show({ sessionUpdate: "current_mode_update", currentModeId: textOf(record["permissionMode"]) });
  }

  /** Nobody asked for this turn, and nobody could see it, steer it or cancel it. */
  #stopUnasked(): void {
    this.#channel.log("Claude Code began a turn that nobody asked for; interrupting it");
    this.#control.request("interrupt").catch(() => {});
  }

  #show(update: SessionUpdate): void {
    if (this.#turn) this.#turn.update(update);
    else this.#send?.(update);
  }
}

/** Those that are bound to a terminal, or that only Claude Code itself calls, are left out. */
function toCommands(commands: unknown): Commands {
  return listOf(commands)
    .filter(isRecord)
    .map(({ name, description, argumentHint }) => ({
      name: textOf(name),
      description: textOf(description),
      input: { hint: textOf(argumentHint) || "arguments" },
    }))
    .filter(({ name }) => !name.startsWith("__") && !TERMINAL_COMMANDS.includes(name));
}

const TERMINAL_COMMANDS: readonly string[] = ["doctor", "color", "focus", "reload-plugins"];
