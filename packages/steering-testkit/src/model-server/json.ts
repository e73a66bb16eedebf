export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What can be read of a body that keeps to no schema: a text that is none is empty, an object that is none has no keys. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

export const objectsIn = (value: unknown): readonly JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
