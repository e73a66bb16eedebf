import { randomUUID } from "node:crypto";
import type { Verdict } from "@acp-steering/core";
import type { ConfigChange, SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { type Log, whenStuck } from "@acp-steering/kit/adapter";
import type { Bridge } from "./bridge.js";
import { toVendorError } from "./bridge-error.js";
import type { BridgeHost, LiveBridge, SessionListener } from "./bridge-host.js";
import type { BridgeSession, SessionEvent } from "./bridge-protocol.js";
import { configOptions, MODE, MODEL } from "./config-options.js";
import { HermesTurn } from "./hermes-turn.js";
import type { SessionUpdate } from "./session-update.js";
import { announcedCommands, slashCommandOf } from "./slash-command.js";

export interface HermesSessionOptions {
  readonly host: BridgeHost;
  readonly live: LiveBridge;
  readonly state: BridgeSession;
  readonly mcpServers: readonly unknown[];
  readonly log: Log;
  readonly onClosed: () => void;
}

/** One ACP session: Hermes keeps its history, the Python process that it is loaded in may change. */
export class HermesSession implements VendorSession, SessionListener {
  readonly commands: NonNullable<VendorSession["commands"]>;
  readonly #options: HermesSessionOptions;
  #live: LiveBridge;
  #state: BridgeSession;
  #turn: HermesTurn | undefined;
  #send: (update: SessionUpdate) => void = () => {};
  #begun: Promise<void> | undefined;
  #reloading: Promise<LiveBridge> | undefined;

  constructor(options: HermesSessionOptions) {
    this.#options = options;
    this.#live = options.live;
    this.#state = options.state;
    this.commands = announcedCommands(options.live.ready.commands);
    options.host.listen(this.id, this);
  }

  get id(): string {
    return this.#options.state.session;
  }

  get running(): boolean {
    return this.#turn !== undefined;
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    let begin = (): void => {};
    this.#begun = new Promise((resolve) => {
      begin = resolve;
    });
    try {
      const live = await this.#loaded();
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      return await this.#run(new HermesTurn({ live, session: this.id, id: randomUUID(), turn, onSent: begin }), turn);
    } finally {
      begin();
      this.#turn = undefined;
    }
  }

  /** One that comes before the bridge has the prompt waits for it. */
  async steer(message: SteerMessage): Promise<Verdict> {
    await this.#begun;
    return this.#turn ? this.#turn.steer(message) : "tooLate";
  }

  interrupt(): void {
    this.#turn?.interrupt();
  }

  configOptions(): ReturnType<typeof configOptions> {
    return configOptions(this.#state, this.#live.ready.modes);
  }

  async setConfigOption({ configId, value }: ConfigChange): Promise<void> {
    const { bridge } = await this.#loaded();
    const change = configId === MODEL ? { [MODEL]: String(value) } : { [MODE]: String(value) };
    this.#state = await bridge.request("set", { session: this.id, ...change }).catch((error: unknown) => {
      throw toVendorError(error);
    });
  }

  async close(): Promise<void> {
    this.#options.onClosed();
    const { bridge } = this.#live;
    // A process that is gone holds nothing.
    if (bridge.alive) await bridge.request("close", { session: this.id }).catch(() => {});
    this.#options.host.forget(this.id);
  }

  /** The session was loaded once more. */
  reloaded(state: BridgeSession): void {
    this.#state = state;
  }

  attach(send: (update: SessionUpdate) => void): void {
    this.#send = send;
  }

  /** The title of a session may come when its turn is over. */
  event(event: SessionEvent): void {
    if (event.turn === this.#turn?.id) this.#turn?.event(event);
    else if (event.type === "title") this.#send({ sessionUpdate: "session_info_update", title: event.title });
  }

  async drained(): Promise<void> {
    await this.#turn?.drained();
  }

  async #run(running: HermesTurn, turn: Turn): Promise<TurnOutcome> {
    const { bridge, ready } = this.#live;
    this.#turn = running;
    const watch = this.#endWhenStuck(bridge, turn.signal);
    try {
      const command = slashCommandOf(turn.prompt, ready.commands);
      if (!command) return await running.prompt();
      const state = await running.command(command);
      if (state) this.#changed(state, turn.update);
      return { stopReason: state ? "end_turn" : "cancelled" };
    } finally {
      watch.end();
    }
  }

  /** The process that has this session; a new one is told to load it, with its history as Hermes has kept it. */
  async #loaded(): Promise<LiveBridge> {
    if (this.#live.bridge.alive) return this.#live;
    this.#reloading ??= this.#load().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  async #load(): Promise<LiveBridge> {
    const { host, mcpServers } = this.#options;
    const live = await host.live();
    const { mode, model, cwd } = this.#state;
    try {
      const loaded = await live.bridge.request("load", { session: this.id, cwd, mcpServers, replay: false });
      const lost = { ...(loaded.mode !== mode && { mode }), ...(loaded.model !== model && { model }) };
      this.#state =
        Object.keys(lost).length > 0 ? await live.bridge.request("set", { session: this.id, ...lost }) : loaded;
    } catch (error) {
      throw toVendorError(error);
    }
    this.#live = live;
    return live;
  }

  /** A command may have changed the model or the name of the session. */
  #changed(state: BridgeSession, update: (update: SessionUpdate) => void): void {
    const before = JSON.stringify(this.configOptions());
    this.#state = state;
    const options = this.configOptions();
    if (JSON.stringify(options) === before) return;
    update({ sessionUpdate: "config_option_update", configOptions: options });
  }

  /** A run that was interrupted and does not end is ended with its Python process, where nobody else needs that. */
  #endWhenStuck(bridge: Bridge, signal: AbortSignal): { end(): void } {
    return whenStuck(signal, () => {
      if (this.#options.host.runs > 1) return "wait";
      this.#options.log(
        "a cancelled turn of Hermes does not end; its process is ended, the next prompt starts a new one",
      );
      void bridge.stop();
      return undefined;
    });
  }
}
