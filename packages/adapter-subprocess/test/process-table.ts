import { readdirSync, readFileSync } from "node:fs";

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** The children of a process that lead a group of their own, by Linux' process table; not the watcher of its lifeline. */
export function childrenOf(parent: number): number[] {
  return processes()
    .filter((entry) => entry.parent === parent && entry.group === entry.pid)
    .map((entry) => entry.pid);
}

/** Resolves when no process of that group is left; rejects after a generous while, naming what is left. */
export async function groupGone(group: number): Promise<void> {
  const deadline = Date.now() + 15_000;
  for (let left = membersOf(group); left.length > 0; left = membersOf(group)) {
    if (Date.now() > deadline) throw new Error(`of the process group ${group} is left: ${left.join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export function membersOf(group: number): number[] {
  return processes()
    .filter((entry) => entry.group === group)
    .map(({ pid }) => pid);
}

function processes(): ProcessEntry[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readEntry(Number(name)));
}

function readEntry(pid: number): ProcessEntry[] {
  try {
    // The name stands in parentheses and may hold anything: what follows the last one is state, parent, group.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const [state, parent, group] = fields;
    // A zombie has ended; who reaps it is not ours to see to.
    return state === "Z" ? [] : [{ pid, parent: Number(parent), group: Number(group) }];
  } catch {
    return [];
  }
}
