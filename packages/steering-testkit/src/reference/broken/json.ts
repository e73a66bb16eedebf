/** A JSON object with unknown members. */
export type Json = Readonly<Record<string, unknown>>;

/** The object at that path, or an empty one. */
export function objectAt(value: unknown, ...path: readonly string[]): Json {
  const found = path.reduce<unknown>((at, name) => (at as Json | null | undefined)?.[name], value);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as Json) : {};
}

/** The text at that path, or an empty one. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const last = path.at(-1) ?? "";
  const text = objectAt(value, ...path.slice(0, -1))[last];
  return typeof text === "string" ? text : "";
}

/** The value with another one at that path; `undefined` takes the member away. */
export function withAt<Value>(value: Value, path: readonly string[], member: unknown): Value {
  const [name, ...rest] = path;
  if (name === undefined) return member as Value;
  const object = value as Json;
  const changed = { ...object, [name]: withAt(object?.[name], rest, member) };
  if (changed[name] === undefined) delete changed[name];
  return changed as Value;
}
