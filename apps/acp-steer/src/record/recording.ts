import type { Flow } from "@acp-steering/proxy";

/** The first line of a recording. */
export interface RecordingHead {
  readonly recording: "acp-steer-1";
  /** When it began, ISO 8601. */
  readonly started: string;
  /** The wrapped command; without its arguments where content was left out. */
  readonly command: readonly string[];
  /** Whether the texts of messages are in it. */
  readonly content: boolean;
}

/** One message, as it passed: a line of a recording. */
export interface RecordedMessage {
  /** Milliseconds since the recording began. */
  readonly at: number;
  readonly flow: Flow;
  /** Absent where the line was no JSON object. */
  readonly message?: JsonObject;
  /** The length of the line. */
  readonly bytes: number;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const objectAt = (value: unknown, ...path: readonly string[]): JsonObject => {
  let at = value;
  for (const name of path) at = isObject(at) ? at[name] : undefined;
  return isObject(at) ? at : {};
};

export const textAt = (value: unknown, name: string): string | undefined => {
  const text = objectAt(value)[name];
  return typeof text === "string" ? text : undefined;
};
