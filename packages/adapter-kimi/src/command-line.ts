import { parseFlags, type Show, secondsOf } from "@acp-steering/kit/adapter";

/** How Kimi is found and kept. */
export interface KimiFlags {
  readonly kimi?: string;
  readonly node?: string;
  readonly home?: string;
  readonly startTimeoutMs: number;
}

export type KimiCommandLine = { readonly login: KimiFlags } | { readonly serve: KimiFlags };

export const HELP: string = `Usage: kimi-steering-acp [options]

Makes a steerable ACP agent of your Kimi Code. ACP is spoken on stdin and stdout.

  --kimi <path>          Kimi Code: a path, or a command on PATH (kimi, wherever it is installed)
  --node <path>          the Node.js 22.19 or newer that runs it (KIMI_NODE, else one that is found)
  --home <folder>        Kimi's home: settings, login, sessions (KIMI_CODE_HOME, else ~/.kimi-code)
  --start-timeout <s>    how long Kimi may take to start, in seconds (60)
  --login                sign in at Kimi in this terminal, then end
  --help, --version
`;

/**
 * Reads the arguments after the script's name.
 * @throws UsageError
 */
export function readCommandLine(args: readonly string[]): KimiCommandLine | Show {
  const values = parse(args);
  if (values.help) return { show: "help" };
  if (values.version) return { show: "version" };
  const { kimi, node, home } = values;
  const flags: KimiFlags = {
    ...(kimi !== undefined && { kimi }),
    ...(node !== undefined && { node }),
    ...(home !== undefined && { home }),
    startTimeoutMs: secondsOf("--start-timeout", values["start-timeout"]) * 1_000,
  };
  return values.login ? { login: flags } : { serve: flags };
}

interface Values {
  readonly kimi?: string | undefined;
  readonly node?: string | undefined;
  readonly home?: string | undefined;
  readonly "start-timeout": string;
  readonly login: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

function parse(args: readonly string[]): Values {
  const { values } = parseFlags({
    args: [...args],
    options: {
      kimi: { type: "string" },
      node: { type: "string" },
      home: { type: "string" },
      "start-timeout": { type: "string", default: "60" },
      login: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", short: "v", default: false },
    },
  });
  return values;
}
