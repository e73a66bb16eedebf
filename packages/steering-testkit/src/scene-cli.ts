#!/usr/bin/env node
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { parseArgsStringToArgv } from "string-argv";
import type { AgentCommand } from "./scene/host.js";
import { piToolbox, setUpPi } from "./scene/pi-setup.js";
import { playScene } from "./scene/play-scene.js";
import { type Check, type Report, SceneError } from "./scene/scene-event.js";
import { startSceneModel } from "./scene/scene-model.js";
import { writeProject } from "./scene/story.js";
import { textReport } from "./scene/text-report.js";

const HELP = `Steers a coding agent in the middle of its turn and shows what happens.

  npm start                          the real Pi, behind this repository's adapter
  npm start -- --agent '<command>'   any other ACP agent that speaks over stdio

The model is a scripted one on this machine: no key, and no network beyond the package registry. An agent given with
--agent finds it under OPENAI_BASE_URL, with OPENAI_API_KEY set.

  --agent <command>   the agent's command line, in quotes
  --json              one JSON event a line on stdout, and nothing else there
  --timeout <s>       give up after so many seconds without any event (default 60)
  --help              this text

Exit code: 0 all that was checked is true; 1 some of it is not, or could not be verified; 2 it could not be played.
`;

const EXIT = { passed: 0, failed: 1, unplayed: 2, interrupted: 130 } as const;
const PIPE_WIDTH = 160;
const MIN_WIDTH = 80;

interface Arguments {
  readonly agent: string | undefined;
  readonly json: boolean;
  readonly quietLimitMs: number;
}

async function main(): Promise<number> {
  let given: Arguments | "help";
  try {
    given = readArguments();
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`);
    return EXIT.unplayed;
  }
  if (given === "help") {
    process.stdout.write(HELP);
    return EXIT.passed;
  }
  try {
    return await play(given, signalOfCtrlC());
  } catch (error) {
    if (!(error instanceof SceneError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.code === "interrupted" ? EXIT.interrupted : EXIT.unplayed;
  }
}

function readArguments(): Arguments | "help" {
  const { values } = parseArgs({
    options: {
      agent: { type: "string" },
      json: { type: "boolean", default: false },
      timeout: { type: "string", default: "60" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return "help";
  const seconds = Number(values.timeout);
  if (!(seconds > 0)) throw new Error(`--timeout takes a number of seconds, not “${values.timeout}”.`);
  if (values.agent?.trim() === "") throw new Error("--agent takes a command line.");
  return { agent: values.agent, json: values.json, quietLimitMs: seconds * 1_000 };
}

async function play({ agent, json, quietLimitMs }: Arguments, signal: AbortSignal): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "steering-scene-"));
  const model = await startSceneModel(agent === undefined ? piToolbox : undefined);
  try {
    const project = join(folder, "project");
    await writeProject(project);
    const { url } = model.server;
    const command = agent === undefined ? await setUpPi(repositoryRoot(), folder, url) : otherAgent(agent, url);
    const report = json ? jsonReport : personReport();
    const result = await playScene({ ...command, project, model, report, quietLimitMs, signal });
    sayWhatIsNot(result.checks);
    return result.passed ? EXIT.passed : EXIT.failed;
  } finally {
    await model.server.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function otherAgent(commandLine: string, modelUrl: string): AgentCommand {
  const [command = "", ...args] = parseArgsStringToArgv(commandLine);
  const { env } = process;
  // npm starts its scripts in the repository; relative paths in the command mean the folder the user is in.
  const cwd = env["INIT_CWD"] ?? process.cwd();
  return { command, args, cwd, env: { ...env, OPENAI_BASE_URL: modelUrl, OPENAI_API_KEY: "none" } };
}

// The same from `src/` and from `dist/`.
function repositoryRoot(): string {
  return fileURLToPath(new URL("../../..", import.meta.url));
}

const jsonReport: Report = (event) => {
  process.stdout.write(`${JSON.stringify(event)}\n`);
};

function personReport(): Report {
  const { stdout, env } = process;
  const color = stdout.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const width = stdout.isTTY === true ? Math.max(MIN_WIDTH, stdout.columns) : PIPE_WIDTH;
  return textReport({ writeLine: (line) => void stdout.write(`${line}\n`), color, width });
}

function sayWhatIsNot(checks: readonly Check[]): void {
  for (const { verdict, title, detail } of checks) {
    if (verdict === "true") continue;
    process.stderr.write(`${verdict === "false" ? "Not true" : "Could not be verified"}: ${title} (${detail})\n`);
  }
}

/** npm passes a Ctrl-C on that the terminal has sent already: two signals this close are one press. */
const ONE_PRESS_MS = 500;

/** Aborts on Ctrl-C, and when nobody reads what is shown any more. A second press ends at once. */
function signalOfCtrlC(): AbortSignal {
  const controller = new AbortController();
  let pressedAt = Number.POSITIVE_INFINITY;
  const press = (): void => {
    if (performance.now() - pressedAt > ONE_PRESS_MS) process.exit(EXIT.interrupted);
    pressedAt = Math.min(pressedAt, performance.now());
    controller.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, press);
  process.stdout.on("error", () => controller.abort());
  process.stderr.on("error", () => {});
  return controller.signal;
}

process.exitCode = await main();
