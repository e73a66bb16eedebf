import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { spawnChild } from "../src/process/index.js";

const node = process.execPath;

/** The first line that a stream says. */
async function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  let said = "";
  for await (const chunk of stream) {
    said += String(chunk);
    if (said.includes("\n")) return said.slice(0, said.indexOf("\n"));
  }
  return said;
}

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

async function gone(...pids: number[]): Promise<void> {
  const deadline = Date.now() + 15_000;
  while (pids.some(isAlive)) {
    if (Date.now() > deadline) throw new Error(`still running: ${pids.filter(isAlive).join(", ")}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const KIT = new URL("../dist/process/index.js", import.meta.url);
const PARENT = fileURLToPath(new URL("fixtures/parent.mjs", import.meta.url));

function startParent(graceMs: number, script: string): ChildProcess {
  if (!existsSync(KIT)) throw new Error("The kit is not built. Run `npm run build` first.");
  const args = [PARENT, KIT.href, String(graceMs), "-c", script];
  const parent = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  return parent;
}

describe("a child", () => {
  test("gets its arguments untouched, its folder, its environment and its input", async () => {
    const folder = mkdtempSync(join(tmpdir(), "acp steering "));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const script =
      "process.stdin.resume().on('end', () => console.log(JSON.stringify([process.argv.slice(1), process.cwd(), process.env.MARK])))";
    const args = ["-e", script, "--", "two words", '"quoted"', "$HOME", "*", ""];
    const child = await spawnChild({ command: node, args, cwd: folder, env: { ...process.env, MARK: "here" } });
    child.stdin.end();
    const [argv, cwd, mark] = JSON.parse(await readAll(child.stdout));
    expect(argv).toEqual(["two words", '"quoted"', "$HOME", "*", ""]);
    expect(cwd).toContain("acp steering ");
    expect(mark).toBe("here");
  });

  test("reports its exit code, and the signal that ended it", async () => {
    const exits = await spawnChild({ command: node, args: ["-e", "process.exit(42)"] });
    expect(await exits.exited).toEqual({ code: 42, signal: null });
    const killed = await spawnChild({ command: node, args: ["-e", "setInterval(() => {}, 60000)"] });
    process.kill(killed.pid, "SIGKILL");
    expect(await killed.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("that may clean up does so when it is stopped", async () => {
    const script = "process.on('SIGTERM', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 60000)";
    const child = await spawnChild({ command: node, args: ["-e", script] });
    await firstLine(child.stdout);
    await child.stop();
    expect(await child.exited).toEqual({ code: 7, signal: null });
  });

  test("that ignores SIGTERM is killed after the grace", async () => {
    const script = "process.on('SIGTERM', () => console.log('no')); console.log('ready'); setInterval(() => {}, 60000)";
    const child = await spawnChild({ command: node, args: ["-e", script], graceMs: 200 });
    await firstLine(child.stdout);
    await child.stop();
    expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("with a channel reads what we write and writes what we read, its standard streams apart", async () => {
    const script = 'read -r line <&3; echo "heard $line" >&4; echo said; cat <&3 >&4';
    const child = await spawnChild({ command: "/bin/sh", args: ["-c", script], channel: true });
    child.channel.input.write("hello\n");
    child.channel.input.end("more\n");
    // Both at once: what nobody reads when the child ends, Node throws away.
    const said = await Promise.all([readAll(child.stdout), readAll(child.channel.output)]);
    expect(said).toEqual(["said\n", "heard hello\nmore\n"]);
    expect(await child.exited).toEqual({ code: 0, signal: null });
  });

  test("with a channel that is killed leaves nobody who holds the channel open", async () => {
    const child = await spawnChild({ command: "/bin/sh", args: ["-c", "echo ready >&4; cat <&3"], channel: true });
    process.kill(child.pid, "SIGKILL");
    expect(await readAll(child.channel.output)).toMatch(/^(ready\n)?$/);
  });

  test("takes its group along when it ends by itself", async () => {
    const child = await spawnChild({ command: "/bin/sh", args: ["-c", "sleep 600 >/dev/null 2>&1 & echo $!"] });
    const grandchild = Number(await firstLine(child.stdout));
    expect(await child.exited).toEqual({ code: 0, signal: null });
    await gone(grandchild);
  });

  test("may be stopped twice, and after its end", async () => {
    const child = await spawnChild({ command: node, args: ["-e", "setInterval(() => {}, 60000)"] });
    await Promise.all([child.stop(), child.stop()]);
    await child.stop();
  });

  test("leaves no descriptor behind", async () => {
    const descriptors = (): number => readdirSync("/proc/self/fd").length;
    const before = descriptors();
    for (let count = 0; count < 5; count += 1) {
      const child = await spawnChild({ command: node, args: ["-e", ""] });
      child.stdin.end();
      await Promise.all([child.exited, readAll(child.stdout), readAll(child.stderr)]);
      child.stdin.destroy();
      if (!child.stdin.closed) await once(child.stdin, "close");
    }
    expect(descriptors()).toBeLessThanOrEqual(before);
  });
});

describe("when the parent is killed with -9", () => {
  test("the child and its grandchild are gone", async () => {
    const parent = startParent(2_000, "sleep 600 & echo $$ $!; wait");
    const pids = (await firstLine(parent.stdout as NodeJS.ReadableStream)).split(" ").map(Number);
    expect(pids.every(isAlive)).toBe(true);
    parent.kill("SIGKILL");
    await gone(...pids);
  });

  test("a child that ignores SIGTERM is gone after the grace", async () => {
    const parent = startParent(300, "trap '' TERM; sleep 600 & echo $$ $!; wait");
    const pids = (await firstLine(parent.stdout as NodeJS.ReadableStream)).split(" ").map(Number);
    parent.kill("SIGKILL");
    await gone(...pids);
  });
});

describe("what cannot be started", () => {
  test("a missing command says what to install", async () => {
    await expect(spawnChild({ command: "no-such-command", install: "npm install -g it" })).rejects.toMatchObject({
      code: "executableNotFound",
      message: expect.stringMatching(/"no-such-command".*`npm install -g it`/),
    });
  });

  test("a file without the right to run it counts as missing", async () => {
    const folder = mkdtempSync(join(tmpdir(), "acp-steering-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, "tool"), "#!/bin/sh\n", { mode: 0o644 });
    const env = { ...process.env, PATH: folder };
    await expect(spawnChild({ command: "tool", env })).rejects.toMatchObject({ code: "executableNotFound" });
    await expect(spawnChild({ command: "./tool", cwd: folder })).rejects.toMatchObject({ code: "executableNotFound" });
  });

  test("a missing folder is named", async () => {
    await expect(spawnChild({ command: node, cwd: "/no/such/folder" })).rejects.toThrow(
      'the folder "/no/such/folder" does not exist',
    );
  });
});
