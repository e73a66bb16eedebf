import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

const NAME = "ACP_STEER_CHECK";

/**
 * Finds what an agent has started and put out of reach of its process group, by a word in the environment that all of
 * it inherits. On Linux only: elsewhere no process shows its environment.
 */
export class Leftovers {
  readonly environment: Readonly<Record<string, string>> = { [NAME]: randomUUID() };

  /** Ends all that is left; gives how many there were. */
  end(): number {
    const mark = `${NAME}=${this.environment[NAME]}`;
    const left = processIds().filter((pid) => pid !== process.pid && environmentOf(pid).includes(mark));
    for (const pid of left) kill(pid);
    return left.length;
  }
}

function processIds(): readonly number[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    // It has ended meanwhile, or is somebody else's.
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
