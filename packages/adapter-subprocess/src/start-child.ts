import { VendorError } from "@acp-steering/kit";
import { withTimeout } from "@acp-steering/kit/adapter";
import { type ChannelOptions, ChildChannel } from "./child-channel.js";
import type { Channel, Listener } from "./dialect.js";

export interface StartOptions extends ChannelOptions {
  /** How long the child may take to answer, in milliseconds. */
  readonly startTimeoutMs: number;
}

export interface StartedChild<Hearer extends Listener, Answer> {
  readonly channel: ChildChannel<Hearer>;
  readonly answer: Answer;
}

/**
 * Starts a child and waits for what it answers first.
 *
 * @param greet says what that is; the child is ended when it rejects or takes too long
 * @throws VendorError that says what to try and what to install; a VendorError of `greet` as it is
 */
export async function startChild<Hearer extends Listener, Answer>(
  options: StartOptions,
  listen: (channel: Channel) => Hearer,
  greet: (listener: Hearer) => Promise<Answer>,
): Promise<StartedChild<Hearer, Answer>> {
  const { startTimeoutMs } = options;
  const channel = await openChannel(options, listen);
  try {
    const late = `no answer within ${startTimeoutMs} ms`;
    return { channel, answer: await withTimeout(greet(channel.listener), startTimeoutMs, late) };
  } catch (error) {
    await channel.stop();
    throw error instanceof VendorError ? error : notStarted(options, error as Error);
  }
}

async function openChannel<Hearer extends Listener>(
  options: ChannelOptions,
  listen: (channel: Channel) => Hearer,
): Promise<ChildChannel<Hearer>> {
  try {
    return await ChildChannel.open(options, listen);
  } catch (error) {
    const { message } = error as Error;
    throw new VendorError(`Cannot start ${options.dialect.title}: ${message}`, {
      data: { reason: "agentStartFailed" },
      cause: error,
    });
  }
}

function notStarted({ dialect, command }: ChannelOptions, cause: Error): VendorError {
  const { title, usage, install } = dialect;
  const next = install ? `; if it does not work there either, install it with \`${install}\`` : "";
  return new VendorError(
    `Cannot start ${title}: ${cause.message}. The command should be like \`${usage}\`. ` +
      `Try \`${command.join(" ")}\` in a terminal${next}.`,
    { data: { reason: "agentStartFailed" }, cause },
  );
}
