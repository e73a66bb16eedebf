import { parseArgs } from "node:util";
import { UsageError } from "../usage-error.js";

export const HELP: string = `Usage: acp-steer trace [options] <recording>

Draws what acp-steer wrap --record wrote: each turn as a timeline, with its prompts, runs, tools and questions, and with each
steer from the moment it was sent over its acceptance to its delivery.

  --html <file>   write one page that needs nothing else, instead
  --json          the timeline as JSON on stdout, times in milliseconds
  --help          this text

Exit code: 0 drawn, 2 the recording cannot be read.

Example: acp-steer wrap --record turn.jsonl -- kimi acp
         acp-steer trace turn.jsonl
`;

export interface TraceArguments {
  readonly recording: string;
  readonly html: string | undefined;
  readonly json: boolean;
}

/**
 * Reads what stands behind `trace`.
 *
 * @throws UsageError
 */
export function readTraceArguments(args: readonly string[]): TraceArguments {
  const { values, positionals } = parse(args);
  const [recording, ...more] = positionals;
  if (recording === undefined || more.length > 0)
    throw new UsageError("Give one recording, as in: acp-steer trace turn.jsonl");
  return { recording, html: values.html, json: values.json };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { html: { type: "string" }, json: { type: "boolean", default: false } },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
