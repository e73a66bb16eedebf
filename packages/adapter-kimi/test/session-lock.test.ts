import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { lockSession } from "../src/session-lock.js";

const beforeRename = vi.hoisted(() => ({ run: () => {} }));

vi.mock("node:fs", async (load) => {
  const fs = await load<typeof import("node:fs")>();
  const renameSync: typeof fs.renameSync = (from, to) => {
    beforeRename.run();
    fs.renameSync(from, to);
  };
  return { ...fs, renameSync };
});

let home = "";
const lockFile = (): string => join(home, "acp-steering", "session_1.lock");

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "acp-steering-lock-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

describe("one adapter for a session", () => {
  test("is taken and given back, also twice by one process", () => {
    const release = lockSession(home, "session_1");
    lockSession(home, "session_1");
    lockSession(home, "session_2");
    release();
    release();
    expect(readdirSync(join(home, "acp-steering"))).toEqual(["session_2.lock"]);
  });

  test("that another process has is refused while that one lives", async () => {
    const other = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"]);
    lockSession(home, "session_1")();
    writeFileSync(lockFile(), String(other.pid));
    expect(() => lockSession(home, "session_1")).toThrow(/in use by another Kimi \(process \d+\)/);
    const ended = new Promise((resolve) => other.once("exit", resolve));
    other.kill();
    await ended;
    lockSession(home, "session_1")();
  });

  test.each(["", "no number", "-1"])("that says %j about its holder is taken", (text) => {
    lockSession(home, "session_1")();
    writeFileSync(lockFile(), text);
    lockSession(home, "session_1")();
    expect(readdirSync(join(home, "acp-steering"))).toEqual([]);
  });

  test("that another adapter takes while the lock of a dead one is taken away stays with it", () => {
    lockSession(home, "session_1")();
    writeFileSync(lockFile(), "no number");
    beforeRename.run = () => writeFileSync(lockFile(), String(process.ppid));
    onTestFinished(() => {
      beforeRename.run = () => {};
    });
    expect(() => lockSession(home, "session_1")).toThrow(`process ${process.ppid}`);
    expect(readdirSync(join(home, "acp-steering"))).toEqual(["session_1.lock"]);
    expect(readFileSync(lockFile(), "utf8")).toBe(String(process.ppid));
  });
});
