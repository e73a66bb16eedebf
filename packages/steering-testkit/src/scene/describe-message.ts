import type { ModelRequest, Reply } from "../model-server/index.js";
import { mentions, STEER } from "./story.js";

/** A message in two columns: what it is, and what it says. */
export interface Description {
  readonly name: string;
  readonly text: string;
  readonly about?: "steer";
  readonly chunk?: boolean;
}

interface Message {
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

type Fields = Record<string, unknown>;

/** Puts the ACP messages of one scene into words. */
export class Describer {
  readonly #project: string;
  // An update of a tool call names only its id.
  readonly #titles = new Map<unknown, string>();

  /** @param project the folder whose path is left out of what is shown */
  constructor(project: string) {
    this.#project = project;
  }

  /** @param requestMethod for an answer: the method of the request that it answers */
  describe(message: Message, requestMethod?: string): Description {
    const params = (message.params ?? {}) as Fields;
    const described =
      message.method === undefined
        ? describeAnswer(message, requestMethod)
        : this.#describeCall(message.method, params);
    const text = described.text.replaceAll(`${this.#project}/`, "");
    const isAboutSteer = isSteerMethod(message.method ?? requestMethod, params);
    return { ...described, text, ...(isAboutSteer && { about: "steer" }) };
  }

  #describeCall(method: string, params: Fields): Description {
    if (method !== "session/update") return describeCall(method, params);
    const update = (params["update"] ?? {}) as Fields;
    const { toolCallId, title } = update;
    if (typeof title === "string") this.#titles.set(toolCallId, title);
    return describeUpdate(update, this.#titles.get(toolCallId) ?? "");
  }
}

// Receipts of whole turns carry no message id.
const isSteerMethod = (method: string | undefined, params: Fields): boolean =>
  method === "_session/steering" || (method === "_session/steering/update" && params["messageId"] !== undefined);

/** Puts a request to the model into words; `number` counts from 1. */
export function describeModelRequest(request: ModelRequest, isSteerNew: boolean): Description {
  const { messages } = request;
  const counted = `${messages.length} messages`;
  if (isSteerNew) {
    const place = messages.findLastIndex(mentions(STEER)) + 1;
    return { name: modelRequestName(request), text: `${counted}; no. ${place} is the steer`, about: "steer" };
  }
  return { name: modelRequestName(request), text: `${counted}; the last: ${messages.at(-1)?.role ?? "none"}` };
}

/** Puts an answer of the model into words. */
export function describeReply(request: ModelRequest, reply: Reply): Description {
  const texts = reply.text === undefined ? [] : [quote([reply.text].flat().join(""))];
  const calls = (reply.toolCalls ?? []).map(({ name, arguments: given }) => `calls ${name} ${JSON.stringify(given)}`);
  const held = reply.hold === undefined ? [] : ["(held open)"];
  return { name: `answer ${request.index + 1}`, text: [...texts, ...held, ...calls].join(" ") };
}

const modelRequestName = ({ index }: ModelRequest): string => `request ${index + 1}`;

function describeAnswer({ result, error }: Message, requestMethod = "a request"): Description {
  const name = `answer: ${requestMethod}`;
  if (error !== undefined) return { name, text: `error ${error.code}: ${error.message}` };
  const fields = (result ?? {}) as Fields;
  switch (requestMethod) {
    case "initialize":
      return { name, text: describeAdvertisement(fields) };
    case "session/new":
      return { name, text: `session ${String(fields["sessionId"])}` };
    case "session/prompt":
      return { name, text: String(fields["stopReason"]) };
    case "_session/steering":
      return { name, text: [fields["outcome"], fields["reason"]].filter(Boolean).join(", ") };
    default:
      return { name, text: brief(fields) };
  }
}

function describeAdvertisement(result: Fields): string {
  const steering = (result["_meta"] as Fields | null | undefined)?.["steering"];
  const agent = (result["agentInfo"] as Fields | null | undefined)?.["name"] ?? "an unnamed agent";
  return `${String(agent)}; _meta.steering ${steering === undefined ? "is not there" : JSON.stringify(steering)}`;
}

function describeCall(method: string, fields: Fields): Description {
  switch (method) {
    case "session/prompt":
    case "_session/steering":
      return { name: method, text: quote(promptText(fields["prompt"])) };
    case "_session/steering/update":
      return {
        name: method,
        text: [fields["state"], fields["reason"], fields["stopReason"]].filter(Boolean).join(", "),
      };
    case "session/request_permission":
      return { name: method, text: String((fields["toolCall"] as Fields | undefined)?.["title"] ?? "") };
    case "initialize":
      return { name: method, text: `protocol ${String(fields["protocolVersion"])}` };
    case "session/new":
      return { name: method, text: `in ${String(fields["cwd"])}` };
    default:
      return { name: method, text: brief(fields) };
  }
}

function describeUpdate(update: Fields, toolTitle: string): Description {
  const kind = String(update["sessionUpdate"]);
  switch (kind) {
    case "agent_message_chunk":
    case "agent_thought_chunk":
    case "user_message_chunk":
      return { name: kind, text: contentText(update["content"]), chunk: true };
    case "tool_call":
    case "tool_call_update":
      return { name: kind, text: describeToolCall(update, toolTitle) };
    case "available_commands_update":
      return { name: kind, text: commandNames(update["availableCommands"]) };
    default: {
      const { sessionUpdate: _, ...rest } = update;
      return { name: kind, text: brief(rest) };
    }
  }
}

function describeToolCall(update: Fields, title: string): string {
  const kind = update["kind"] === undefined || update["kind"] === null ? "" : `[${String(update["kind"])}]`;
  const contents = Array.isArray(update["content"]) ? (update["content"] as Fields[]) : [];
  const shown = contents.map((content) =>
    content["type"] === "diff" ? `diff of ${String(content["path"])}` : quote(contentText(content["content"]).trim()),
  );
  return [update["status"], kind, title, ...shown].filter(Boolean).join(" ");
}

function contentText(content: unknown): string {
  const { type, text } = (content ?? {}) as Fields;
  return typeof text === "string" ? text : `(${String(type)})`;
}

const commandNames = (commands: unknown): string =>
  Array.isArray(commands) ? commands.map(({ name }: { name?: unknown }) => `/${String(name)}`).join(" ") : "";
const promptText = (prompt: unknown): string => (Array.isArray(prompt) ? prompt.map(contentText).join(" ") : "");
const quote = (text: string): string => `“${text}”`;
const brief = (fields: Fields): string => (Object.keys(fields).length === 0 ? "" : JSON.stringify(fields));
