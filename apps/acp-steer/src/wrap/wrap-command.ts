import { PROXY_EXIT, runProxy } from "@acp-steering/proxy";
import type { Command } from "../command.js";
import type { Recorder } from "../record/recorder.js";
import { UsageError } from "../usage-error.js";
import { HELP, readWrapArguments, type WrapArguments } from "./wrap-arguments.js";

type Wrapped = WrapArguments["proxy"];

/** `acp-steer wrap`. */
export const wrapCommand: Command = {
  help: HELP,
  run: async (args) => {
    const { proxy, record } = readWrapArguments(args);
    const recorder = record === undefined ? undefined : await recorderOf(record, proxy);
    try {
      const code = await runProxy({ ...proxy, log, ...(recorder && { tap: recorder.tap }) });
      recorder?.end();
      // At once: output that the client does not read must not keep the process.
      process.exit(code);
    } catch (error) {
      log((error as Error).message);
      return PROXY_EXIT.notStarted;
    }
  },
};

/** Loaded only where it is wanted. */
async function recorderOf(file: string, { command, args = [], logContent = false }: Wrapped): Promise<Recorder> {
  const { startRecorder } = await import("../record/recorder.js");
  try {
    return startRecorder(file, [command, ...args], logContent);
  } catch (error) {
    throw new UsageError(`Cannot write the recording: ${(error as Error).message}`);
  }
}

function log(line: string): void {
  process.stderr.write(`acp-steer wrap: ${line.replaceAll("\n", " ")}\n`);
}
