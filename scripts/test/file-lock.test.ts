import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withFileLock } from "../file-lock.mjs";

let folder: string;
let lock: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "acp-steering-lock-"));
  lock = join(folder, "lock");
});

afterEach(() => rmSync(folder, { recursive: true }));

test("the second waits until the first has finished, and is told for whom", async () => {
  const order: string[] = [];
  const holders: number[] = [];
  let noteWait = () => {};
  const waits = new Promise<void>((resolve) => {
    noteWait = resolve;
  });
  const first = withFileLock(lock, async () => {
    order.push("first begins");
    await waits;
    order.push("first ends");
  });
  const second = withFileLock(
    lock,
    async () => {
      order.push("second");
    },
    (holder) => {
      holders.push(holder);
      noteWait();
    },
  );
  await Promise.all([first, second]);
  expect(order).toEqual(["first begins", "first ends", "second"]);
  expect(holders).toEqual([process.pid]);
});

test("the lock is released when the work fails", async () => {
  await expect(withFileLock(lock, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(existsSync(lock)).toBe(false);
});

test("a lock whose process is gone is taken over", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(lock, String(pid));
  expect(await withFileLock(lock, async () => "done")).toBe("done");
});
