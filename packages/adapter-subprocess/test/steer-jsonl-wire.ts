import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import ts from "typescript";

export type Command = readonly [string, ...string[]];

const SCHEMA = new URL("../schema/steer-jsonl.schema.json", import.meta.url);

/** Starts the agent behind two taps, which write down every line, of each process in files of its own. */
const TAPPED = 'tee "$0/to-agent-$$.jsonl" | "$@" | tee "$0/from-agent-$$.jsonl"';

/** @param folder where the lines are written down */
export function tapped(agent: Command, folder: string): Command {
  return ["sh", "-c", TAPPED, folder, ...agent];
}

export interface Traffic {
  /** What the agent read: process after process, in each in order. */
  readonly toAgent: readonly Record<string, unknown>[];
  readonly fromAgent: readonly Record<string, unknown>[];
  /** The same as `toAgent`, as it stood on the wire. */
  readonly textToAgent: string;
}

/** What a tapped agent has read and written. The last line of a process that was ended in the middle of it is left out. */
export async function trafficIn(folder: string): Promise<Traffic> {
  const textToAgent = await textIn(folder, "to-agent-");
  return { toAgent: recordsOf(textToAgent), fromAgent: recordsOf(await textIn(folder, "from-agent-")), textToAgent };
}

/** What the schema has against the lines: one text for each that does not fit. */
export async function schemaFaults({ toAgent, fromAgent }: Traffic): Promise<string[]> {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
  ajv.addSchema(JSON.parse(await readFile(SCHEMA, "utf8")), "schema");
  const faultsOf = (side: string, records: readonly unknown[]): string[] =>
    records.flatMap((record) =>
      ajv.validate(`schema#/$defs/${side}`, record) ? [] : [`${JSON.stringify(record)}: ${ajv.errorsText()}`],
    );
  return [...faultsOf("fromAdapter", toAgent), ...faultsOf("fromAgent", fromAgent)];
}

/** The command that starts an example; the one in TypeScript is stripped of its types into `folder`. */
export async function example(name: "agent.py" | "agent.sh" | "agent.ts", folder: string): Promise<Command> {
  const path = fileURLToPath(new URL(`../examples/${name}`, import.meta.url));
  if (name === "agent.py") return ["python3", path];
  if (name === "agent.sh") return ["bash", path];
  const script = join(folder, "agent.mjs");
  await writeFile(script, toJavaScript(await readFile(path, "utf8")));
  return [process.execPath, script];
}

export function toJavaScript(source: string): string {
  const { ESNext, ES2022 } = { ESNext: ts.ModuleKind.ESNext, ES2022: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(source, { compilerOptions: { module: ESNext, target: ES2022 } }).outputText;
}

async function textIn(folder: string, prefix: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(prefix));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "utf8")));
  return texts.map((text) => text.slice(0, text.lastIndexOf("\n") + 1)).join("");
}

function recordsOf(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}
