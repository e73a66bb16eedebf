import type { JsonObject } from "./recording.js";

/** Members whose text says how the conversation goes, and nothing of what it is about. */
const STRUCTURE: ReadonlySet<string> = new Set([
  "clientMessageId",
  "delivery",
  "detail",
  "expectedTurnId",
  "id",
  "idleBehavior",
  "jsonrpc",
  "kind",
  "messageId",
  "messageIds",
  "method",
  "optionId",
  "outcome",
  "reason",
  "requestId",
  "sessionId",
  "sessionUpdate",
  "state",
  "status",
  "stopReason",
  "toolCallId",
  "turnId",
  "type",
]);

/** Members whose inside belongs to the user, the agent or its tools: no text of it is kept, whatever its name. */
const PRIVATE: ReadonlySet<string> = new Set(["env", "headers", "mcpServers", "rawInput", "rawOutput", "data", "uri"]);

const MAX_DEPTH = 24;

/** A message with the length of each text in its place, but for what the conversation's course needs. */
export const withoutContent = (message: JsonObject): JsonObject => withoutTexts(message, 0, false, false) as JsonObject;

function withoutTexts(value: unknown, depth: number, isKept: boolean, isPrivate: boolean): unknown {
  if (typeof value === "string") return isKept ? value : `(${value.length} characters)`;
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "(nested)";
  if (Array.isArray(value)) return value.map((item) => withoutTexts(item, depth + 1, isKept, isPrivate));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const isInside = isPrivate || PRIVATE.has(name);
      return [name, withoutTexts(member, depth + 1, STRUCTURE.has(name) && !isInside, isInside)];
    }),
  );
}
