import { existsSync } from "node:fs";
import type { Verdict } from "@acp-steering/core";
import type { ConfigChange, SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { type JsonRecord, listOf, textOf } from "@acp-steering/kit/adapter";
import type { Agent, Channel, Conversation, DialectSession, SessionUpdate } from "../dialect.js";
import { PiCommands } from "./pi-commands.js";
import { askDialog, dismissDialog, isDialog } from "./pi-dialogs.js";
import { withdrawLeftovers } from "./pi-leftovers.js";
import { notificationOf } from "./pi-notes.js";
import { type PiState, readCommands, readState } from "./pi-records.js";
import { PiReplay } from "./pi-replay.js";
import { abort, PiRun } from "./pi-run.js";
import { currentBranch, readEntries, readHeader } from "./pi-session-file.js";
import { PiSettings } from "./pi-settings.js";
import { rememberSessionFolder } from "./pi-store.js";
import { PiUpdates } from "./pi-updates.js";

type Commands = NonNullable<VendorSession["commands"]>;
type Show = (update: SessionUpdate) => void;

/** What Pi says when it begins and ends something by itself. After an end it may announce at once that it goes on. */
const BEGINNINGS: readonly unknown[] = ["agent_start", "auto_retry_start", "compaction_start"];
const ENDS: readonly unknown[] = ["agent_end", "auto_retry_end", "compaction_end"];

/** One conversation in one Pi. */
export class PiSession implements DialectSession {
  readonly #channel: Channel;
  readonly #agent: Agent;
  readonly #commands: PiCommands;
  readonly #settings: PiSettings;
  readonly #updates: PiUpdates;
  commands: Commands = [];
  /** Pi's state as it was read last, where nothing can have changed it since. */
  #fresh: PiState | undefined;
  #identity: { id: string; file: string | undefined } = { id: "", file: undefined };
  #run: PiRun | undefined;
  #turn: Turn | undefined;
  #dialogs = new AbortController();
  #send: Show | undefined;
  /** What Pi said before the client knew the session. */
  #unsent: SessionUpdate[] = [];
  /** Pi runs by itself, between two turns. */
  #worksAlone = false;

  constructor(channel: Channel, agent: Agent) {
    this.#channel = channel;
    this.#agent = agent;
    this.#commands = new PiCommands(channel);
    this.#settings = new PiSettings(this.#commands);
    this.#updates = new PiUpdates((update) => this.#show(update), channel.cwd);
  }

  async start(): Promise<Conversation> {
    const state = await this.#readState();
    if (state.sessionId === "") throw new Error("its answer to get_state has no session id; is this Pi in RPC mode?");
    rememberSessionFolder(this.#agent, this.#channel.cwd, state.sessionFile);
    await this.#settings.read(state);
    this.commands = toCommands(await this.#commands.send("get_commands"));
    return { id: state.sessionId };
  }

  receive(record: JsonRecord): void {
    if (record["type"] === "response") this.#commands.receive(record);
    else if (record["type"] === "extension_ui_request") this.#hearExtension(record);
    else this.#event(record);
  }

  attach(send: Show): void {
    this.#send = send;
    for (const update of this.#unsent.splice(0)) send(update);
  }

  /** From Pi's file, which has what was said before a compaction too; from Pi itself where there is none. */
  async replay(show: Show): Promise<void> {
    const { file } = this.#identity;
    const cwd = (file && (await readHeader(file))?.cwd) || this.#channel.cwd;
    new PiReplay(show, cwd).entries(
      file && existsSync(file) ? currentBranch(await readEntries(file)) : await this.#messages(),
    );
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const readNow = async (): Promise<PiState> => {
      const state = this.#fresh ?? (await this.#readState());
      this.#fresh = undefined;
      return state;
    };
    const run = new PiRun({ commands: this.#commands, turn, updates: this.#updates, readState: readNow });
    this.#run = run;
    this.#turn = turn;
    this.#worksAlone = false;
    try {
      await run.settled();
      return run.outcome();
    } finally {
      this.#dialogs.abort();
      this.#dialogs = new AbortController();
      await this.#withdrawLeftovers(run);
      this.#run = undefined;
      this.#turn = undefined;
      this.#fresh = undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#run?.steer(message) ?? Promise.resolve("tooLate");
  }

  interrupt(): void {
    if (this.#run) this.#run.interrupt();
    else if (this.#worksAlone) abort(this.#commands);
  }

  configOptions(): ReturnType<PiSettings["configOptions"]> {
    return this.#settings.configOptions();
  }

  async setConfigOption(change: ConfigChange): Promise<void> {
    await this.#settings.set(change);
    await this.#settings.adopt(await this.#readState());
  }

  async drained(): Promise<void> {
    await this.#turn?.flushed();
  }

  ended(error: Error): void {
    this.#dialogs.abort();
    this.#commands.ended(error);
    this.#run?.ended(error);
  }

  conversation(): Conversation | undefined {
    const { id, file } = this.#identity;
    return file !== undefined && existsSync(file) ? { id, file } : undefined;
  }

  #event(event: JsonRecord): void {
    this.#followSettings(event);
    if (this.#run) return this.#run.event(event);
    this.#fresh = undefined;
    if (BEGINNINGS.includes(event["type"])) this.#worksAlone = true;
    if (ENDS.includes(event["type"])) this.#worksAlone = false;
    this.#updates.event(event);
  }

  #followSettings(event: JsonRecord): void {
    if (event["type"] === "session_info_changed") {
      this.#show({ sessionUpdate: "session_info_update", title: textOf(event["name"]) || null });
    }
    if (event["type"] !== "thinking_level_changed") return;
    if (this.#settings.thinkingLevelChanged(textOf(event["level"]))) this.#showSettings();
  }

  #hearExtension(request: JsonRecord): void {
    for (const update of notificationOf(request)) this.#show(update);
    // Between two turns there is nobody who could be asked.
    if (!this.#turn) dismissDialog(this.#channel, request);
    else if (isDialog(request)) void askDialog(this.#channel, this.#turn, request, this.#dialogs.signal);
  }

  #show(update: SessionUpdate): void {
    if (this.#turn) this.#turn.update(update);
    else if (this.#send) this.#send(update);
    else this.#unsent.push(update);
  }

  #showSettings(): void {
    this.#show({ sessionUpdate: "config_option_update", configOptions: this.configOptions() });
  }

  async #readState(): Promise<PiState> {
    const isFirst = this.#identity.id === "";
    const state = readState(await this.#commands.send("get_state"));
    this.#fresh = state;
    this.#identity = { id: state.sessionId, file: state.sessionFile };
    if (!isFirst && (await this.#settings.adopt(state))) this.#showSettings();
    return state;
  }

  async #messages(): Promise<JsonRecord[]> {
    const answer = (await this.#commands.send("get_messages")) as JsonRecord;
    return listOf(answer["messages"]).map((message) => ({ type: "message", message }));
  }

  async #withdrawLeftovers(run: PiRun): Promise<void> {
    if (!run.leftovers) return;
    const isWithdrawn = await withdrawLeftovers(this.#commands, { file: this.#identity.file, strays: run.strays });
    if (!isWithdrawn) await this.#channel.stop();
    run.handBackLeftovers();
  }
}

function toCommands(answer: unknown): Commands {
  return readCommands(answer).map(({ name, description }) => ({ name, description, input: { hint: "arguments" } }));
}
