import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv, type ValidateFunction } from "ajv";
import { SCHEMA_FOLDER } from "../../../../scripts/generate-schemas.mjs";

export type Json = Record<string, unknown>;

/** The schemas as the package ships them, by file name. */
export const shipped = new Map<string, Json>(
  readdirSync(SCHEMA_FOLDER).map((file) => [file, JSON.parse(readFileSync(join(SCHEMA_FOLDER, file), "utf8"))]),
);
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
const validators = new Map<string, ValidateFunction>(
  [...shipped].map(([file, schema]) => [file.replace(".json", ""), ajv.compile(schema)]),
);
export const NAMES = [...validators.keys()];

export const isValid = (name: string, value: unknown): boolean => (validators.get(name) as ValidateFunction)(value);

/** What a schema has against each of the values. */
export function faults(name: string, values: readonly unknown[]): unknown[] {
  const validate = validators.get(name) as ValidateFunction;
  return values.flatMap((value) => (validate(value) ? [] : [{ value, errors: validate.errors }]));
}

/** Where the members of a value are, at any depth. */
export const pathsOf = (value: unknown): string[][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, member]) => [[name], ...pathsOf(member).map((path) => [name, ...path])])
    : [];

/** A copy in which the member at `path` is gone, or is `replacement`. */
export function changed(value: unknown, [name = "", ...rest]: readonly string[], replacement?: unknown): unknown {
  const copy = (Array.isArray(value) ? [...value] : { ...(value as Json) }) as Json;
  const member = rest.length > 0 ? changed(copy[name], rest, replacement) : replacement;
  if (member !== undefined) copy[name] = member;
  else if (Array.isArray(copy)) copy.splice(Number(name), 1);
  else delete copy[name];
  return copy;
}
