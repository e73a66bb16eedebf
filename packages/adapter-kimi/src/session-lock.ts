import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VendorError } from "@acp-steering/kit";

/** Beside Kimi's own files, since it is this home that two adapters must not share a session of. */
const FOLDER = "acp-steering";

/**
 * Takes a session for this process. Kimi itself lets two servers run turns on one session at once, each without the
 * messages of the other.
 *
 * @param home Kimi's home
 * @returns gives the session back
 * @throws VendorError `sessionInUse` where another adapter that lives has it
 */
export function lockSession(home: string, sessionId: string): () => void {
  const folder = join(home, FOLDER);
  const file = join(folder, `${encodeURIComponent(sessionId)}.lock`);
  mkdirSync(folder, { recursive: true });
  const holder = take(file);
  if (holder !== undefined) throw sessionInUse(sessionId, `process ${holder}`);
  return () => {
    if (readHolder(file) === process.pid) rmSync(file, { force: true });
  };
}

/** Somebody else works in that session. */
export function sessionInUse(sessionId: string, by: string): VendorError {
  return new VendorError(`Session ${sessionId} is in use by another Kimi (${by}). Close it there first, or fork it.`, {
    data: { reason: "sessionInUse" },
  });
}

/** The process that has it; `undefined` when it is ours now. A lock appears with its holder's number in it, or not at all. */
function take(file: string): number | undefined {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, String(process.pid));
  try {
    while (!appears(own, file)) {
      const holder = readHolder(file);
      if (holder === process.pid) return undefined;
      if (holder !== undefined && isAlive(holder)) return holder;
      remove(file, holder, `${own}.old`);
    }
    return undefined;
  } finally {
    rmSync(own, { force: true });
  }
}

function appears(own: string, file: string): boolean {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

/** Takes the lock of a holder that is gone away, and puts it back where another adapter was faster and has it by now. */
function remove(file: string, holder: number | undefined, aside: string): void {
  try {
    renameSync(file, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    return;
  }
  if (readHolder(aside) !== holder) appears(aside, file);
  rmSync(aside, { force: true });
}

function readHolder(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
