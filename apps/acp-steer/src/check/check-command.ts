import { writeFile } from "node:fs/promises";
import { CheckError, type CheckReport, check } from "@acp-steering/testkit";
import type { Command } from "../command.js";
import { signalOfCtrlC } from "../ctrl-c.js";
import { EXIT } from "../exit-codes.js";
import { styleOf } from "../style.js";
import { type CheckArguments, HELP, readCheckArguments } from "./check-arguments.js";
import { junitOf } from "./junit.js";
import { Progress } from "./progress.js";
import { tableOf } from "./table.js";

/** `acp-steer check`. */
export const checkCommand: Command = {
  help: HELP,
  run: async (args) => {
    const given = readCheckArguments(args);
    const progress = new Progress(process.stderr);
    try {
      const onEvent = progress.onEvent.bind(progress);
      const report = await check({ ...given.options, onEvent, signal: signalOfCtrlC(EXIT.interrupted) });
      progress.end();
      await show(report, given);
      return report.conformant ? EXIT.fine : EXIT.notFine;
    } catch (error) {
      progress.end();
      if (!(error instanceof CheckError)) throw error;
      process.stderr.write(`acp-steer check: ${error.message}\n`);
      return error.code === "interrupted" ? EXIT.interrupted : EXIT.notRun;
    }
  },
};

async function show(report: CheckReport, { json, junit }: CheckArguments): Promise<void> {
  const table = tableOf(report, styleOf(json === "-" ? process.stderr : process.stdout));
  // Whoever asked for JSON on stdout wants nothing else there.
  (json === "-" ? process.stderr : process.stdout).write(table);
  if (json === "-") process.stdout.write(`${JSON.stringify(report)}\n`);
  else if (json !== undefined) await write(json, `${JSON.stringify(report, null, 2)}\n`);
  if (junit !== undefined) await write(junit, junitOf(report));
}

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new CheckError("setup", `Cannot write "${file}": ${(error as Error).message}`);
  }
}
