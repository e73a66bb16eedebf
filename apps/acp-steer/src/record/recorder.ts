import { closeSync, openSync, writeSync } from "node:fs";
import type { Flow } from "@acp-steering/proxy";
import { isObject, type RecordedMessage, type RecordingHead } from "./recording.js";
import { withoutContent } from "./without-content.js";

/** Written to the file at once where this much waits, in characters. */
const FLUSH_AT = 64 * 1024;
/** Nothing waits longer than this, in milliseconds. */
const FLUSH_AFTER_MS = 100;

export interface Recorder {
  /** Takes one line, as the proxy's tap gives it. */
  readonly tap: (flow: Flow, line: Uint8Array) => void;
  /** Writes what waits, and closes the file. */
  end(): void;
}

/**
 * Writes the wire of a proxy to a file, with times: one JSON object a line, {@link RecordingHead} first, then
 * {@link RecordedMessage}s.
 *
 * @throws Error where the file cannot be written
 */
export function startRecorder(file: string, command: readonly string[], keepContent: boolean): Recorder {
  const descriptor = openSync(file, "w");
  const begun = performance.now();
  let waiting = "";
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    writeSync(descriptor, waiting);
    waiting = "";
  };
  const add = (entry: RecordingHead | RecordedMessage): void => {
    waiting += `${JSON.stringify(entry)}\n`;
    if (waiting.length >= FLUSH_AT) flush();
    timer ??= setTimeout(flush, FLUSH_AFTER_MS);
  };
  add({
    recording: "acp-steer-1",
    started: new Date().toISOString(),
    command: keepContent ? command : command.slice(0, 1),
    content: keepContent,
  });
  return {
    tap: (flow, line) => {
      const at = Math.round((performance.now() - begun) * 1_000) / 1_000;
      const message = parse(line);
      const bytes = line.byteLength;
      add(
        message ? { at, flow, message: keepContent ? message : withoutContent(message), bytes } : { at, flow, bytes },
      );
    },
    end: () => {
      flush();
      closeSync(descriptor);
    },
  };
}

function parse(line: Uint8Array): RecordedMessage["message"] {
  try {
    const value: unknown = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString("utf8"));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
