// An agent process behind one of several relays, as a client that reads bytes and parses nothing on the way.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const AGENT = commandOf(new URL("flooding-agent.mjs", import.meta.url));
const PIPE = commandOf(new URL("bare-pipe.mjs", import.meta.url));
const SDK_RELAY = commandOf(new URL("sdk-relay.mjs", import.meta.url));
const ACP_STEER = commandOf(new URL("../../../apps/acp-steer/dist/cli.js", import.meta.url));

/** What stands between the client and the agent. */
const WAYS = {
  direct: AGENT,
  pipe: [...PIPE, ...AGENT],
  proxy: [...ACP_STEER, "wrap", "--", ...AGENT],
  sdk: [...SDK_RELAY, ...AGENT],
};

/** @param {URL} script */
function commandOf(script) {
  return [process.execPath, fileURLToPath(script)];
}

const SEEN_BYTES = 1_024;

/** A turn can be had of it. */
export class WrappedAgent {
  /** Bytes that have come since the last request. */
  bytes = 0;
  #child;
  #tail = "";
  #nextId = 71_001;
  #awaited;

  /** @param {keyof typeof WAYS} way */
  constructor(way) {
    const [command, ...args] = WAYS[way];
    // Node 20 reads it before all else, which would hide the rest.
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    this.#child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"] });
    this.#child.stdout.on("data", (chunk) => this.#read(chunk));
  }

  /** Resolves when the answer has come. Answers stand at the end of what is written. */
  request(method, params) {
    const id = this.#nextId++;
    this.bytes = 0;
    return new Promise((resolve) => {
      this.#awaited = { needles: [`"id":${id},`, `"id":${id}}`], resolve };
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  async open() {
    await this.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await this.request("session/new", { cwd: "/", mcpServers: [] });
    return this;
  }

  /** A turn of so many bytes in lines of that length. @returns megabytes a second */
  async flood(bytes, line) {
    const begun = performance.now();
    await this.prompt({ bytes, line });
    return this.bytes / 1e3 / (performance.now() - begun);
  }

  /** A turn in which the agent does that; see `flooding-agent.mjs`. */
  prompt(deed) {
    const prompt = [{ type: "text", text: JSON.stringify(deed) }];
    return this.request("session/prompt", { sessionId: "session-0f1c", prompt });
  }

  /** A message for the agent, outside of all turns of question and answer. */
  notify(method, params) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  /** Resolves with the next bytes. */
  async next() {
    await once(this.#child.stdout, "data");
  }

  /** Resident memory in megabytes, by Linux' process table. */
  get memory() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024;
  }

  async close() {
    const ended = once(this.#child, "exit");
    this.#child.stdin.end();
    await ended;
  }

  #read(chunk) {
    this.bytes += chunk.length;
    this.#tail = (this.#tail + chunk.latin1Slice(Math.max(0, chunk.length - SEEN_BYTES))).slice(-SEEN_BYTES);
    const awaited = this.#awaited;
    if (!awaited?.needles.some((needle) => this.#tail.includes(needle))) return;
    this.#awaited = undefined;
    awaited.resolve();
  }
}
