/**
 * Unknown JSON in, a value or the reason why not out. Nothing here throws, recurses, or keeps anything.
 */
import type { ContentBlock, ContentType, IdleBehavior, JsonObject, RequestId } from "./protocol.js";
import { META_KEY } from "./protocol.js";

/** A value, or the first field that is wrong and what is wrong with it. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | Malformed;

/** The first bad field of some params. `path` is `""` for the params themselves, else like `prompt[2].text`. */
interface Malformed {
  readonly ok: false;
  readonly path: string;
  readonly problem: string;
}

/** Params of `_session/steering` (spec §2). */
export interface SteerParams {
  readonly sessionId: string;
  readonly prompt: readonly ContentBlock[];
  readonly idleBehavior: IdleBehavior | undefined;
  readonly expectedTurnId: string | undefined;
  readonly clientMessageId: string | undefined;
}

type SteerMeta = Pick<SteerParams, "idleBehavior" | "expectedTurnId" | "clientMessageId">;

/** Params of `_session/steering/revoke` (spec §2). */
export interface RevokeParams {
  readonly sessionId: string;
  readonly messageId: string;
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

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Whether the JSON value nests deeper than `limit` levels, and the UTF-16 length of all its strings. */
export function measure(
  value: unknown,
  limit: number = MAX_DEPTH,
): { readonly tooDeep: boolean; readonly weight: number } {
  let weight = 0;
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item === "string") weight += item.length;
      else if (typeof item === "object" && item !== null) {
        if (depth === limit) return { tooDeep: true, weight };
        for (const member of Object.values(item)) next.push(member);
      }
    }
    level = next;
  }
  return { tooDeep: false, weight };
}

// --- Checks: each says what is wrong with a value, or nothing ---------------------------------------------------------

type Check = (value: unknown, path: string) => Malformed | undefined;

const must =
  (holds: (value: unknown) => boolean, problem: string): Check =>
  (value, path) =>
    holds(value) ? undefined : { ok: false, path, problem };

const anything: Check = () => undefined;
const anyObject = must(isObject, "must be an object");
const string = must(isString, "must be a string");
const identifier = must((value) => isString(value) && value !== "", "must be a non-empty string");
const shallow = must((value) => !measure(value).tooDeep, `must not nest deeper than ${MAX_DEPTH} levels`);
const requestableIdle = must(
  (value) => REQUESTABLE_IDLE.includes(value),
  `must be one of ${REQUESTABLE_IDLE.join(", ")}`,
);

const optional =
  (check: Check): Check =>
  (value, path) =>
    isMissing(value) ? undefined : check(value, path);

/** The members in order, and how each is checked. */
type Members = Readonly<Record<string, Check>>;

const object =
  (members: Members): Check =>
  (value, path) =>
    anyObject(value, path) ??
    Object.entries(members)
      .map(([name, check]) => check(objectAt(value)[name], path ? `${path}.${name}` : name))
      .find(Boolean);

const resource: Check = (value, path) => {
  const text = isString(objectAt(value)["blob"]) ? anything : must(isString, "or blob must be a string");
  return object({ uri: string, text })(value, path);
};

const encoded: Members = { data: string, mimeType: string };

/** What each type of content has to have. */
const CONTENT: ReadonlyMap<unknown, Members> = new Map<ContentType, Members>([
  ["text", { text: string }],
  ["image", encoded],
  ["audio", encoded],
  ["resource_link", { name: string, uri: string }],
  ["resource", { resource }],
]);

const type = must((value) => CONTENT.has(value), "is not a content type");

const block: Check = (value, path) => object({ type, ...CONTENT.get(objectAt(value)["type"]) })(value, path);

const filledArray = must((value) => Array.isArray(value) && value.length > 0, "must be a non-empty array");

const blocks: Check = (value, path) =>
  filledArray(value, path) ?? (value as unknown[]).map((item, index) => block(item, `${path}[${index}]`)).find(Boolean);

const steerMeta = optional(
  object({
    idleBehavior: optional(requestableIdle),
    expectedTurnId: optional(string),
    clientMessageId: optional(string),
  }),
);

const steerParams = object({
  sessionId: identifier,
  prompt: blocks,
  _meta: optional(object({ [META_KEY]: steerMeta })),
});

const revokeParams = object({ sessionId: identifier, messageId: identifier });

/**
 * Reads the params of `_session/steering`.
 *
 * @returns the steer, or the first bad field in the order of spec §2. Unknown keys are ignored; `null` metadata counts as absent.
 * @example parseSteer({ sessionId: "s", prompt: [] }) // { ok: false, path: "prompt", problem: "must be a non-empty array" }
 */
export function parseSteer(params: unknown): Parsed<SteerParams> {
  const malformed = steerParams(params, "") ?? shallow(params, "");
  if (malformed) return malformed;
  const { sessionId, prompt, _meta } = params as { sessionId: string; prompt: ContentBlock[]; _meta?: unknown };
  const { idleBehavior, expectedTurnId, clientMessageId } = objectAt(_meta, META_KEY) as SteerMeta;
  return {
    ok: true,
    value: {
      sessionId,
      prompt,
      idleBehavior: idleBehavior ?? undefined,
      expectedTurnId: expectedTurnId ?? undefined,
      clientMessageId: clientMessageId ?? undefined,
    },
  };
}

/** Reads the params of `_session/steering/revoke`. Other fields are ignored. */
export const parseRevoke = (params: unknown): Parsed<RevokeParams> =>
  revokeParams(params, "") ?? { ok: true, value: params as RevokeParams };

/** The string at `name` of some params or result, if there is one. */
export function stringAt(value: unknown, name: string): string | undefined {
  const { [name]: member } = objectAt(value);
  return isString(member) ? member : undefined;
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

/** The blocks of a prompt, if its params have the shape that lets the layer work with them. */
export function promptBlocks(params: unknown): readonly ContentBlock[] | undefined {
  const prompt = objectAt(params)["prompt"];
  return blocks(prompt, "") ? undefined : (prompt as ContentBlock[]);
}

const COMMAND = /^\/(steer|queue)(?:\s([\s\S]*))?$/;

/** Recognises `/steer` and `/queue` in a prompt of text blocks only. */
export function slashCommand(prompt: readonly ContentBlock[]): SlashCommand | undefined {
  const texts = prompt.map((block) => (block.type === "text" ? block.text : undefined));
  const [, name, text = ""] = COMMAND.exec(texts.join("\n").trim()) ?? [];
  return name && !texts.includes(undefined) ? { name: name as SlashCommand["name"], text: text.trim() } : undefined;
}

/** Whether the first block is text that an agent may read as a slash command. */
export const startsWithSlash = (prompt: readonly ContentBlock[]): boolean =>
  prompt[0]?.type === "text" && prompt[0].text.startsWith("/");
