/** What is taken out of tool arguments and results, which are the model's and the tools' own. */

export interface JsonRecord {
  readonly [key: string]: unknown;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function recordOf(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The JSON value of a tool's result; some tools put a hint for the model behind it. `undefined` where it is none. */
export function resultValue(result: string): unknown {
  const hint = result.indexOf("\n\n[");
  for (const text of hint === -1 ? [result] : [result, result.slice(0, hint)]) {
    try {
      return JSON.parse(text);
    } catch {
      // Plain text, or JSON with something behind it.
    }
  }
  return undefined;
}
