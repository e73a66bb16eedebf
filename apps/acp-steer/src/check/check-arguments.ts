import { parseArgs } from "node:util";
import { type CheckOptions, DIALECT_NAMES, type DialectName } from "@acp-steering/testkit";
import { UsageError } from "../usage-error.js";

export const HELP: string = `Usage: acp-steer check [options] -- <command> [arguments]

Checks how well an ACP agent can be steered: starts the command, steers it in every situation, and counts what becomes of
the steers. The table goes to stdout, progress to stderr.

  --model-server <format>  put a scripted model behind the agent, which sees what really arrives there:
                           ${DIALECT_NAMES.join(", ")}
  --blind                  use the agent's own model, and see the wire alone (the default without --model-server)
  --cwd <folder>           the folder in which the sessions work (default: an empty one that is removed at the end)
  --env <K=V>              set this for the agent; may be repeated
  --trials <n>             how often to steer around the end of a turn (default 200)
  --only <id>              check this requirement only; may be repeated
  --json <file>            write everything that was found, with the wire of each failure, to a file (-: stdout)
  --junit <file>           write the results as JUnit XML, which continuous integration reads
  --help                   this text

{model-url} in the arguments and in --env stands for the model server's address, {model-root} for it without its /v1.
OPENAI_BASE_URL or ANTHROPIC_BASE_URL and their keys are set by themselves.

Exit code: 0 conformant (every "must" that applies holds), 1 not, 2 it could not be checked.

Example: acp-steer check --model-server openai-chat -- node my-agent.mjs
`;

/** What the command line of \`acp-steer check\` asks for. */
export interface CheckArguments {
  readonly options: Omit<CheckOptions, "onEvent" | "signal">;
  /** A file's path, or `-`. */
  readonly json: string | undefined;
  readonly junit: string | undefined;
}

type Values = ReturnType<typeof parse>["values"];

/**
 * Reads what stands behind `check`.
 *
 * @throws UsageError
 */
export function readCheckArguments(args: readonly string[]): CheckArguments {
  const { values, positionals } = parse(args);
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError("Give the agent's command after --, as in: -- node my-agent.mjs");
  const { json, junit } = values;
  const modelServer = dialectOf(values);
  const env = environmentOf(values.env);
  assertModelServer([...rest, ...Object.values(env)], modelServer);
  return {
    options: {
      command,
      args: rest,
      env,
      trials: countOf(values.trials),
      ...(values.cwd !== undefined && { cwd: values.cwd }),
      ...(modelServer !== undefined && { modelServer }),
      ...(values.only !== undefined && { only: values.only }),
    },
    json,
    junit,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        "model-server": { type: "string" },
        blind: { type: "boolean", default: false },
        cwd: { type: "string" },
        env: { type: "string", multiple: true, default: [] },
        trials: { type: "string", default: "200" },
        only: { type: "string", multiple: true },
        json: { type: "string" },
        junit: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function dialectOf({ blind, "model-server": name }: Values): DialectName | undefined {
  if (name === undefined) return undefined;
  if (blind) throw new UsageError("--blind and --model-server exclude each other.");
  const dialect = DIALECT_NAMES.find((candidate) => candidate === name);
  if (dialect !== undefined) return dialect;
  throw new UsageError(`There is no model server "${name}". There are: ${DIALECT_NAMES.join(", ")}`);
}

function environmentOf(settings: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    settings.map((setting) => {
      const at = setting.indexOf("=");
      if (at < 1) throw new UsageError(`--env takes NAME=value, not "${setting}".`);
      return [setting.slice(0, at), setting.slice(at + 1)];
    }),
  );
}

function countOf(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text);
  throw new UsageError(`--trials takes a whole number, not "${text}".`);
}

function assertModelServer(texts: readonly string[], modelServer: DialectName | undefined): void {
  if (modelServer !== undefined || !texts.some((text) => /\{model-(url|root)\}/.test(text))) return;
  throw new UsageError("{model-url} needs a model server: add --model-server.");
}
