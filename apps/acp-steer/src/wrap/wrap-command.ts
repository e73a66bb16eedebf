import { PROXY_EXIT, runProxy } from "@acp-steering/proxy";
import type { Command } from "../command.js";
import { HELP, readWrapArguments } from "./wrap-arguments.js";

/** `acp-steer wrap`. */
export const wrapCommand: Command = {
  help: HELP,
  run: async (args) => {
    const given = readWrapArguments(args);
    try {
      // At once: output that the client does not read must not keep the process.
      process.exit(await runProxy({ ...given, log }));
    } catch (error) {
      log((error as Error).message);
      return PROXY_EXIT.notStarted;
    }
  },
};

function log(line: string): void {
  process.stderr.write(`acp-steer wrap: ${line.replaceAll("\n", " ")}\n`);
}
