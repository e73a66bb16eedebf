/**
 * Unknown JSON in, a value or the reason why not out. Nothing here throws, recurses, or keeps anything.
 */
import { malformed } from "./errors.js";
import type { ContentBlock, ContentType, IdleBehavior, JsonObject, RequestId, RpcError } from "./protocol.js";
import { META_KEY } from "./protocol.js";

/** What params of `_session/steering` say of themselves. `null` counts as absent. */
export interface SteerMeta {
  readonly idleBehavior?: IdleBehavior | null;
  readonly expectedTurnId?: string | null;
  readonly clientMessageId?: string | null;
}

/** A slash command of ours at the start of a text-only prompt (spec §7). */
export interface SlashCommand {
  readonly name: "steer" | "queue";
  readonly text: string;
}

/** Deeper params than this are refused (spec §2). */
export const MAX_DEPTH = 256;

/** What a request may ask for; `reject` is an adapter's to choose. */
const REQUESTABLE_IDLE: readonly unknown[] = ["promptRequired", "startNewTurn"] satisfies IdleBehavior[];

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isString = (value: unknown): value is string => typeof value === "string";

/** The UTF-16 length of all strings in a JSON value; one that nests too deep weighs more than any bound. */
export const weightOf = (value: unknown): number => {
  let weight = 0;
  let level = [value];
  for (let depth = 0; ; depth += 1) {
    for (const item of level) if (isString(item)) weight += item.length;
    const nested = level.filter((item) => Object(item) === item) as object[];
    if (nested.length === 0) return weight;
    if (depth === MAX_DEPTH) return Number.POSITIVE_INFINITY;
    level = nested.flatMap(Object.values);
  }
};

// --- Checks: each says what is wrong with a value, or nothing ---------------------------------------------------------

/** @param parent the object that the value is a member of */
type Check = (value: unknown, path: string, parent?: JsonObject) => RpcError | undefined;

const must =
  (holds: (value: unknown, parent?: JsonObject) => boolean, problem: string): Check =>
  (value, path, parent) =>
    holds(value, parent) ? undefined : malformed(path, `must be ${problem}`);

const anObject = must(isObject, "an object");
const aString = must(isString, "a string");
const anIdentifier = must((value) => isString(value) && value.length > 0, "a non-empty string");
const blocksAtAll = must((value) => Array.isArray(value) && value.length > 0, "a non-empty array");
const shallow = must((value) => weightOf(value) < Number.POSITIVE_INFINITY, `at most ${MAX_DEPTH} levels deep`);
const requestableIdle = must((value) => REQUESTABLE_IDLE.includes(value), `one of ${REQUESTABLE_IDLE.join(", ")}`);

const optional =
  (check: Check): Check =>
  (value, path) =>
    value == null ? undefined : check(value, path);

/** The members in order, and how each is checked. */
type Members = Readonly<Record<string, Check>>;

const object =
  (members: Members): Check =>
  (value, path) =>
    anObject(value, path) ??
    Object.entries(members)
      .map(([name, check]) => check((value as JsonObject)[name], path ? `${path}.${name}` : name, value as JsonObject))
      .find(Boolean);

const encoded: Members = { data: aString, mimeType: aString };

const resource = object({
  uri: aString,
  text: must((text, parent) => isString(text) || isString(parent?.["blob"]), "a string, or blob must be one"),
});

/** What each type of content has to have. */
const CONTENT: ReadonlyMap<unknown, Members> = new Map<ContentType, Members>([
  ["text", { text: aString }],
  ["image", encoded],
  ["audio", encoded],
  ["resource_link", { name: aString, uri: aString }],
  ["resource", { resource }],
]);

const type = must((value) => CONTENT.has(value), "a content type");
const block: Check = (value, path) => object({ type, ...CONTENT.get(objectAt(value)["type"]) })(value, path);

const blocks: Check = (value, path) =>
  blocksAtAll(value, path) ?? (value as unknown[]).map((item, index) => block(item, `${path}[${index}]`)).find(Boolean);

const steerMeta = object({
  idleBehavior: optional(requestableIdle),
  expectedTurnId: optional(aString),
  clientMessageId: optional(aString),
});
const meta = object({ [META_KEY]: optional(steerMeta) });
const steerParams = object({ sessionId: anIdentifier, prompt: blocks, _meta: optional(meta) });
const revokeParams = object({ sessionId: anIdentifier, messageId: anIdentifier });

/**
 * What is wrong with the params of `_session/steering`.
 *
 * @returns the refusal for the first bad field in the order of spec §2. Unknown keys are ignored; `null` metadata counts as absent.
 * @example steerProblem({ sessionId: "s", prompt: [] })?.data // { path: "prompt" }
 */
export const steerProblem = (params: unknown): RpcError | undefined => steerParams(params, "") ?? shallow(params, "");

/** What is wrong with the params of `_session/steering/revoke`. Other fields are ignored. */
export const revokeProblem = (params: unknown): RpcError | undefined => revokeParams(params, "");

/** The string at `name` of some params or result, if there is one. */
export const stringAt = (value: unknown, name: string): string | undefined => {
  const { [name]: member } = objectAt(value);
  return isString(member) ? member : undefined;
};

/** The object at the end of a path of names, or an empty one. */
export const objectAt = (value: unknown, ...names: readonly string[]): JsonObject => {
  const found = names.reduce<unknown>((at, name) => objectAt(at)[name], value);
  return isObject(found) ? found : {};
};

/** The request id at `requestId` of `$/cancel_request`, or `undefined` where there is none. */
export const cancelledId = (params: unknown): RequestId | undefined =>
  objectAt(params)["requestId"] as RequestId | undefined;

/** The blocks of a prompt, if its params have the shape that lets the layer work with them. */
export const promptBlocks = (params: unknown): readonly ContentBlock[] | undefined => {
  const prompt = objectAt(params)["prompt"];
  return blocks(prompt, "") ? undefined : (prompt as ContentBlock[]);
};

const COMMAND = /^\/(steer|queue)(?:\s(.*))?$/s;

/** Recognises `/steer` and `/queue` in a prompt of text blocks only. */
export const slashCommand = (prompt: readonly ContentBlock[]): SlashCommand | undefined => {
  const texts = prompt.map((block) => (block.type === "text" ? block.text : undefined));
  const [, name, text = ""] = COMMAND.exec(texts.join("\n").trim()) ?? [];
  return name && !texts.includes(undefined) ? { name: name as SlashCommand["name"], text: text.trim() } : undefined;
};

/** Whether the first block is text that an agent may read as a slash command. */
export const startsWithSlash = (prompt: readonly ContentBlock[]): boolean =>
  prompt[0]?.type === "text" && prompt[0].text.startsWith("/");
