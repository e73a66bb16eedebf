import { agent, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { steering } from "../dist/index.js";

const WORK = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "at work" } };

/** An agent whose prompts end when `release` says so, and that talks when `say` tells it to. */
function benchApp() {
  const open = new Map();
  let sessions = 0;
  const app = agent({ name: "bench" })
    .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
    .onRequest("session/new", () => {
      sessions += 1;
      return { sessionId: `session-${sessions}` };
    })
    .onRequest("session/close", () => ({}))
    .onRequest(
      "session/prompt",
      ({ params: { sessionId }, client }) =>
        new Promise((resolve) => {
          const say = () => client.notify("session/update", { sessionId, update: WORK });
          open.set(sessionId, { say, end: () => resolve({ stopReason: "end_turn" }) });
        }),
    )
    .onRequest(
      "_bench/empty",
      (params) => params,
      () => ({}),
    );
  return {
    app,
    release: (sessionId) => open.get(sessionId)?.end(),
    say: (sessionId) => open.get(sessionId)?.say(),
  };
}

/** Byte pipes of the runtime, so that messages are encoded and parsed as over stdio. */
function ndJsonPair() {
  const there = new TransformStream();
  const back = new TransformStream();
  return [ndJsonStream(there.writable, back.readable), ndJsonStream(back.writable, there.readable)];
}

/** A client that sends raw messages and awaits answers by id. */
class BenchClient {
  #next = 0;
  #waiting = new Map();
  #writer;
  notifications = 0;

  constructor(stream) {
    this.#writer = stream.writable.getWriter();
    void this.#read(stream.readable.getReader());
  }

  async #read(reader) {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const { id, method } = next.value;
      if (method !== undefined) this.notifications += 1;
      else {
        this.#waiting.get(id)?.(next.value);
        this.#waiting.delete(id);
      }
    }
  }

  request(method, params) {
    this.#next += 1;
    const id = this.#next;
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve));
    void this.#writer.write({ jsonrpc: "2.0", id, method, params });
    return answer;
  }

  close() {
    return this.#writer.close();
  }
}

/** A steerable of the bench agent with one initialized client. */
export async function connected(options = { inbox: true }) {
  const bench = benchApp();
  const steerable = steering(bench.app, options);
  const [near, far] = ndJsonPair();
  steerable.connect(far);
  const client = new BenchClient(near);
  await client.request("initialize", {
    protocolVersion: 1,
    clientCapabilities: { _meta: { steering: { receipts: true } } },
  });
  /** A step boundary of the agent: it takes what is pending and goes on working. */
  const takeAll = async (sessionId) => {
    const taken = steerable.take(sessionId);
    await bench.say(sessionId);
    return taken;
  };
  return { ...bench, takeAll, client };
}

/** The bench agent without the layer, with one initialized client. */
export async function connectedBare() {
  const bench = benchApp();
  const [near, far] = ndJsonPair();
  bench.app.connect(far);
  const client = new BenchClient(near);
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  return { ...bench, client };
}

export async function newSession(client) {
  const { result } = await client.request("session/new", { cwd: "/", mcpServers: [] });
  return result.sessionId;
}

export const textPrompt = (text) => [{ type: "text", text }];
