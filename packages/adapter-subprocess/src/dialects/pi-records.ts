/** The shapes of Pi's records that the adapter reads, each taken out of `unknown` in one place. */

import { isRecord, type JsonRecord, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";

export interface PiContent {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly data?: string;
  readonly mimeType?: string;
  readonly id?: string;
  readonly name?: string;
  readonly arguments?: unknown;
}

export interface PiUsage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly totalTokens: number;
}

export interface PiMessageRecord {
  readonly role: string;
  readonly content: readonly PiContent[];
  readonly stopReason?: string;
  readonly errorMessage?: string;
  readonly usage?: PiUsage;
  /** What an extension put into the conversation: whether people are to see it. */
  readonly display: boolean;
}

/** A model as Pi lists it. */
export interface PiModel {
  /** Provider and id, which together name it. */
  readonly provider: string;
  readonly id: string;
  readonly name: string;
  /** How hard it can be told to think, as far as the model's own record says. */
  readonly thinkingLevels: readonly string[];
}

export interface PiState {
  readonly sessionId: string;
  readonly sessionFile: string | undefined;
  readonly model: PiModel | undefined;
  readonly thinkingLevel: string;
  readonly isStreaming: boolean;
  readonly isCompacting: boolean;
  readonly messageCount: number;
  /** In tokens; 0 when Pi does not know it. */
  readonly contextWindow: number;
}

export function readMessage(value: unknown): PiMessageRecord {
  const message = recordOf(value);
  const usage = isRecord(message["usage"]) ? { usage: readUsage(message["usage"]) } : {};
  return {
    role: textOf(message["role"]),
    content: readContent(message["content"]),
    display: message["display"] === true,
    ...(typeof message["stopReason"] === "string" && { stopReason: message["stopReason"] }),
    ...(typeof message["errorMessage"] === "string" && { errorMessage: message["errorMessage"] }),
    ...usage,
  };
}

export function readContent(value: unknown): PiContent[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return Array.isArray(value) ? value.filter(isContent) : [];
}

export function readState(value: unknown): PiState {
  const state = recordOf(value);
  const sessionFile = textOf(state["sessionFile"]);
  return {
    sessionId: textOf(state["sessionId"]),
    sessionFile: sessionFile === "" ? undefined : sessionFile,
    model: isRecord(state["model"]) ? readModel(state["model"]) : undefined,
    thinkingLevel: textOf(state["thinkingLevel"]) || "off",
    isStreaming: state["isStreaming"] === true,
    isCompacting: state["isCompacting"] === true,
    messageCount: numberOf(state["messageCount"]),
    contextWindow: numberOf(recordOf(state["model"])["contextWindow"]),
  };
}

/** The answer to `get_available_models`. */
export function readModels(value: unknown): PiModel[] {
  return listOf(recordOf(value)["models"]).map((model) => readModel(recordOf(model)));
}

/** The answer to `get_commands`. */
export function readCommands(value: unknown): { name: string; description: string }[] {
  return listOf(recordOf(value)["commands"]).map((command) => {
    const { name, description, source } = recordOf(command);
    return { name: textOf(name), description: textOf(description) || `A command of Pi (${textOf(source)})` };
  });
}

/** The ids of the user messages on the active branch, the answer to `get_fork_messages`. */
export function readForkEntries(value: unknown): string[] {
  const { messages } = recordOf(value);
  return Array.isArray(messages) ? messages.map((message) => textOf(recordOf(message)["entryId"])) : [];
}

/** The text of a user message as Pi compares it: its text blocks joined. */
export function plainText(message: PiMessageRecord): string {
  return message.content.map((content) => content.text ?? "").join("");
}

export function listOfTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"];

function readModel(model: JsonRecord): PiModel {
  const { provider, id, name, reasoning } = model;
  const map = recordOf(model["thinkingLevelMap"]);
  const levels = THINKING_LEVELS.filter((level) => map[level] !== null && (level !== "xhigh" || level in map));
  return {
    provider: textOf(provider),
    id: textOf(id),
    name: textOf(name) || textOf(id),
    thinkingLevels: reasoning === true ? levels : ["off"],
  };
}

function isContent(value: unknown): value is PiContent {
  return isRecord(value) && typeof value["type"] === "string";
}

function readUsage(usage: JsonRecord): PiUsage {
  return {
    input: numberOf(usage["input"]),
    output: numberOf(usage["output"]),
    cacheRead: numberOf(usage["cacheRead"]),
    cacheWrite: numberOf(usage["cacheWrite"]),
    totalTokens: numberOf(usage["totalTokens"]),
  };
}
