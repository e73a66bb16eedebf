import { spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startModelServer } from "@acp-steering/testkit/model-server";
import { ensureVendor } from "../../../scripts/vendors.mjs";

const CLI = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** The real Kimi with a scripted model, and the adapter over it, as an editor starts it. */
export async function setUp() {
  const plan = [];
  const server = await startModelServer({ script: () => plan.shift() ?? { text: "ok" } });
  const home = await mkdtemp(join(tmpdir(), "acp-steering-bench-"));
  await writeFile(join(home, "config.toml"), settings(server.url));
  const command = ["--home", home, "--kimi", await ensureVendor("kimi"), "--node", await ensureVendor("node24")];
  const startAdapter = () => new Editor(command);
  const adapter = startAdapter();
  await adapter.initialize();
  return {
    adapter,
    model: { plan, held: (name) => server.held(name), release: (name) => server.release(name) },
    startAdapter,
    startNode,
    open: async () => (await adapter.request("session/new", { cwd: home, mcpServers: [] })).sessionId,
    killKimi: () => process.kill(serverOf(home), "SIGKILL"),
    close: async () => {
      await adapter.close();
      await server.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function settings(modelUrl) {
  return `default_model = "scripted"
telemetry = false

[providers.local]
type = "openai"
base_url = "${modelUrl}"
api_key = "sk-none"

[models.scripted]
provider = "local"
model = "scripted-model"
max_context_size = 200000
capabilities = ["tool_use"]
`;
}

/** Certificates cost the start of Node more than anything else does, and are not what is measured. */
function environment() {
  const { NODE_EXTRA_CA_CERTS: _certificates, ...env } = process.env;
  return env;
}

/** How long Node takes to say one word. */
async function startNode() {
  const begun = performance.now();
  const child = spawn(process.execPath, ["-e", "process.stdout.write('.')"], { env: environment() });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const took = performance.now() - begun;
  await new Promise((resolve) => child.once("exit", resolve));
  return took;
}

/** Kimi's server of that home, by Linux' process table. */
function serverOf(home) {
  const found = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const environ = readFileSync(`/proc/${pid}/environ`, "utf8");
        return environ.includes(`KIMI_CODE_HOME=${home}\0`) && readlinkSync(`/proc/${pid}/exe`).endsWith("/node");
      } catch {
        return false;
      }
    });
  if (!found) throw new Error("Kimi's server is not there.");
  return Number(found);
}

class Editor {
  #child;
  #next = 0;
  #pending = new Map();
  #received = new Map();

  constructor(args) {
    this.#child = spawn(process.execPath, [CLI, ...args], { env: environment(), stdio: ["pipe", "pipe", "ignore"] });
    createInterface({ input: this.#child.stdout }).on("line", (line) => this.#receive(JSON.parse(line)));
  }

  request(method, params) {
    const id = this.#next++;
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
  }

  initialize() {
    const clientCapabilities = { _meta: { steering: { receipts: true } } };
    return this.request("initialize", { protocolVersion: 1, clientCapabilities });
  }

  prompt(sessionId, text) {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  steer(sessionId, text) {
    return this.request("_session/steering", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** When a receipt of that kind came last. */
  receivedAt(state) {
    return this.#received.get(state);
  }

  /** In megabytes, by Linux' process table. */
  peakMemory() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.stdin.end();
    await ended;
  }

  #receive({ id, method, params, result, error }) {
    if (method === "_session/steering/update") this.#received.set(params.state, performance.now());
    if (method !== undefined) return;
    const { resolve, reject } = this.#pending.get(id) ?? {};
    this.#pending.delete(id);
    if (error) reject?.(error);
    else resolve?.(result);
  }
}
