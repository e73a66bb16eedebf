import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import type { Log } from "@acp-steering/kit/adapter";
import { listOf, recordOf } from "@acp-steering/kit/adapter";
import { KimiCommands } from "./kimi-commands.js";
import { isSubAgent, type KimiEvent } from "./kimi-conversation.js";
import { explain } from "./kimi-error.js";
import { KimiInteractions } from "./kimi-interactions.js";
import { readHistory, replayHistory } from "./kimi-replay.js";
import type { KimiConnection, KimiServer } from "./kimi-server.js";
import { endTasks, resumeSession, type SessionExtras, sessionPath } from "./kimi-sessions.js";
import { KimiSettings } from "./kimi-settings.js";
import { type KimiTurnPlace, KimiTurns } from "./kimi-turns.js";
import { KimiUpdates } from "./kimi-updates.js";
import { ToolIds } from "./tool-ids.js";
import { WebConversation } from "./web-conversation.js";

type SessionUpdate = Parameters<Turn["update"]>[0];
type ConfigChange = Parameters<NonNullable<VendorSession["setConfigOption"]>>[0];

export interface KimiSessionOptions {
  readonly id: string;
  readonly cwd: string;
  readonly extras: SessionExtras;
  readonly server: KimiServer;
  readonly log: Log;
  /** The session is over: gives back what it holds. */
  readonly released: () => void;
  /** True while another session runs a turn in the same server. */
  readonly othersRun: () => boolean;
}

/** How long a close waits for the turn that it ends. */
const CLOSE_GRACE_MS = 1_500;
const PING_TIMEOUT_MS = 2_000;

/** A session in Kimi's server: in one server after the other, where one dies. */
export class KimiSession implements VendorSession {
  readonly id: string;
  readonly #options: KimiSessionOptions;
  readonly #path: string;
  readonly #turns: KimiTurns;
  readonly #toolIds = new ToolIds();
  readonly #settings: KimiSettings;
  readonly #commands: KimiCommands;
  readonly #ownWork: KimiUpdates;
  #connection: KimiConnection;
  #conversation: WebConversation;
  #turn: Turn | undefined;
  #ended: Promise<unknown> = Promise.resolve();
  #send: (update: SessionUpdate) => void = () => {};

  /** @throws KimiRefusal where the server does not have the session in its memory */
  static async open(connection: KimiConnection, options: KimiSessionOptions): Promise<KimiSession> {
    const path = sessionPath(options.id);
    const { api } = connection;
    const [settings, commands] = await Promise.all([
      KimiSettings.read(api, path),
      KimiCommands.read(api, path, options.id),
    ]);
    const session = new KimiSession(connection, options, settings, commands);
    await session.#follow();
    return session;
  }

  private constructor(
    connection: KimiConnection,
    options: KimiSessionOptions,
    settings: KimiSettings,
    commands: KimiCommands,
  ) {
    const { id, cwd } = options;
    this.id = id;
    this.#options = options;
    this.#path = sessionPath(id);
    this.#connection = connection;
    this.#conversation = new WebConversation(connection, id);
    this.#settings = settings;
    this.#commands = commands;
    this.#turns = new KimiTurns({ cwd, toolIds: this.#toolIds });
    this.#ownWork = new KimiUpdates({ send: (update) => this.#send(update), cwd, toolIds: this.#toolIds });
  }

  /** True while a prompt runs. */
  get running(): boolean {
    return this.#turn !== undefined;
  }

  get commands(): KimiCommands["list"] {
    return this.#commands.list;
  }

