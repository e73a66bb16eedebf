import { createReadStream } from "node:fs";
import { LineReader } from "@acp-steering/kit/process";
import { UsageError } from "../usage-error.js";
import { isObject, type RecordedMessage, type RecordingHead } from "./recording.js";

/**
 * What `acp-steer wrap --record` wrote. A last line that was cut off, as by `kill -9`, is left out.
 *
 * @throws UsageError where the file cannot be read or is no recording
 */
export async function* readRecording(file: string): AsyncGenerator<RecordingHead | RecordedMessage, undefined> {
  let isFirst = true;
  for await (const line of linesOf(file)) {
    const entry = parse(line);
    if (isFirst && entry?.["recording"] !== "acp-steer-1") {
      throw new UsageError(`"${file}" is no recording. Make one with: acp-steer wrap --record FILE -- <agent>`);
    }
    isFirst = false;
    if (entry) yield entry as unknown as RecordingHead | RecordedMessage;
  }
  if (isFirst) throw new UsageError(`"${file}" is empty.`);
}

async function* linesOf(file: string): AsyncGenerator<string, undefined> {
  const reader = new LineReader();
  try {
    for await (const chunk of createReadStream(file)) yield* reader.push(chunk as Buffer);
  } catch (error) {
    throw new UsageError(`Cannot read "${file}": ${(error as Error).message}`);
  }
  yield* reader.end();
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
