import { z } from "zod";
import { ModelServerError } from "./errors.js";
import type { HoldPoint, Reply } from "./reply.js";

const chunks = z.union([z.string(), z.array(z.string())], { error: "must be a string or an array of strings" });
const milliseconds = z.number().min(0).max(2_147_483_647);
const tokens = z.number().int().min(0);

const toolCall = z.strictObject({
  id: z.string().min(1).optional(),
  name: z.string().min(1),
  arguments: z.unknown().refine(isSendable, { error: "must be given, as a string or as something with a JSON form" }),
});

const HOLD_POINTS = [
  "start",
  "afterHeaders",
  "afterFirstChunk",
  "afterText",
  "beforeLastChunk",
  "beforeEnd",
] as const satisfies readonly HoldPoint[];

const error = z.strictObject({
  status: z.number().int().min(400).max(599),
  message: z.string().optional(),
  type: z.string().optional(),
  code: z.string().optional(),
  retryAfterSeconds: z.number().min(0).optional(),
});

const reply = z
  .strictObject({
    when: z.strictObject({ tools: z.boolean().optional(), user: z.string().min(1).optional() }).optional(),
    text: chunks.optional(),
    reasoning: chunks.optional(),
    toolCalls: z.array(toolCall).optional(),
    delayMs: milliseconds.optional(),
    chunkDelayMs: milliseconds.optional(),
    hold: z.string().min(1).optional(),
    holdAt: z.enum(HOLD_POINTS).optional(),
    error: error.optional(),
    cut: z.union([z.boolean(), z.literal("start")], { error: 'must be true, false or "start"' }).optional(),
    streamError: error.optional(),
    malformed: z.boolean().optional(),
    usage: z.strictObject({ inputTokens: tokens.optional(), outputTokens: tokens.optional() }).optional(),
    finishReason: z.string().optional(),
  })
  .refine((value) => value.holdAt === undefined || value.hold !== undefined, {
    path: ["holdAt"],
    error: "needs `hold`, the name to release it by",
  })
  .refine((value) => value.error === undefined || !hasContent(value), {
    path: ["error"],
    error: "stands alone or with `delayMs` and a `hold` at the start: the answer has no content",
  })
  .refine((value) => value.streamError === undefined || value.cut === undefined, {
    path: ["streamError"],
    error: "and `cut` are two ends of one answer: choose",
  });

const CONTENT_FIELDS = [
  "text",
  "reasoning",
  "toolCalls",
  "chunkDelayMs",
  "cut",
  "streamError",
  "malformed",
  "usage",
  "finishReason",
] as const;

function hasContent(value: Partial<Record<(typeof CONTENT_FIELDS)[number] | "holdAt", unknown>>): boolean {
  const holdsInside = value.holdAt !== undefined && value.holdAt !== "start";
  return holdsInside || CONTENT_FIELDS.some((field) => value[field] !== undefined);
}

function isSendable(value: unknown): boolean {
  try {
    return typeof value === "string" || JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}

const problemsOf = (error: z.ZodError, origin: string): string =>
  error.issues
    .map(({ path, message }) => {
      const [index, ...fields] = path;
      const place = fields.map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("");
      return index === undefined ? `${origin}: ${message}` : `${origin}: reply ${String(index)}${place}: ${message}`;
    })
    .join("\n");

/**
 * Checks the replies of a script, e.g. one that was read from a JSON file.
 *
 * @param value what should be an array of {@link Reply}
 * @param origin where it came from, named in the errors
 * @returns the same replies, now typed
 * @throws ModelServerError (`invalidScript`) naming each reply, counted from 0, and each field that is wrong or unknown
 * @example
 * ```ts
 * const replies = parseScript(JSON.parse(await readFile("script.json", "utf8")), "script.json");
 * ```
 */
export const parseScript = (value: unknown, origin = "script"): readonly Reply[] => {
  const result = z.array(reply, { error: "must be an array of replies" }).safeParse(value);
  if (!result.success) throw new ModelServerError("invalidScript", problemsOf(result.error, origin));
  return value as readonly Reply[];
};

/** Checks one reply that a script function returned for the request with this index. */
export const parseReply = (value: unknown, index: number): Reply => {
  const result = reply.safeParse(value);
  if (result.success) return value as Reply;
  const issues = result.error.issues.map((issue) => ({ ...issue, path: [index, ...issue.path] }));
  throw new ModelServerError("invalidScript", problemsOf(new z.ZodError(issues), "script function"));
};
