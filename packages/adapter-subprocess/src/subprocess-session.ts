import type { Verdict } from "@acp-steering/core";
import type { ConfigChange, SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { whenStuck } from "@acp-steering/kit/adapter";
import type { ChildChannel } from "./child-channel.js";
import type { Agent, Conversation, DialectSession, Opening, SessionUpdate } from "./dialect.js";
import { type StartOptions, startChild } from "./start-child.js";

export interface SubprocessSessionOptions extends Omit<StartOptions, "extraArguments" | "cwd"> {
  readonly agent: Agent;
  readonly opening: Opening;
  /** Called once, when the session is over. */
  readonly released: (id: string) => void;
}

/** One ACP session over one child at a time: starts it, starts it again after it has gone, and ends it. */
export class SubprocessSession implements VendorSession {
  readonly id: string;
  /** What a session of the dialect has beside prompts, and no other member. */
  readonly configOptions?: NonNullable<VendorSession["configOptions"]>;
  readonly setConfigOption?: NonNullable<VendorSession["setConfigOption"]>;
  readonly modes?: NonNullable<VendorSession["modes"]>;
  readonly setMode?: NonNullable<VendorSession["setMode"]>;
  readonly steer?: NonNullable<VendorSession["steer"]>;
  readonly #options: SubprocessSessionOptions;
  #channel: ChildChannel<DialectSession>;
  #restart: Promise<ChildChannel<DialectSession>> | undefined;
  #send: ((update: SessionUpdate) => void) | undefined;
  #closed = false;

  static async open(options: SubprocessSessionOptions): Promise<SubprocessSession> {
    const { opening } = options;
    const { channel, answer } = await openConversation(options, opening);
    // A session that is opened again keeps the name that the client knows.
    const again = opening.kind === "load" || opening.kind === "resume";
    return new SubprocessSession(again ? opening.conversation.id : answer.id, channel, options);
  }

  private constructor(id: string, channel: ChildChannel<DialectSession>, options: SubprocessSessionOptions) {
    this.id = id;
    this.#channel = channel;
    this.#options = options;
    const { configOptions, setConfigOption, modes, setMode, steer } = channel.listener;
    if (configOptions) this.configOptions = () => this.#session.configOptions?.() ?? [];
    if (setConfigOption) this.setConfigOption = (change) => this.#setConfigOption(change);
    if (modes) this.modes = () => this.#session.modes?.() ?? { currentModeId: "", availableModes: [] };
    if (setMode) this.setMode = (modeId) => this.#setMode(modeId);
    if (steer) this.steer = (message) => this.#steer(message);
  }

  get commands(): NonNullable<VendorSession["commands"]> {
    return this.#session.commands ?? [];
  }

  attach(send: (update: SessionUpdate) => void): void {
    this.#send = send;
    this.#session.attach?.(send);
  }

  /** Gives what was said so far, where the dialect can. */
  async replay(show: (update: SessionUpdate) => void): Promise<void> {
    await (await this.#living()).listener.replay?.(show);
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const channel = await this.#living();
    if (turn.signal.aborted) return { stopReason: "cancelled" };
    // An interrupted child that does not settle is ended; the session goes on in a new one.
    const watch = whenStuck(turn.signal, () => void channel.stop());
    try {
      return await channel.listener.prompt(turn);
    } catch (error) {
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      // What the dialect itself has to say of the turn counts, also where it has ended the child over it.
      const isSaid = error instanceof VendorError || channel.alive || this.#closed;
      throw isSaid ? error : this.#childLost(error as Error);
    } finally {
      watch.end();
    }
  }

  interrupt(): void {
    if (this.#channel.alive) this.#session.interrupt();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const channel = await (this.#restart ?? Promise.resolve(this.#channel)).catch(() => this.#channel);
    try {
      if (channel.alive) await channel.listener.close?.();
    } finally {
      await channel.stop();
      this.#options.released(this.id);
    }
  }

  get #session(): DialectSession {
    return this.#channel.listener;
  }

  async #steer(message: SteerMessage): Promise<Verdict> {
    const { alive, listener } = await (this.#restart ?? this.#channel);
    return alive && listener.steer ? listener.steer(message) : "tooLate";
  }

  async #setConfigOption(change: ConfigChange): Promise<void> {
    await (await this.#living()).listener.setConfigOption?.(change);
  }

  async #setMode(modeId: string): Promise<void> {
    await (await this.#living()).listener.setMode?.(modeId);
  }

  #living(): Promise<ChildChannel<DialectSession>> {
    if (this.#channel.alive) return Promise.resolve(this.#channel);
    this.#restart ??= this.#startAgain().finally(() => {
      this.#restart = undefined;
    });
    return this.#restart;
  }

  async #startAgain(): Promise<ChildChannel<DialectSession>> {
    const { dialect, log, opening } = this.#options;
    const { cwd, mcpServers, additionalDirectories } = opening;
    const place = { cwd, mcpServers, additionalDirectories };
    const conversation = this.#session.conversation();
    log(`starting ${dialect.title} again for a session that lost its process`);
    const { channel } = await openConversation(
      this.#options,
      conversation ? { ...place, kind: "resume", conversation } : { ...place, kind: "new" },
    );
    this.#channel = channel;
    if (this.#closed) await channel.stop();
    else if (this.#send) channel.listener.attach?.(this.#send);
    return channel;
  }

  #childLost(error: Error): VendorError {
    const history = this.#session.conversation()
      ? "with the conversation so far"
      : "without the conversation so far, which was not saved";
    return new VendorError(
      `${this.#options.dialect.title} is gone in the middle of the turn: ${error.message}. The next prompt starts it again, ${history}.`,
      { data: { reason: "agentExited" }, cause: error },
    );
  }
}

async function openConversation(
  options: SubprocessSessionOptions,
  opening: Opening,
): Promise<{ channel: ChildChannel<DialectSession>; answer: Conversation }> {
  const { dialect, agent } = options;
  const extraArguments = (await dialect.arguments?.(opening, agent)) ?? [];
  const start = { ...options, cwd: opening.cwd, extraArguments };
  return startChild(
    start,
    (channel) => dialect.session(channel, agent),
    (session) => session.start(opening),
  );
}
