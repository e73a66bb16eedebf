/**
 * Unknown JSON in, a value or the reason why not out. Nothing here throws, recurses, or keeps anything.
 */
import type { ContentBlock, IdleBehavior, JsonObject, RequestId } from "./protocol.js";
import { META_KEY } from "./protocol.js";

/** A value, or the first field that is wrong and what is wrong with it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Malformed;

/** The first bad field of some params. `path` is `""` for the params themselves, else like `prompt[2].text`. */
export interface Malformed {
  readonly ok: false;
  readonly path: string;
  readonly problem: string;
}

/** Params of `_session/steering` (spec §2). `bytes` is the rough size of the prompt: the UTF-16 code units of all its strings. */
export interface SteerParams {
  readonly sessionId: string;
  readonly prompt: readonly ContentBlock[];
  readonly bytes: number;
  readonly idleBehavior?: IdleBehavior;
  readonly expectedTurnId?: string;
  readonly clientMessageId?: string;
}

/** Params of `_session/steering/revoke` (spec §2). */
export interface RevokeParams {
  readonly sessionId: string;
  readonly messageId: string;
}

/** What a client says under `clientCapabilities._meta.steering`. */
export interface ClientWishes {
  readonly receipts: boolean;
  readonly echo: boolean;
}

/** A slash command of ours at the start of a text-only prompt (spec §7). */
export interface SlashCommand {
  readonly name: "steer" | "queue";
  readonly text: string;
}

/** Deeper params than this are refused (spec §2). */
export const MAX_DEPTH = 256;

const IDLE_BEHAVIORS: readonly unknown[] = ["promptRequired", "startNewTurn", "reject"] satisfies IdleBehavior[];
const REQUESTABLE_IDLE: readonly unknown[] = IDLE_BEHAVIORS.slice(0, 2);

const bad = (path: string, problem: string): Malformed => ({ ok: false, path, problem });

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Whether the JSON value nests deeper than `limit` levels, and the UTF-16 length of all its strings. */
export function measure(
  value: unknown,
  limit: number = MAX_DEPTH,
): { readonly tooDeep: boolean; readonly bytes: number } {
  let bytes = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "string") bytes += item.length;
      else if (typeof item === "object" && item !== null) {
        if (depth === limit) return { tooDeep: true, bytes };
        for (const member of Object.values(item)) next.push(member);
      }
    }
    level = next;
  }
  return { tooDeep: false, bytes };
}

const missing = (value: unknown): boolean => value === undefined || value === null;

const stringsOf: Record<ContentBlock["type"], readonly string[]> = {
  text: ["text"],
  image: ["data", "mimeType"],
  audio: ["data", "mimeType"],
  resource_link: ["name", "uri"],
  resource: [],
};

function badResource(resource: unknown, path: string): Malformed | undefined {
  if (!isObject(resource)) return bad(path, "must be an object");
  if (typeof resource["uri"] !== "string") return bad(`${path}.uri`, "must be a string");
  if (typeof resource["text"] !== "string" && typeof resource["blob"] !== "string")
    return bad(`${path}.text`, "or blob must be a string");
  return undefined;
}

function badBlock(block: unknown, path: string): Malformed | undefined {
  if (!isObject(block)) return bad(path, "must be an object");
  const type = block["type"];
  if (typeof type !== "string" || !Object.hasOwn(stringsOf, type)) return bad(`${path}.type`, "is not a content type");
  for (const name of stringsOf[type as ContentBlock["type"]])
    if (typeof block[name] !== "string") return bad(`${path}.${name}`, "must be a string");
  return type === "resource" ? badResource(block["resource"], `${path}.resource`) : undefined;
}

function badPrompt(prompt: unknown): Malformed | undefined {
  if (!Array.isArray(prompt) || prompt.length === 0) return bad("prompt", "must be a non-empty array");
  for (let index = 0; index < prompt.length; index += 1) {
    const malformed = badBlock(prompt[index], `prompt[${index}]`);
    if (malformed) return malformed;
  }
  return undefined;
}

type SteerMeta = Pick<SteerParams, "idleBehavior" | "expectedTurnId" | "clientMessageId">;

