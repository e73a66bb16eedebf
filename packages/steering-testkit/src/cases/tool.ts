import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { updateKind } from "./play.js";
import type { ModelStep, Stage } from "./stage.js";

/** A tool that runs until it is told to end. */
export interface RunningTool {
  finish(): Promise<void>;
}

/** A command that ends when the file is there, and by itself after half a minute: it must not outlive a check for long. */
const waitsFor = (file: string): string =>
  `i=0; until [ -e '${file}' ] || [ $i -ge 600 ]; do i=$((i+1)); sleep 0.05; done; echo finished`;

/** Has the agent run a command; resolves when the agent has begun with it. */
export async function toolRuns(stage: Stage, step: ModelStep): Promise<RunningTool> {
  const { client, cwd } = stage;
  const file = join(cwd, `go-${stage.mark()}`);
  const from = client.log.length;
  step.run(waitsFor(file));
  const shown = client.waitFor((record) => updateKind(record)?.startsWith("tool_call") === true, from);
  await stage.until("the agent to run a tool", Promise.race([shown, stage.quiet()]));
  await stage.quiet();
  return { finish: () => writeFile(file, "") };
}

/** A command that leaves a file, which is what agents ask permission for. */
export const leavesFile = (stage: Stage): string => `echo left > '${join(stage.cwd, `left-${stage.mark()}`)}'`;
