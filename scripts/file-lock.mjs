import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

const POLL_MILLISECONDS = 200;

/**
 * Runs `work` while no other process runs work under the same lock file. A lock whose process is gone is taken over.
 *
 * @template Result
 * @param {string} path the lock file; its folder exists
 * @param {() => Promise<Result>} work
 * @param {(holder: number) => void} [onWait] called once, with the process id of the holder
 * @returns {Promise<Result>}
 */
export async function withFileLock(path, work, onWait = () => {}) {
  await acquire(path, onWait);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

/**
 * @param {string} path
 * @param {(holder: number) => void} onWait
 */
async function acquire(path, onWait) {
  let hasWaited = false;
  while (!tryCreate(path)) {
    const holder = holderOf(path);
    if (holder === undefined) {
      continue;
    }
    if (!isAlive(holder)) {
      discard(path, holder);
      continue;
    }
    if (!hasWaited) {
      hasWaited = true;
      onWait(holder);
    }
    await delay(POLL_MILLISECONDS);
  }
}

/**
 * A hard link appears with its content in one step, so that no other process reads a lock without a holder.
 *
 * @param {string} path
 * @returns {boolean}
 */
function tryCreate(path) {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, String(process.pid));
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") {
      return false;
    }
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * @param {string} path
 * @returns {number | undefined} undefined where the lock has just been released
 */
function holderOf(path) {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}

/**
 * @param {number} processId
 * @returns {boolean}
 */
function isAlive(processId) {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/**
 * Moves the dead lock aside first: of several waiters only one can, and a lock that changed hands meanwhile is put back.
 *
 * @param {string} path
 * @param {number} holder
 */
function discard(path, holder) {
  const aside = `${path}.${process.pid}.dead`;
  try {
    renameSync(path, aside);
    if (holderOf(aside) !== holder) {
      linkSync(aside, path);
    }
  } catch (error) {
    if (codeOf(error) !== "ENOENT" && codeOf(error) !== "EEXIST") {
      throw error;
    }
  } finally {
    rmSync(aside, { force: true });
  }
}

/**
 * @param {unknown} error
 * @returns {unknown}
 */
function codeOf(error) {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
