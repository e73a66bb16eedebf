import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isRecord, type JsonRecord, UsageError } from "@acp-steering/kit/adapter";
import type { Dialect } from "../dialect.js";

type Kind = "text" | "function" | "object" | "list" | "boolean";

/** What a dialect consists of; `?` where it may be absent. */
const MEMBERS: Readonly<Record<keyof Dialect, Kind | `${Kind}?`>> = {
  name: "text",
  title: "text",
  usage: "text",
  session: "function",
  install: "text?",
  environment: "object?",
  supports: "object?",
  promptCapabilities: "object?",
  mcpCapabilities: "object?",
  additionalDirectories: "boolean?",
  history: "object?",
  signIn: "object?",
  meet: "function?",
  arguments: "function?",
};

/** Whether `--dialect` names a file rather than a dialect that is known here. */
export function isFile(name: string): boolean {
  return /[\\/]|\.[cm]?[jt]s$/.test(name);
}

/**
 * A user's own dialect: the export `dialect` of a module.
 *
 * @param path of the module, absolute or from the present folder
 * @throws UsageError with the path and what is missing there, or has the wrong type
 */
export async function loadDialect(path: string): Promise<Dialect> {
  const file = resolve(path);
  const { dialect } = await importModule(file);
  if (!isRecord(dialect))
    throw new UsageError(`${file} exports no \`dialect\`. Write: export const dialect = { name: "…", … };`);
  const faults = faultsOf(dialect);
  if (faults.length > 0) throw new UsageError(`The dialect of ${file} is not complete: ${faults.join("; ")}.`);
  return dialect as unknown as Dialect;
}

async function importModule(file: string): Promise<JsonRecord> {
  try {
    return (await import(pathToFileURL(file).href)) as JsonRecord;
  } catch (error) {
    throw new UsageError(`Cannot load the dialect ${file}: ${(error as Error).message}`);
  }
}

function faultsOf(dialect: JsonRecord): string[] {
  const faults = Object.entries(MEMBERS).flatMap(([name, kind]) => faultOf(name, kind, dialect[name]));
  return [...faults, ...supportsFaults(dialect["supports"])];
}

function faultOf(name: string, expected: string, value: unknown): string[] {
  const isOptional = expected.endsWith("?");
  const kind = expected.replace("?", "");
  if (value === undefined) return isOptional ? [] : [`\`${name}\` is missing (${described(kind)})`];
  return kindOf(value) === kind && value !== ""
    ? []
    : [`\`${name}\` has to be ${described(kind)}, not ${shown(value)}`];
}

function supportsFaults(supports: unknown): string[] {
  if (!isRecord(supports)) return [];
  return [
    ...faultOf("supports.content", "list", supports["content"]),
    ...faultOf("supports.boundary", "text", supports["boundary"]),
  ];
}

function kindOf(value: unknown): string {
  if (typeof value === "string") return "text";
  if (Array.isArray(value)) return "list";
  return value === null ? "null" : typeof value;
}

function described(kind: string): string {
  return kind === "object" ? "an object" : `a ${kind}`;
}

function shown(value: unknown): string {
  return value === "" ? "an empty text" : described(kindOf(value));
}
