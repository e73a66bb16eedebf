import { parseFlags, type Show, secondsOf, UsageError } from "@acp-steering/kit/adapter";
import type { Dialect } from "./dialect.js";
import { DIALECTS, findDialect } from "./dialects/index.js";
import { isFile, loadDialect } from "./dialects/load-dialect.js";

export type CommandLine =
  | Show
  | {
      readonly dialect: Dialect;
      readonly command: readonly [string, ...string[]];
      readonly logContent: boolean;
      readonly startTimeoutMs: number;
    };

const names = DIALECTS.map(({ name }) => name).join(", ");

const CHOICE = `There are: ${names}, and your own as a file: --dialect ./my-dialect.mjs`;

export const HELP: string = `Usage: subprocess-steering-acp --dialect <name> [options] -- <command> [arguments]

Makes a steerable ACP agent of a command-line agent that speaks JSON lines. ACP is spoken on stdin and stdout.

  --dialect <name>       the language the agent speaks: ${names},
                         or a file of yours that exports one: ./my-dialect.mjs
  --log-content          also log what may hold prompt text: the agent's stderr and lines that are no records
  --start-timeout <s>    how long the agent may take to start, in seconds (60)
  --help, --version

Examples: subprocess-steering-acp --dialect pi-rpc -- pi --mode rpc
          subprocess-steering-acp --dialect steer-jsonl -- python3 my-agent.py
`;

/**
 * Reads the arguments after the script's name, and the file that `--dialect` may name.
 * @throws UsageError
 */
export async function readCommandLine(args: readonly string[]): Promise<CommandLine> {
  const { values, positionals } = parse(args);
  if (values.help) return { show: "help" };
  if (values.version) return { show: "version" };
  const [executable, ...rest] = positionals;
  if (executable === undefined) throw new UsageError("Give the agent's command after --, as in: -- pi --mode rpc");
  return {
    dialect: await dialectOf(values.dialect),
    command: [executable, ...rest],
    logContent: values["log-content"],
    startTimeoutMs: secondsOf("--start-timeout", values["start-timeout"]) * 1_000,
  };
}

interface Values {
  readonly dialect?: string | undefined;
  readonly "log-content": boolean;
  readonly "start-timeout": string;
  readonly help: boolean;
  readonly version: boolean;
}

function parse(args: readonly string[]): { values: Values; positionals: string[] } {
  return parseFlags({
    args: [...args],
    allowPositionals: true,
    options: {
      dialect: { type: "string" },
      "log-content": { type: "boolean", default: false },
      "start-timeout": { type: "string", default: "60" },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", short: "v", default: false },
    },
  });
}

async function dialectOf(name: string | undefined): Promise<Dialect> {
  if (name === undefined) throw new UsageError(`Give the agent's language with --dialect. ${CHOICE}`);
  if (isFile(name)) return loadDialect(name);
  const dialect = findDialect(name);
  if (!dialect) throw new UsageError(`There is no dialect "${name}". ${CHOICE}`);
  return dialect;
}
