import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { findPython, interpreterOf, pythonEnvironment } from "../src/find-python.js";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "acp-steering-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** An interpreter that has Hermes, or says why not. */
function interpreter(path: string, complaint?: string): string {
  const script = complaint === undefined ? "exit 0" : `echo '${complaint}' >&2; exit 1`;
  return executable(path, `#!/bin/sh\n${script}\n`);
}

function executable(path: string, content: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, 0o755);
  return path;
}

/** Nothing of this machine: no Hermes, no python3. */
function emptyMachine(): { root: string; env: Record<string, string> } {
  const root = folder();
  return { root, env: { PATH: join(root, "bin"), HERMES_HOME: join(root, "home") } };
}

describe("the interpreter of Hermes", () => {
  test("is the one that was named, and no other", async () => {
    const { root, env } = emptyMachine();
    const own = interpreter(join(root, "own"), "has no Hermes");
    interpreter(join(root, "home/hermes-agent/venv/bin/python"));
    await expect(findPython({ python: own, env })).rejects.toMatchObject({
      code: "hermesNotFound",
      message: expect.stringContaining(`--python (${own}): has no Hermes`),
    });
    const other = interpreter(join(root, "other"));
    expect(await findPython({ env: { ...env, HERMES_STEERING_PYTHON: other } })).toBe(other);
    expect(await findPython({ python: other, env: { ...env, HERMES_STEERING_PYTHON: own } })).toBe(other);
  });

  test("is looked for in the install folder, the home, beside the command, then on PATH", async () => {
    const { root, env } = emptyMachine();
    const inPath = interpreter(join(root, "bin/python3"));
    const found = (): Promise<string> => findPython({ env: { ...env, HERMES_INSTALL_DIR: join(root, "told") } });
    expect(await found()).toBe(inPath);
    const behind = interpreter(join(root, "app/bin/python"));
    executable(join(root, "app/bin/hermes"), `#!${behind}\nimport sys\n`);
    symlinkSync(join(root, "app/bin/hermes"), join(root, "bin/hermes"));
    expect(await found()).toBe(behind);
    const atHome = interpreter(join(root, "home/hermes-agent/.venv/bin/python"));
    expect(await found()).toBe(atHome);
    const told = interpreter(join(root, "told/venv/bin/python"));
    expect(await found()).toBe(told);
  });

  test("that lacks Hermes is passed over", async () => {
    const { root, env } = emptyMachine();
    interpreter(join(root, "home/hermes-agent/venv/bin/python"), "has no Hermes");
    const next = interpreter(join(root, "bin/python3"));
    expect(await findPython({ env })).toBe(next);
  });

  test("that is nowhere is an error which lists every place and what to do", async () => {
    const { root, env } = emptyMachine();
    interpreter(join(root, "bin/python3"), "Python 3.9, Hermes needs 3.11 or newer");
    const { message } = (await findPython({ env }).catch((error: unknown) => error)) as Error;
    expect(message).toMatch(/^Cannot find Hermes Agent\. Install Hermes Agent .*--python/);
    expect(message).toContain(`${join(root, "home/hermes-agent/venv/bin/python")}: not there`);
    expect(message).toContain("the hermes command on PATH: no such command");
    expect(message).toContain("python3 on PATH (python3): Python 3.9, Hermes needs 3.11 or newer");
  });

  test("does not get the folders of another Python", () => {
    const env = pythonEnvironment({ PATH: ["a", "b"].join(delimiter), PYTHONPATH: "x", PYTHONHOME: "y" });
    expect(env).toEqual({ PATH: ["a", "b"].join(delimiter) });
  });
});

describe("the interpreter behind a hermes command", () => {
  test.each([
    ["a console script", "#!/opt/hermes/venv/bin/python3.11\nimport sys", "/opt/hermes/venv/bin/python3.11"],
    ["pip's form for long paths", `#!/bin/sh\n'''exec' "/opt/a b/bin/python" "$0" "$@"\n' '''`, "/opt/a b/bin/python"],
    [
      "a shim",
      '#!/usr/bin/env bash\nunset PYTHONPATH\nexec "/opt/hermes/venv/bin/hermes" "$@"',
      "/opt/hermes/venv/bin/python",
    ],
    [
      "a shim with a variable",
      '#!/bin/bash\nHERMES_BIN="/opt/h/bin/hermes"\nexec "$HERMES_BIN" "$@"',
      "/opt/h/bin/python",
    ],
    ["something else", "#!/bin/sh\necho hello", undefined],
  ])("is read out of %s", (_what, head, path) => {
    expect(interpreterOf("/usr/local/bin/hermes", head)).toBe(path);
  });
});
