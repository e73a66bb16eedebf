import type { Steerable } from "@acp-steering/core";
import { stdioStream } from "./stdio-stream.js";

/** What `serveStdio` serves: any steerable; one with `dispose()` is disposed of at the end. */
export interface Servable extends Pick<Steerable, "connect"> {
  dispose?(): Promise<void>;
}

/**
 * Serves an agent on stdin and stdout until the client is gone or the process is told to stop (SIGTERM, SIGINT, SIGHUP),
 * then disposes of it and sets the exit code: 0 after the end of input, 1 after input that
 * cannot be read, 128 plus the signal's number after a signal.
 *
 * stdout belongs to the protocol, so `console.log`, `console.info` and `console.debug` write to stderr from here on.
 *
 * @example
 * ```ts
 * await serveStdio(steeringAgent(vendor));
 * process.exit();
 * ```
 */
export async function serveStdio(agent: Servable): Promise<void> {
  protectStdout();
  const told = toldToStop();
  const unreadable = (error: Error): void => {
    console.error(`The client's input cannot be read any further: ${error.message}. The connection ends.`);
    told.stop(UNREADABLE_INPUT_EXIT_CODE);
  };
  const connection = agent.connect(stdioStream(process.stdin, process.stdout, unreadable));
  // The client may close its reading end first; that is the end of the conversation, not a crash.
  process.stdout.on("error", () => told.stop(0));
  // Nobody has to read what we log.
  process.stderr.on("error", () => {});
  process.exitCode = await Promise.race([connection.closed.then(() => 0), told.code]);
  await agent.dispose?.();
}

function protectStdout(): void {
  for (const method of ["log", "info", "debug"] as const) console[method] = console.error;
}

const UNREADABLE_INPUT_EXIT_CODE = 1;
const SIGNAL_EXIT_CODES = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

function toldToStop(): { code: Promise<number>; stop: (code: number) => void } {
  let stop: (code: number) => void = () => {};
  const code = new Promise<number>((resolve) => {
    stop = resolve;
  });
  for (const [signal, exitCode] of Object.entries(SIGNAL_EXIT_CODES)) process.once(signal, () => stop(exitCode));
  return { code, stop };
}
