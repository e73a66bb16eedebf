import { PROXY_EXIT, type ProxyOptions } from "./options.js";
import { Relay } from "./relay.js";

/** A proxy that runs. */
export interface RunningProxy {
  /** Resolves with its exit code ({@link PROXY_EXIT}) when it has ended, and its agent with it. */
  readonly ended: Promise<number>;
  /** Ends the agent with everything that it started, and then the proxy with that exit code. */
  stop(exitCode?: number): Promise<void>;
}

/**
 * Puts the steering layer in front of an ACP agent process, between a client's two byte streams.
 *
 * Everything that the layer does not need passes as it is, in both directions, byte for byte. Guarantees G1-G8: spec §3.
 *
 * @returns the proxy, whose agent was started
 * @throws ExecutableNotFoundError, or an Error naming the command, where the agent cannot be started
 * @example
 * ```ts
 * const proxy = await createProxy({ command: "goose", args: ["acp"], input: process.stdin, output: process.stdout });
 * process.exitCode = await proxy.ended;
 * ```
 */
export async function createProxy(options: ProxyOptions): Promise<RunningProxy> {
  const relay = new Relay(options);
  await relay.start();
  return { ended: relay.ended, stop: (exitCode = PROXY_EXIT.clientEnded) => relay.stop(exitCode) };
}

const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

/**
 * {@link createProxy} as this whole process: stdin and stdout are the client's, the agent's stderr is ours, and a signal
 * ends the agent first.
 *
 * @returns the exit code. Exit at once with it: what a client does not read must not keep the process.
 * @throws as {@link createProxy}
 * @example
 * ```ts
 * process.exit(await runProxy({ command: "goose", args: ["acp"] }));
 * ```
 */
export async function runProxy(options: Omit<ProxyOptions, "input" | "output" | "errorOutput">): Promise<number> {
  const { stdin: input, stdout: output, stderr: errorOutput } = process;
  // Nobody has to read what we log.
  errorOutput.on("error", () => {});
  const proxy = await createProxy({ ...options, input, output, errorOutput });
  for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES))
    process.once(signal, () => void proxy.stop(exitCode));
  return proxy.ended;
}