function parseSteerMeta(meta: unknown): Parsed<SteerMeta> {
  if (missing(meta)) return { ok: true, value: {} };
  if (!isObject(meta)) return bad("_meta", "must be an object");
  const steering = meta[META_KEY];
  if (missing(steering)) return { ok: true, value: {} };
  const path = `_meta.${META_KEY}`;
  if (!isObject(steering)) return bad(path, "must be an object");
  const value: Record<string, unknown> = {};
  const { idleBehavior } = steering;
  if (!missing(idleBehavior)) {
    if (!REQUESTABLE_IDLE.includes(idleBehavior))
      return bad(`${path}.idleBehavior`, `must be one of ${REQUESTABLE_IDLE.join(", ")}`);
    value["idleBehavior"] = idleBehavior;
  }
  for (const name of ["expectedTurnId", "clientMessageId"]) {
    if (missing(steering[name])) continue;
    if (typeof steering[name] !== "string") return bad(`${path}.${name}`, "must be a string");
    value[name] = steering[name];
  }
  return { ok: true, value: value as SteerMeta };
}

const identifier = (params: JsonObject, name: string): Malformed | undefined =>
  typeof params[name] === "string" && params[name] !== "" ? undefined : bad(name, "must be a non-empty string");

const badParams = (params: unknown): Malformed | undefined =>
  isObject(params) ? undefined : bad("", "must be an object");

/**
 * Reads the params of `_session/steering`.
 *
 * @returns the steer, or the first bad field in the order of spec §2. Unknown keys are ignored; `null` metadata counts as absent.
 * @example parseSteer({ sessionId: "s", prompt: [] }) // { ok: false, path: "prompt", problem: "must be a non-empty array" }
 */
export function parseSteer(params: unknown): Parsed<SteerParams> {
  const malformed =
    badParams(params) ?? identifier(params as JsonObject, "sessionId") ?? badPrompt((params as JsonObject)["prompt"]);
  if (malformed) return malformed;
  const { sessionId, prompt, _meta } = params as { sessionId: string; prompt: ContentBlock[]; _meta?: unknown };
  const meta = parseSteerMeta(_meta);
  if (!meta.ok) return meta;
  if (measure(params).tooDeep) return bad("", `must not nest deeper than ${MAX_DEPTH} levels`);
  return { ok: true, value: { sessionId, prompt, bytes: measure(prompt).bytes, ...meta.value } };
}

/** Reads the params of `_session/steering/revoke`. Other fields are ignored. */
export function parseRevoke(params: unknown): Parsed<RevokeParams> {
  const malformed =
    badParams(params) ?? identifier(params as JsonObject, "sessionId") ?? identifier(params as JsonObject, "messageId");
  if (malformed) return malformed;
  const { sessionId, messageId } = params as unknown as RevokeParams;
  return { ok: true, value: { sessionId, messageId } };
}

/** The string at `name` of some params or result, if there is one. */
export function stringAt(value: unknown, name: string): string | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === "string" ? member : undefined;
}

/** The object at the end of a path of names, or an empty one. */
export function objectAt(value: unknown, ...names: readonly string[]): JsonObject {
  let current = value;
  for (const name of names) current = isObject(current) ? current[name] : undefined;
  return isObject(current) ? current : {};
}

/** The request id at `requestId` of `$/cancel_request`, or `undefined` where there is none. */
export const cancelledId = (params: unknown): RequestId | undefined =>
  objectAt(params)["requestId"] as RequestId | undefined;

/** Reads what a client's `initialize` asks of the layer. */
export function clientWishes(params: unknown): ClientWishes {
  const steering = objectAt(params, "clientCapabilities", "_meta", META_KEY);
  return { receipts: steering["receipts"] === true, echo: steering["echo"] === true };
}

/** The blocks of a prompt, if its params have the shape that lets the layer work with them. */
export function promptBlocks(params: unknown): readonly ContentBlock[] | undefined {
  const prompt = objectAt(params)["prompt"];
  return badPrompt(prompt) ? undefined : (prompt as ContentBlock[]);
}

const COMMAND = /^\/(steer|queue)(?:\s+|$)/;

/** Recognises `/steer` and `/queue` in a prompt of text blocks only. */
export function slashCommand(prompt: readonly ContentBlock[]): SlashCommand | undefined {
  const texts: string[] = [];
  for (const block of prompt) {
    if (block.type !== "text") return undefined;
    texts.push(block.text);
  }
  const text = texts.join("\n").trim();
  const match = COMMAND.exec(text);
  return match ? { name: match[1] as SlashCommand["name"], text: text.slice(match[0].length).trim() } : undefined;
}

/** Whether the first block is text that an agent may read as a slash command. */
export const startsWithSlash = (prompt: readonly ContentBlock[]): boolean =>
  prompt[0]?.type === "text" && prompt[0].text.startsWith("/");
