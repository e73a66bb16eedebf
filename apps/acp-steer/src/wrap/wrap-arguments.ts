import { parseArgs } from "node:util";
import type { BusyBehavior, IdleBehavior } from "@acp-steering/core";
import { type ProxyOptions, type Restart, STRATEGIES } from "@acp-steering/proxy";
import { UsageError } from "../usage-error.js";

const IDLE: readonly IdleBehavior[] = ["promptRequired", "startNewTurn", "reject"];
const BUSY: readonly BusyBehavior[] = ["queue", "steer", "reject"];
const RESTART: readonly Restart[] = ["on-demand", "never"];
/** A day. */
const MAX_SECONDS = 86_400;

export const HELP: string = `Usage: acp-steer wrap [options] -- <command> [arguments]

Starts an ACP agent and is that agent, with steering: a message that the user sends in the middle of a turn joins that
turn, and is never lost, doubled or misplaced. Whatever else is said passes as it is. ACP on stdin and stdout, logs on
stderr.

  --strategy <how>   how steers reach the agent (default auto):
                       auto       the best that it says it has, else finish
                       native     a method of its own; an error where it has none
                       command    /steer, as a prompt while another one runs
                       prompt     a second prompt while one runs
                       interrupt  cancel the run, and go on with the steer and the task restated
                       finish     go on with the steer when the run has ended, in the same turn
  --idle <what>      a steer with no turn running: ${IDLE.join(", ")} (default promptRequired)
  --busy <what>      a prompt while a turn runs: ${BUSY.join(", ")} (default queue)
  --restart <when>   when the agent has ended: on-demand, the next request starts it again; never (default on-demand)
  --timeout <s>      how long the agent may take to answer initialize (default 60)
  --cwd <folder>     where the agent is started (default: here)
  --record <file>    write every message with its time to a file, for acp-steer trace; without texts
  --log-content      let texts into the recording, and what the agent prints beside its messages into the log
  --help             this text

Exit code: 0 the client has ended the connection, 1 the client sent what cannot be read, 2 the agent could not be started,
does not speak ACP or has no such steering, 3 the agent has ended and is not started again, 128 + n after signal n.

Example: acp-steer wrap -- kimi acp
`;

/** What the command line of `acp-steer wrap` asks for. */
export interface WrapArguments {
  readonly proxy: Omit<ProxyOptions, "input" | "output" | "errorOutput" | "log" | "tap">;
  /** The file to write the wire to. */
  readonly record: string | undefined;
}

/**
 * Reads what stands behind `wrap`.
 *
 * @throws UsageError
 */
export function readWrapArguments(args: readonly string[]): WrapArguments {
  const { values, positionals } = parse(args);
  const [command, ...rest] = positionals;
  if (command === undefined) throw new UsageError("Give the agent's command after --, as in: -- kimi acp");
  return {
    proxy: {
      command,
      args: rest,
      ...(values.cwd !== undefined && { cwd: values.cwd }),
      strategy: oneOf("--strategy", STRATEGIES, values.strategy),
      idleBehavior: oneOf("--idle", IDLE, values.idle),
      whenBusy: oneOf("--busy", BUSY, values.busy),
      restart: oneOf("--restart", RESTART, values.restart),
      startTimeoutMs: secondsOf(values.timeout) * 1_000,
      logContent: values["log-content"],
    },
    record: values.record,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        strategy: { type: "string", default: "auto" },
        idle: { type: "string", default: "promptRequired" },
        busy: { type: "string", default: "queue" },
        restart: { type: "string", default: "on-demand" },
        timeout: { type: "string", default: "60" },
        cwd: { type: "string" },
        record: { type: "string" },
        "log-content": { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function oneOf<Name extends string>(option: string, names: readonly Name[], given: string): Name {
  const name = names.find((candidate) => candidate === given);
  if (name !== undefined) return name;
  throw new UsageError(`${option} takes one of ${names.join(", ")}, not "${given}".`);
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= MAX_SECONDS) return seconds;
  throw new UsageError(`--timeout takes a number of seconds up to ${MAX_SECONDS}, not "${text}".`);
}
