// The child of streaming.bench.mjs: an agent that sends updates for one prompt, bare or behind the layer.
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import { steering } from "../dist/index.js";

const [mode, updates] = process.argv.slice(2);
const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "a token or two of an answer" } };

const app = agent({ name: "streaming" })
  .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: {} }))
  .onRequest("session/new", () => ({ sessionId: "session" }))
  .onRequest("session/prompt", async ({ params: { sessionId }, client }) => {
    let sent = Promise.resolve();
    for (let index = 1; index <= Number(updates); index += 1) {
      sent = client.notify("session/update", { sessionId, update });
      if (index % 64 === 0) await sent;
    }
    await sent;
    return { stopReason: "end_turn" };
  });

const connector = mode === "layer" ? steering(app) : app;
connector.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
