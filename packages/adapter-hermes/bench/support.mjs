import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The interpreter whose agent does what the prompt says. */
export const PYTHON = path("agent/python");

/** A home with a model that nobody asks. */
export async function createHome() {
  const folder = await mkdtemp(join(tmpdir(), "acp-steering-bench-"));
  const model = { provider: "custom", default: "none", base_url: "http://127.0.0.1:1/v1", api_key: "none" };
  await writeFile(join(folder, "config.yaml"), JSON.stringify({ model }));
  return { folder, remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The adapter as an editor starts it, and every line that it says, with the time at which it was read. */
export class Editor {
  #child;
  #next = 0;
  #pending = new Map();
  onUpdate = () => {};

  constructor(home) {
    const args = [path("../dist/cli.js"), "--python", PYTHON, "--hermes-home", home];
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.log = "";
    this.#child.stderr.on("data", (data) => {
      this.log += data;
    });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#read(line));
  }

  request(method, params) {
    this.#next += 1;
    const id = this.#next;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }

  async open(cwd) {
    const { result } = await this.request("session/new", { cwd, mcpServers: [] });
    return result.sessionId;
  }

  prompt(sessionId, text) {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The pid of the Python process. */
  get hermes() {
    return Number(/process (\d+)/.exec(this.log)?.[1]);
  }

  /** The most memory that the adapter's own process has used, in MB. */
  async peakMemory() {
    const status = await readFile(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s*(\d+)/.exec(status)?.[1]) / 1024;
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin.end();
    await ended;
  }

  #read(line) {
    const message = JSON.parse(line);
    if (message.method === "session/update") return this.onUpdate(message.params.update);
    this.#pending.get(message.id)?.(message);
  }
}

/** The time of day in milliseconds, finer than Date.now(). */
export const timeOfDay = () => performance.timeOrigin + performance.now();
