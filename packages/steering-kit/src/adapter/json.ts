/** What is taken out of a vendor's JSON, which may be anything. */

/** One JSON object. */
export interface JsonRecord {
  readonly [key: string]: unknown;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The object, or an empty one. */
export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** The text, or an empty one. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The number, or 0. */
export function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}

/** The list, or an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
