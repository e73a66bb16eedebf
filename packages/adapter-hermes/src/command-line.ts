import { parseFlags, type Show } from "@acp-steering/kit/adapter";
import type { HermesVendorOptions } from "./hermes-vendor.js";

export type CommandLine = Show | Pick<HermesVendorOptions, "python" | "hermesHome">;

export const HELP: string = `Usage: hermes-steering-acp [options]

Makes a steerable ACP agent of your Hermes Agent. ACP is spoken on stdin and stdout.

  --python <path>       the Python interpreter of your Hermes (default: looked for where Hermes is installed)
  --hermes-home <dir>   where Hermes keeps its settings and sessions (default: HERMES_HOME, or ~/.hermes)
  --help, --version
`;

/**
 * Reads the arguments after the script's name.
 * @throws UsageError
 */
export function readCommandLine(args: readonly string[]): CommandLine {
  const { python, "hermes-home": hermesHome, help, version } = parse(args);
  if (help) return { show: "help" };
  if (version) return { show: "version" };
  return { ...(python !== undefined && { python }), ...(hermesHome !== undefined && { hermesHome }) };
}

interface Values {
  readonly python?: string | undefined;
  readonly "hermes-home"?: string | undefined;
  readonly help: boolean;
  readonly version: boolean;
}

function parse(args: readonly string[]): Values {
  return parseFlags({
    args: [...args],
    options: {
      python: { type: "string" },
      "hermes-home": { type: "string" },
      help: { type: "boolean", short: "h", default: false },
      version: { type: "boolean", short: "v", default: false },
    },
  }).values;
}