  attach(send: (update: SessionUpdate) => void): void {
    this.#send = send;
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const command = this.#commands.find(turn.prompt);
    this.#turn = turn;
    const outcome = command?.kind === "builtin" ? this.#answer(turn, command) : this.#run(turn, command);
    this.#ended = outcome.catch(() => {});
    try {
      return await outcome;
    } catch (error) {
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      throw explain(error as Error, this.id);
    } finally {
      await this.#conversation.save();
      this.#turn = undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#turns.steer(message);
  }

  interrupt(): void {
    if (this.#turns.running) this.#turns.interrupt();
    // What Kimi does on its own, such as when a background task has ended, is cancelled too.
    else if (this.#connection.alive) this.#conversation.cancel([]).catch(() => {});
  }

  configOptions(): ReturnType<KimiSettings["configOptions"]> {
    return this.#settings.configOptions();
  }

  async setConfigOption(change: ConfigChange): Promise<void> {
    await this.#connected();
    await this.#explained(this.#settings.set(change));
    if (change.configId === "mode")
      this.#show({ sessionUpdate: "current_mode_update", currentModeId: this.#settings.mode });
  }

  modes(): ReturnType<KimiSettings["modes"]> {
    return this.#settings.modes();
  }

  async setMode(modeId: string): Promise<void> {
    await this.#connected();
    await this.#explained(this.#settings.setMode(modeId));
    this.#show({ sessionUpdate: "config_option_update", configOptions: this.configOptions() });
  }

  /** Gives the conversation so far to the client. */
  async replay(replay: (update: SessionUpdate) => void): Promise<void> {
    const { api } = await this.#connected();
    // An open session has numbered its tool calls already; the same calls get the same ids again.
    const toolIds = this.#turns.running ? new ToolIds() : this.#toolIds.restart();
    replayHistory(await readHistory(api, this.#path), { replay, cwd: this.#options.cwd, toolIds });
  }

  async close(): Promise<void> {
    this.#turns.interrupt();
    await within(this.#ended, CLOSE_GRACE_MS);
    const connection = this.#connection;
    try {
      if (!connection.alive) return;
      connection.socket.unsubscribe(this.id);
      await endTasks(connection, this.id);
    } catch {
      // A server that is going has nothing to close any more.
    } finally {
      this.#options.released();
    }
  }

  async #answer(turn: Turn, command: Parameters<KimiCommands["run"]>[0]): Promise<TurnOutcome> {
    const { api } = await this.#connected();
    const text = await this.#commands.run(command, { api, settings: this.#settings });
    turn.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    return { stopReason: "end_turn" };
  }

  #run(turn: Turn, skill: ReturnType<KimiCommands["find"]>): Promise<TurnOutcome> {
    return this.#turns.prompt(turn, async () => {
      const { api } = await this.#connected();
      const interactions = new KimiInteractions({
        turn,
        api,
        path: this.#path,
        log: this.#options.log,
        beforeAnswer: () => this.#turns.steersGiven(),
      });
      const place: KimiTurnPlace = {
        conversation: this.#conversation,
        ...(skill && { skill }),
        observe: (event, updates) => interactions.event(event, updates),
        begun: (updates) => void this.#askAgain(interactions, updates),
        stuck: () => void this.#unstick(),
      };
      return place;
    });
  }

  /** What Kimi asked while no prompt ran still waits for its answer, and Kimi with it. */
  async #askAgain(interactions: KimiInteractions, updates: KimiUpdates): Promise<void> {
    for (const kind of ["approval", "question"] as const) {
      const pending = await this.#connection.api.get(`${this.#path}/${kind}s?status=pending`).catch(() => undefined);
      for (const item of listOf(recordOf(pending)["items"])) {
        interactions.event({ ...recordOf(item), type: `event.${kind}.requested` }, updates);
      }
    }
  }

  async #connected(): Promise<KimiConnection> {
    const connection = await this.#options.server.connect();
    if (connection !== this.#connection) await this.#explained(this.#moveTo(connection));
    return connection;
  }

  async #moveTo(connection: KimiConnection): Promise<void> {
    await resumeSession(connection, this.id, this.#options.extras);
    this.#connection = connection;
    this.#conversation = new WebConversation(connection, this.id);
    await Promise.all([this.#settings.moveTo(connection.api), this.#follow()]);
  }

  async #follow(): Promise<void> {
    const connection = this.#connection;
    const conversation = this.#conversation;
    conversation.onEvent((event) => this.#observe(event));
    if (!(await connection.socket.subscribe(this.id, (event) => conversation.receive(event)))) {
      throw new VendorError(`Kimi has lost the session ${this.id}. Load it again.`, {
        data: { reason: "agentFailed" },
      });
    }
    void connection.lost.then((error) => {
      if (this.#connection === connection) this.#turns.lost(lostInTurn(error));
    });
  }

  #observe(event: KimiEvent): void {
    if (isSubAgent(event)) return;
    const { planMode, model, title } = event;
    if (event.type === "session.meta.updated" && typeof title === "string") {
      this.#show({ sessionUpdate: "session_info_update", title });
    }
    const changed = planMode !== undefined || (model !== undefined && model !== this.#settings.model);
    if (event.type === "agent.status.updated" && changed) void this.#refresh();
    if (!this.#turn) this.#ownWork.event(event);
  }

  /** Kimi has changed a setting by itself. */
  async #refresh(): Promise<void> {
    const { mode, model } = this.#settings;
    await this.#settings.refresh().catch(() => {});
    if (this.#settings.mode === mode && this.#settings.model === model) return;
    for (const update of this.#settings.updates()) this.#show(update);
  }

  #show(update: SessionUpdate): void {
    if (this.#turn) this.#turn.update(update);
    else this.#send(update);
  }

  /** A server that does not answer is ended; so is one whose only turn does not end. */
  async #unstick(): Promise<void> {
    const answers = await this.#connection.api.get("/api/v1/healthz", PING_TIMEOUT_MS).then(
      () => true,
      () => false,
    );
    if (answers && this.#options.othersRun()) return;
    this.#options.log("Kimi does not react to a cancel: its server is started again");
    await this.#options.server.restart();
  }

  async #explained<Result>(task: Promise<Result>): Promise<Result> {
    try {
      return await task;
    } catch (error) {
      throw explain(error as Error, this.id);
    }
  }
}

function lostInTurn(error: Error): VendorError {
  return new VendorError(
    `Kimi is gone in the middle of the turn: ${error.message}. The next prompt starts it again, with the conversation so far.`,
    { data: { reason: "agentExited" }, cause: error },
  );
}

async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds);
  });
  await Promise.race([promise, overdue]);
  clearTimeout(timer);
}
