import { readdirSync, readFileSync } from "node:fs";

/** Resolves when no process has that setting in its environment; rejects after a generous while, naming what is left. */
export async function noneLeft(name: string, value: string): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (let left = holdersOf(name, value); left.length > 0; left = holdersOf(name, value)) {
    if (Date.now() > deadline) throw new Error(`is left: ${left.map(describe).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The processes of this machine that inherited that setting, by Linux' process table. */
function holdersOf(name: string, value: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)
    .filter((pid) => read(pid, "environ").split("\0").includes(`${name}=${value}`));
}

const describe = (pid: number): string => `${pid} (${read(pid, "cmdline").replaceAll("\0", " ").trim()})`;

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
