import { type ChildProcess, spawn } from "node:child_process";
import { statSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { findExecutable } from "./find-executable.js";

/** How a child ended: its exit code, or the signal that ended it. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface SpawnChildOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** An existing folder. Defaults to ours. */
  readonly cwd?: string;
  /** The whole environment of the child. Defaults to ours. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How long the child may take to end after SIGTERM before it is killed, in milliseconds (whole tenths of a second). Default 2,000. */
  readonly graceMs?: number;
  /** The command that installs the executable; part of the error when it is missing. */
  readonly install?: string;
  /** Also give the child two pipes of its own for a protocol that no print or prompt can touch: it reads 3, it writes 4. */
  readonly channel?: boolean;
}

/** The pipes of a child that was started with `channel`: descriptors 3 and 4 on its side. */
export interface ChildPipes {
  /** What the child reads on descriptor 3. */
  readonly input: Writable;
  /** What the child writes on descriptor 4. */
  readonly output: Readable;
}

/** A running child with its group. Read `stdout` and `stderr`, or the child stops when their pipes are full. */
export interface SpawnedChild {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the child has ended; the rest of its process group is told to end then. */
  readonly exited: Promise<ChildExit>;
  /** Present where it was asked for. Its end tells the child that we are gone. */
  readonly channel?: ChildPipes;
  /** Ends the child and its process group: SIGTERM, then SIGKILL after the grace. Resolves when the child is gone. */
  stop(): Promise<void>;
}

/** A child that was started with `channel`. */
export type ChildWithChannel = SpawnedChild & Required<Pick<SpawnedChild, "channel">>;

/**
 * Starts a child that does not outlive us, however we end: `kill -9` included. The child leads a process group of its
 * own; when the child ends or we do, the whole group is ended. What leaves the group (setsid) is left alone.
 *
 * On Windows only `stop()` ends the child and its descendants.
 *
 * @throws ExecutableNotFoundError when the command cannot be found; an Error naming it when it or `cwd` cannot be used.
 * @example
 * ```ts
 * const child = await spawnChild({ command: "pi", args: ["--mode", "rpc"], install: "npm install -g pi" });
 * child.stdout.pipe(process.stderr);
 * await child.stop();
 * ```
 */
export function spawnChild(options: SpawnChildOptions & { readonly channel: true }): Promise<ChildWithChannel>;
export function spawnChild(options: SpawnChildOptions): Promise<SpawnedChild>;
export async function spawnChild(options: SpawnChildOptions): Promise<SpawnedChild> {
  const cwd = options.cwd ?? process.cwd();
  const env = options.env ?? process.env;
  assertFolder(cwd, options.command);
  const executable = findExecutable(options.command, { cwd, env, install: options.install });
  const graceMs = options.graceMs ?? 2_000;
  const start = process.platform === "win32" ? startOnWindows : startWithLifeline;
  const { args = [], channel = false } = options;
  const started = start({ executable, args, cwd, env: env as NodeJS.ProcessEnv, graceMs, channel });
  await spawned(started.child, options.command);
  return handle(started);
}

interface StartOptions {
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly graceMs: number;
  readonly channel: boolean;
}

interface Started {
  readonly child: ChildProcess;
  readonly channel: ChildPipes | undefined;
  /** Ends the process group; harmless when it is gone. */
  readonly endGroup: () => void;
  readonly graceMs: number;
}

/**
 * `$0` is the grace in tenths of a second, descriptor 3 the lifeline; 4 and 5 are the channel, where there is one, which
 * the child finds as 3 and 4. The watcher shares the child's group and ignores the SIGTERM it sends to it; it wakes when
 * the other end of the lifeline is gone, which the kernel sees to. It holds no end of the channel open.
 */
const LIFELINE = `
{ trap '' TERM INT HUP
  read -r _ <&3
  kill -TERM 0
  tenths=0
  while [ "$tenths" -lt "$0" ] && kill -0 $$ 2>/dev/null; do sleep 0.1; tenths=$((tenths+1)); done
  kill -KILL 0
} </dev/null >/dev/null 2>&1 4<&- 5>&- &
`;
const EXEC = `${LIFELINE}exec "$@" 3<&-`;
const EXEC_WITH_CHANNEL = `${LIFELINE}exec "$@" 3<&4 4>&5 5>&-`;

const PIPES = ["pipe", "pipe", "pipe"] as const;

function startWithLifeline({ executable, args, cwd, env, graceMs, channel }: StartOptions): Started {
  const tenths = String(Math.ceil(graceMs / 100));
  const script = channel ? EXEC_WITH_CHANNEL : EXEC;
  const child = spawn("/bin/sh", ["-c", script, tenths, executable, ...args], {
    cwd,
    env,
    detached: true,
    stdio: [...PIPES, "pipe", ...(channel ? (["pipe", "pipe"] as const) : [])],
  });
  const lifeline = child.stdio[3];
  // Its other end belongs to the watcher: an error means that the watcher has ended, with the group.
  lifeline?.on("error", () => {});
  return { child, channel: channel ? pipesAt(child, 4) : undefined, endGroup: () => lifeline?.destroy(), graceMs };
}

/** A child that could not be started has no pipes; its error says why. */
function pipesAt(child: ChildProcess, first: 3 | 4): ChildPipes | undefined {
  const [input, output] = child.stdio.slice(first) as (Writable | Readable | null)[];
  if (!input || !output) return undefined;
  // A child that has closed its end is noticed by its exit; the failed write says nothing more.
  for (const pipe of [input, output]) pipe.on("error", () => {});
  return { input: input as Writable, output: output as Readable };
}

function startOnWindows({ executable, args, cwd, env, graceMs, channel }: StartOptions): Started {
  const stdio = [...PIPES, ...(channel ? (["pipe", "pipe"] as const) : [])];
  const child = spawn(executable, args, { cwd, env, stdio, windowsHide: true });
  const endGroup = (): void => {
    spawn("taskkill", ["/T", "/F", "/PID", String(child.pid)], { stdio: "ignore" }).on("error", () => child.kill());
  };
  return { child, channel: channel ? pipesAt(child, 3) : undefined, endGroup, graceMs };
}

function handle({ child, channel, endGroup, graceMs }: Started): SpawnedChild {
  const exited = new Promise<ChildExit>((resolve) => {
    // Not "close": the watcher keeps the lifeline open until we let go of it here.
    child.once("exit", (code, signal) => {
      endGroup();
      channel?.input.destroy();
      resolve({ code, signal });
    });
  });
  const { stdin, stdout, stderr, pid } = child;
  if (!stdin || !stdout || !stderr || pid === undefined) throw new Error("The child was started without its pipes.");
  // A child that has closed its input is noticed by its exit; the failed write says nothing more.
  stdin.on("error", () => {});
  const handed = { pid, stdin, stdout, stderr, exited, stop: () => stop({ child, endGroup, graceMs }, exited) };
  return channel ? { ...handed, channel } : handed;
}

async function stop({ child, endGroup, graceMs }: Omit<Started, "channel">, exited: Promise<ChildExit>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  endGroup();
  // The watcher can be killed like any process. Without it the child itself still has to go.
  const lastResort = setTimeout(() => child.kill("SIGKILL"), graceMs + 1_000);
  await exited;
  clearTimeout(lastResort);
}

function spawned(child: ChildProcess, command: string): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", (cause) => {
      reject(new Error(`Cannot start "${command}": ${cause.message}. Check that it may be run here.`, { cause }));
    });
  });
}

function assertFolder(cwd: string, command: string): void {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`Cannot start "${command}": the folder "${cwd}" does not exist. Give an existing folder as cwd.`);
}
