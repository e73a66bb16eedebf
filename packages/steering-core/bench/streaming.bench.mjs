// Updates per second over stdio, through the layer against the bare SDK, in interleaved rounds with fresh processes.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { median, row } from "../../../scripts/bench-row.mjs";

const ROUNDS = 9;
const UPDATES = 100_000;
const AGENT = fileURLToPath(new URL("streaming-agent.mjs", import.meta.url));

/** Sends one prompt to an agent process and times the updates until its answer. Reads bytes, parses nothing on the way. */
async function updatesPerSecond(mode) {
  const child = spawn(process.execPath, [AGENT, mode, String(UPDATES)], { stdio: ["pipe", "pipe", "inherit"] });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let tail = "";
  const until = (id) =>
    new Promise((resolve, reject) => {
      const look = (bytes) => {
        tail = (tail + bytes.latin1Slice(Math.max(0, bytes.length - 400))).slice(-400);
        if (!tail.includes(`"id":${id},`) && !tail.includes(`"id":${id}}`)) return;
        child.stdout.off("data", look);
        resolve();
      };
      child.stdout.on("data", look);
      child.once("error", reject);
    });
  const answered = async (message) => {
    const answer = until(message.id);
    send(message);
    await answer;
  };
  await answered({ id: 71_001, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
  await answered({ id: 71_002, method: "session/new", params: { cwd: "/", mcpServers: [] } });
  const begun = performance.now();
  await answered({
    id: 71_003,
    method: "session/prompt",
    params: { sessionId: "session", prompt: [{ type: "text", text: "go" }] },
  });
  const took = performance.now() - begun;
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return (UPDATES / took) * 1_000;
}

export async function run() {
  const rates = { bare: [], layer: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? ["bare", "layer"] : ["layer", "bare"];
    for (const mode of order) rates[mode].push(await updatesPerSecond(mode));
  }
  const ratios = rates.layer.map((rate, round) => rate / rates.bare[round]);
  const detail = `${Math.round(median(rates.layer))} against ${Math.round(median(rates.bare))} updates/s, ${ROUNDS} rounds of ${UPDATES}; single rounds ${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
  return [
    row(
      "updates per second, layer / bare SDK, median over stdio",
      median(rates.layer) / median(rates.bare),
      "at least 0.95",
      "×",
      detail,
    ),
  ];
}
