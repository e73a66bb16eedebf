import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const REFERENCE = "../../../packages/steering-testkit/dist/reference-agent-cli.js";

/** The command line of an agent that keeps the whole contract, or breaks one requirement. */
export const referenceAgent = (...args: string[]): string[] => [
  process.execPath,
  fileURLToPath(new URL(REFERENCE, import.meta.url)),
  ...args,
];

/** The command line of an agent of ours in `fixtures/`. */
export const fixture = (name: string, ...args: string[]): string[] => [
  process.execPath,
  fileURLToPath(new URL(`fixtures/${name}`, import.meta.url)),
  ...args,
];

export interface Ending {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A run of the built command, with pipes. */
export interface Run {
  /** Resolves when that text stands on stderr. */
  seen(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ending>;
}

/** Starts `acp-steer` with those arguments. */
export function start(args: readonly string[], env: Record<string, string> = {}): Run {
  if (!existsSync(CLI)) throw new Error("acp-steer is not built. Run `npm run build` first.");
  const child = spawn(process.execPath, [CLI, ...args], { env: { ...process.env, ...env } });
  let [stdout, stderr] = ["", ""];
  const watchers = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    for (const watcher of watchers) watcher();
  });
  return {
    seen: (text) =>
      new Promise((resolve) => {
        const look = (): void => void (stderr.includes(text) && resolve());
        watchers.add(look);
        look();
      }),
    kill: (signal) => void child.kill(signal),
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr }))),
  };
}

/** Runs `acp-steer` to its end. */
export const run = (args: readonly string[], env?: Record<string, string>): Promise<Ending> => start(args, env).ended;
