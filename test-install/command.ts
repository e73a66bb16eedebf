import { execFile } from "node:child_process";
import { delimiter } from "node:path";

export interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Without what the npm or pnpm that runs us told its scripts: its registry would beat the `.npmrc` of a folder, and its
 * PATH would find the workspace's own tools.
 */
export function ownEnvironment(): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|pnpm_|node_env$|vitest|vite_)/i.test(name));
  const { PATH = "", ...rest } = Object.fromEntries(own);
  const path = PATH.split(delimiter).filter((folder) => !folder.includes("node_modules"));
  return { ...rest, PATH: path.join(delimiter) };
}

/** Runs a command to its end; what it wrote is part of the error when it fails. */
export async function run(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Output> {
  const output = await outcomeOf(command, args, { cwd, env });
  if (output.code === 0) return output;
  throw new Error(`${command} ${args.join(" ")} ended with ${output.code}:\n${output.stdout}\n${output.stderr}`);
}

/** The same for a command that may fail. */
export function outcomeOf(
  command: string,
  args: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Output> {
  return new Promise((resolve) => {
    const options = {
      cwd,
      env: { ...ownEnvironment(), ...env },
      maxBuffer: 64 * 1024 * 1024,
      encoding: "utf8",
    } as const;
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = typeof error?.code === "number" ? error.code : error ? 1 : 0;
      resolve({ code, stdout, stderr });
    });
  });
}
