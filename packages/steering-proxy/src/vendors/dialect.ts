import type { ContentBlock, SteeringDriver } from "@acp-steering/core";
import { type JsonRecord, recordOf } from "@acp-steering/kit/adapter";
import type { VendorSteering } from "../vendor-steering.js";

type Supports = SteeringDriver["supports"];

/** How agents of one kind are steered, and how they are told from others. */
export interface Dialect extends Pick<VendorSteering, "name" | "connect"> {
  /** `assumed` where the agent never says what became of a steer that it has taken. */
  readonly delivery: NonNullable<Supports["delivery"]>;
  readonly boundary: Supports["boundary"];
  /** Whether the agent's `initialize` result shows that it speaks this dialect. */
  recognises(initializeResult: JsonRecord): boolean;
  /** What a steer may consist of. */
  content(initializeResult: JsonRecord): Supports["content"];
}

/** The object that stands there, or an empty one. */
export const recordAt = (value: unknown, ...path: readonly string[]): JsonRecord =>
  path.reduce((record, name) => recordOf(record[name]), recordOf(value));

/** What the agent says of itself below `agentCapabilities._meta`. */
export const capabilitiesMeta = (initializeResult: JsonRecord): JsonRecord =>
  recordAt(initializeResult, "agentCapabilities", "_meta");

/** The name that the agent gives itself. */
export const agentName = (initializeResult: JsonRecord): unknown => recordAt(initializeResult, "agentInfo")["name"];

/** What the agent takes in a prompt, it takes in a steer. */
export function asInPrompts(initializeResult: JsonRecord): Supports["content"] {
  const { image, audio, embeddedContext } = recordAt(initializeResult, "agentCapabilities", "promptCapabilities");
  return [
    "text",
    "resource_link",
    ...(image ? (["image"] as const) : []),
    ...(audio ? (["audio"] as const) : []),
    ...(embeddedContext ? (["resource"] as const) : []),
  ];
}

export const onlyText = (): Supports["content"] => ["text"];

/** The blocks of a steer that consists of text, each on a line of its own. */
export const joinedText = (prompt: readonly ContentBlock[]): string =>
  prompt.map((block) => (block.type === "text" ? block.text : "")).join("\n");
