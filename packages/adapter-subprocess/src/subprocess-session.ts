import type { Verdict } from "@acp-steering/core";
import type { SteerMessage, Turn, TurnOutcome, VendorSession } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { whenStuck, withTimeout } from "@acp-steering/kit/adapter";
import { type ChannelOptions, ChildChannel } from "./child-channel.js";

export interface SubprocessSessionOptions extends Omit<ChannelOptions, "extraArguments"> {
  readonly startTimeoutMs: number;
}

/** One ACP session over one child at a time: starts it, starts it again after it has gone, and ends it. */
export class SubprocessSession implements VendorSession {
  readonly id: string;
  readonly #options: SubprocessSessionOptions;
  #channel: ChildChannel;
  #restart: Promise<ChildChannel> | undefined;
  #closed = false;

  static async open(options: SubprocessSessionOptions): Promise<SubprocessSession> {
    const { channel, id } = await startChannel(options, []);
    return new SubprocessSession(id, channel, options);
  }

  private constructor(id: string, channel: ChildChannel, options: SubprocessSessionOptions) {
    this.id = id;
    this.#channel = channel;
    this.#options = options;
  }

  async prompt(turn: Turn): Promise<TurnOutcome> {
    const channel = await this.#living();
    if (turn.signal.aborted) return { stopReason: "cancelled" };
    // An interrupted child that does not settle is ended; the session goes on in a new one.
    const watch = whenStuck(turn.signal, () => void channel.stop());
    try {
      return await channel.session.prompt(turn);
    } catch (error) {
      if (turn.signal.aborted) return { stopReason: "cancelled" };
      throw channel.alive || this.#closed ? error : this.#childLost(error as Error);
    } finally {
      watch.end();
    }
  }

  async steer(message: SteerMessage): Promise<Verdict> {
    const channel = await (this.#restart ?? this.#channel);
    return channel.alive ? channel.session.steer(message) : "tooLate";
  }

  interrupt(): void {
    if (this.#channel.alive) this.#channel.session.interrupt();
  }

  async close(): Promise<void> {
    this.#closed = true;
    const channel = await (this.#restart ?? Promise.resolve(this.#channel)).catch(() => this.#channel);
    await channel.stop();
  }

  #living(): Promise<ChildChannel> {
    if (this.#channel.alive) return Promise.resolve(this.#channel);
    this.#restart ??= this.#startAgain().finally(() => {
      this.#restart = undefined;
    });
    return this.#restart;
  }

  async #startAgain(): Promise<ChildChannel> {
    const resumeArguments = this.#channel.session.resumeArguments() ?? [];
    this.#options.log(`starting ${this.#options.dialect.title} again for a session that lost its process`);
    const { channel } = await startChannel(this.#options, resumeArguments);
    this.#channel = channel;
    if (this.#closed) await channel.stop();
    return channel;
  }

  #childLost(error: Error): VendorError {
    const history = this.#channel.session.resumeArguments()
      ? "with the conversation so far"
      : "without the conversation so far, which was not saved";
    return new VendorError(
      `${this.#options.dialect.title} is gone in the middle of the turn: ${error.message}. The next prompt starts it again, ${history}.`,
      { data: { reason: "agentExited" }, cause: error },
    );
  }
}

async function startChannel(
  options: SubprocessSessionOptions,
  extraArguments: readonly string[],
): Promise<{ channel: ChildChannel; id: string }> {
  const { dialect, command, startTimeoutMs } = options;
  const channel = await openChannel({ ...options, extraArguments });
  try {
    const identity = await withTimeout(
      channel.session.start(),
      startTimeoutMs,
      `no answer within ${startTimeoutMs} ms`,
    );
    return { channel, id: identity.id };
  } catch (error) {
    await channel.stop();
    throw new VendorError(
      `Cannot start ${dialect.title}: ${(error as Error).message}. The command should be like \`${dialect.usage}\`. ` +
        `Try \`${command.join(" ")}\` in a terminal; if it does not work there either, install it with \`${dialect.install}\`.`,
      { data: { reason: "agentStartFailed" }, cause: error },
    );
  }
}

async function openChannel(options: ChannelOptions): Promise<ChildChannel> {
  try {
    return await ChildChannel.open(options);
  } catch (error) {
    const { message } = error as Error;
    throw new VendorError(`Cannot start ${options.dialect.title}: ${message}`, {
      data: { reason: "agentStartFailed" },
      cause: error,
    });
  }
}
