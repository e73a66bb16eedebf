#!/usr/bin/env node
import { appendFileSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { type ModelRequest, parseScript, type Reply, type Script, startModelServer } from "./model-server/index.js";

const USAGE = `Usage: scripted-model [options]

A model server on loopback that answers as scripted. It speaks OpenAI chat completions and
Responses below the base URL that it prints on stdout, and Anthropic Messages, whose clients
take the URL without its /v1. A line for each request goes to stderr.

  --script FILE    a JSON array of replies, or a module (.mjs, .ts) that exports \`script\`: an
                   array, or a function of the request; without it every answer is "Done."
  --log FILE       write each request with its reply there, one line of JSON, when it has ended;
                   prompts included. What was in the file is lost
  --port N         the port to listen on (default: any free one)
  --hold-control   serve /_control/requests, held, release/<name> and reset; needed by scripts that hold
  --json           print the base URL as {"url": …}
  --log-content    add the new user and tool messages to the lines on stderr
  --help           show this
`;

/** A mistake of whoever typed the command: shown without a stack, exit code 2. */
class UsageError extends Error {}

interface Command {
  readonly help: boolean;
  readonly port: number;
  readonly script: string | undefined;
  readonly logFile: string | undefined;
  readonly control: boolean;
  readonly json: boolean;
  readonly logContent: boolean;
}

const readPort = (text: string): number => {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new UsageError(`--port takes a number from 0 to 65535, not "${text}".`);
  return port;
};

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        port: { type: "string", default: "0" },
        script: { type: "string" },
        log: { type: "string" },
        "hold-control": { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        "log-content": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};

const readCommand = (args: readonly string[]): Command => {
  const values = parse(args);
  return {
    help: values.help,
    port: readPort(values.port),
    script: values.script,
    logFile: values.log,
    control: values["hold-control"],
    json: values.json,
    logContent: values["log-content"],
  };
};

const readJsonScript = async (file: string): Promise<readonly Reply[]> => {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`Cannot read the script: ${error.message}`);
  });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  return parseScript(value, file);
};

const importScript = async (file: string): Promise<unknown> => {
  try {
    return ((await import(pathToFileURL(file).href)) as { readonly script?: unknown }).script;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const advice =
      code === "ERR_UNKNOWN_FILE_EXTENSION"
        ? " Node reads TypeScript from 22.18 on; before, start scripted-model with `node --import tsx`, or write it in .mjs."
        : "";
    throw new UsageError(`Cannot load the script ${file}: ${message}.${advice}`);
  }
};

const readModuleScript = async (file: string): Promise<Script> => {
  const script = await importScript(resolve(file));
  if (script === undefined) throw new UsageError(`${file} exports nothing by the name of \`script\`.`);
  return typeof script === "function" ? (script as Script) : parseScript(script, file);
};

const readScript = (file: string): Promise<Script> =>
  /\.[cm]?[jt]s$/.test(file) ? readModuleScript(file) : readJsonScript(file);

const refuseHoldsWithoutControl = (script: Script, command: Command): void => {
  if (typeof script === "function") return;
  const holding = script.findIndex((reply) => reply.hold !== undefined);
  if (holding >= 0 && !command.control) {
    throw new UsageError(`${command.script}: reply ${holding} holds, and nobody could release it: add --hold-control.`);
  }
};

const startLogFile = (file: string): ((request: ModelRequest) => void) => {
  try {
    writeFileSync(file, "");
  } catch (error) {
    throw new UsageError(`Cannot write the log: ${(error as Error).message}`);
  }
  return (request) => appendFileSync(file, `${JSON.stringify(request)}\n`);
};

const log = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

const main = async (): Promise<void> => {
  const command = readCommand(process.argv.slice(2));
  if (command.help) {
    process.stdout.write(USAGE);
    return;
  }
  const script = command.script === undefined ? [] : await readScript(command.script);
  refuseHoldsWithoutControl(script, command);
  const { port, control, logContent, logFile } = command;
  const record = logFile === undefined ? undefined : startLogFile(logFile);
  const model = await startModelServer({ script, port, control, logContent, log, ...(record && { record }) });
  const stop = (): void => {
    void model.close();
  };
  process.once("SIGINT", stop).once("SIGTERM", stop);
  // Nobody has to read what is logged.
  process.stderr.on("error", () => {});
  process.stdout.write(`${command.json ? JSON.stringify({ url: model.url }) : model.url}\n`);
};

main().catch((error: Error & { code?: string }) => {
  const wrongUse = error instanceof UsageError || error.code === "invalidScript";
  log(wrongUse ? `${error.message}\nscripted-model --help shows how it is used.` : `scripted-model: ${error.message}`);
  process.exitCode = wrongUse ? 2 : 1;
});
