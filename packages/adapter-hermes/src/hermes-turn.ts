import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome } from "@acp-steering/kit";
import { BridgeRefusal, toVendorError } from "./bridge-error.js";
import type { LiveBridge } from "./bridge-host.js";
import type { BridgeSession, BridgeTurn, SessionEvent } from "./bridge-protocol.js";
import { toHermesContent } from "./content.js";
import { HermesUpdates } from "./hermes-updates.js";
import { Permissions } from "./permissions.js";
import type { SlashCommand } from "./slash-command.js";
import { TurnSteers } from "./turn-steers.js";

export interface HermesTurnOptions {
  readonly live: LiveBridge;
  readonly session: string;
  /** Unique among the turns of the session. */
  readonly id: string;
  readonly turn: Turn;
  /** Called when the bridge has the prompt: it takes steers from then on. */
  readonly onSent: () => void;
}

/** One prompt in Hermes, until Hermes has answered for it. */
export class HermesTurn {
  readonly #options: HermesTurnOptions;
  readonly #updates: HermesUpdates;
  readonly #permissions: Permissions;
  readonly #steers: TurnSteers;
  #interrupted = false;
  #sent = false;

  constructor(options: HermesTurnOptions) {
    const { live, session, id, turn } = options;
    const { bridge, ready } = live;
    this.#options = options;
    this.#updates = new HermesUpdates(turn.update);
    this.#permissions = new Permissions(turn, (ask, choice) => bridge.answer(ask, choice));
    this.#steers = new TurnSteers({ bridge, session, turn: id, redirect: ready.redirect });
  }

  get id(): string {
    return this.#options.id;
  }

  /** Runs the prompt. Every steer has been answered for when it resolves or rejects. */
  async prompt(): Promise<TurnOutcome> {
    const { live, session, id, turn } = this.#options;
    const { content, text } = await toHermesContent(turn.prompt);
    if (this.#interrupted) return this.#end({ stopReason: "cancelled", usage: null, delivered: [], undelivered: [] });
    try {
      const answer = live.bridge.request("prompt", { session, turn: id, content, text });
      this.#handedOver();
      return this.#end(await answer);
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Runs one of Hermes' slash commands. @returns the session as it is afterwards; none where it was cancelled */
  async command({ name, args }: SlashCommand): Promise<BridgeSession | undefined> {
    const { live, session, id } = this.#options;
    if (this.#interrupted) return undefined;
    try {
      const answer = live.bridge.request("command", { session, turn: id, name, args });
      this.#handedOver();
      const { text, session: state } = await answer;
      this.#updates.event({ type: "text", text });
      this.#close([], []);
      return state;
    } catch (error) {
      this.#failed(error);
      return undefined;
    }
  }

  steer(message: SteerMessage): Promise<Verdict> {
    return this.#steers.steer(message);
  }

  /** Never while Hermes is idle: it would stop the next prompt. The bridge leaves every other turn alone. */
  interrupt(): void {
    this.#interrupted = true;
    const { live, session, id } = this.#options;
    if (this.#sent) live.bridge.request("interrupt", { session, turn: id }).catch(() => {});
  }

  event(event: SessionEvent): void {
    switch (event.type) {
      case "ask":
        return void this.#permissions.ask(event);
      case "ask_closed":
        return this.#permissions.withdraw(event);
      case "delivered":
        this.#updates.interrupted();
        return this.#steers.delivered(event.steers);
      default:
        return this.#updates.event(event);
    }
  }

  drained(): Promise<void> {
    return this.#options.turn.flushed();
  }

  #handedOver(): void {
    this.#sent = true;
    this.#options.onSent();
  }

  #end({ stopReason, usage, delivered, undelivered }: BridgeTurn): TurnOutcome {
    this.#close(delivered, undelivered);
    return usage ? { stopReason, usage } : { stopReason };
  }

  /** What Hermes says of a run that was stopped is not the user's concern. */
  #failed(error: unknown): TurnOutcome {
    const { delivered, undelivered } = error instanceof BridgeRefusal ? error : { delivered: [], undelivered: [] };
    this.#close(delivered, undelivered);
    if (this.#interrupted) return { stopReason: "cancelled" };
    throw toVendorError(error);
  }

  #close(delivered: readonly string[], undelivered: readonly string[]): void {
    this.#permissions.end();
    this.#updates.end();
    this.#steers.close(delivered, undelivered);
  }
}
