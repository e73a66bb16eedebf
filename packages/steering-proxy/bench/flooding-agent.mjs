#!/usr/bin/env node
/**
 * A bare ACP agent without an SDK: a prompt of `{"bytes":…,"line":…}` is answered after so many bytes of updates, each line
 * as long as was asked for. One of `{"echo":true}` is never answered: from then on each notification of the client is
 * answered with an update. A turn is open meanwhile, as in life.
 */
import { createInterface } from "node:readline";

const SESSION = "session-0f1c";
const CHUNK_BYTES = 65_536;

/** @param {object} message */
const line = (message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;

/** @param {number} length */
function update(length) {
  /** @param {string} text */
  const withText = (text) =>
    line({
      method: "session/update",
      params: {
        sessionId: SESSION,
        update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
      },
    });
  return withText("x".repeat(Math.max(0, length - withText("").length)));
}

/**
 * @param {number | string} id
 * @param {{ bytes: number, line: number }} wanted
 */
function flood(id, wanted) {
  const one = update(wanted.line);
  const chunk = Buffer.from(one.repeat(Math.max(1, Math.floor(CHUNK_BYTES / one.length))));
  let left = wanted.bytes;
  const write = () => {
    while (left > 0) {
      left -= chunk.length;
      if (!process.stdout.write(chunk)) return void process.stdout.once("drain", write);
    }
    process.stdout.write(line({ id, result: { stopReason: "end_turn" } }));
  };
  write();
}

/**
 * @param {number | string} id
 * @param {{ bytes?: number, line?: number, echo?: boolean }} wanted
 */
function begin(id, { bytes = 0, line: length = 0, echo = false }) {
  if (!echo) flood(id, { bytes, line: length });
}

const ECHO = update(200);

createInterface({ input: process.stdin }).on("line", (text) => {
  const { id, method, params } = JSON.parse(text);
  if (method === "initialize")
    process.stdout.write(line({ id, result: { protocolVersion: 1, agentCapabilities: {} } }));
  else if (method === "session/new") process.stdout.write(line({ id, result: { sessionId: SESSION } }));
  else if (method === "session/prompt") begin(id, JSON.parse(params.prompt[0].text));
  else if (id === undefined) process.stdout.write(ECHO);
  else process.stdout.write(line({ id, result: {} }));
});
