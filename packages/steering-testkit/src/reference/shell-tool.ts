import { once } from "node:events";
import { spawnChild } from "@acp-steering/kit/process";

/** The one tool that is offered to the model. */
export const SHELL_TOOL = {
  type: "function",
  function: {
    name: "shell",
    description: "Runs a command with sh in the project's folder and gives back what it prints.",
    parameters: {
      type: "object",
      properties: { command: { type: "string", description: "The command line." } },
      required: ["command"],
    },
  },
} as const;

/** What a command came to. */
export interface ShellResult {
  readonly ok: boolean;
  readonly output: string;
}

const OUTPUT_LIMIT = 100_000;
const STOP_GRACE_MS = 200;

/** Runs a command; an abort ends it, with all it has started, and does not wait for it. */
export async function runShell(command: string, cwd: string, signal: AbortSignal): Promise<ShellResult> {
  const child = await spawnChild({ command: "sh", args: ["-c", command], cwd, graceMs: STOP_GRACE_MS });
  child.stdin.end();
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(0, OUTPUT_LIMIT);
    });
  }
  const closed = [child.stdout, child.stderr].map((stream) => once(stream, "close"));
  const finished = Promise.all([child.exited, ...closed]).then(([{ code }]) => code);
  const aborted = new Promise<"aborted">((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });
  const code = await Promise.race([finished, aborted]);
  if (code === "aborted") {
    void child.stop();
    return { ok: false, output: `${output}\n(ended by the user)` };
  }
  return code === 0 ? { ok: true, output } : { ok: false, output: `${output}\n(exit code ${code})` };
}
