import { writeFile } from "node:fs/promises";
import type { Command } from "../command.js";
import { EXIT } from "../exit-codes.js";
import { readRecording } from "../record/read-recording.js";
import { styleOf } from "../style.js";
import { UsageError } from "../usage-error.js";
import { htmlTimeline } from "./html-timeline.js";
import { textTimeline } from "./text-timeline.js";
import { traceOf } from "./trace.js";
import { HELP, readTraceArguments } from "./trace-arguments.js";

/** `acp-steer trace`. */
export const traceCommand: Command = {
  help: HELP,
  run: async (args) => {
    const { recording, html, json } = readTraceArguments(args);
    const timeline = await traceOf(readRecording(recording));
    if (html !== undefined) await write(html, htmlTimeline(timeline));
    if (json) process.stdout.write(`${JSON.stringify(timeline)}\n`);
    else if (html === undefined) process.stdout.write(textTimeline(timeline, styleOf(process.stdout)));
    return EXIT.fine;
  },
};

async function write(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text);
  } catch (error) {
    throw new UsageError(`Cannot write "${file}": ${(error as Error).message}`);
  }
}
