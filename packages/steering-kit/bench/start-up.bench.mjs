// From the start of the process to the answer of `initialize`: each adapter's command against the least that an agent on
// the SDK can be, in one run, one after the other in each round.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { median, row } from "../../../scripts/bench-row.mjs";

const ROUNDS = 15;
const REQUEST = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } };

const pathOf = (relative) => fileURLToPath(new URL(relative, import.meta.url));

const MINIMAL = [fileURLToPath(new URL("minimal-agent.mjs", import.meta.url))];
const ADAPTERS = {
  hermes: [pathOf("../../adapter-hermes/dist/cli.js")],
  kimi: [pathOf("../../adapter-kimi/dist/cli.js")],
  subprocess: [pathOf("../../adapter-subprocess/dist/cli.js"), "--dialect", "pi-rpc", "--", "pi"],
};

export async function run() {
  const minimal = [];
  const adapters = Object.entries(ADAPTERS).map(([name, args]) => ({ name, args, times: [] }));
  for (let round = 0; round < ROUNDS; round += 1) {
    minimal.push(await firstAnswer(MINIMAL));
    for (const { args, times } of adapters) times.push(await firstAnswer(args));
  }
  return adapters.map(({ name, times }) =>
    row(
      `start to the answer of initialize, ${name} against a minimal agent`,
      median(times) / median(minimal),
      "at most 0.6",
      "×",
      `${median(times).toFixed(0)} ms and ${median(minimal).toFixed(0)} ms, medians of ${ROUNDS}`,
    ),
  );
}

/** Milliseconds. */
async function firstAnswer(args) {
  // Node 20 reads it before all else, which would hide the rest.
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
  const begun = performance.now();
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", "pipe", "ignore"] });
  child.stdin.write(`${JSON.stringify(REQUEST)}\n`);
  await once(child.stdout, "data");
  const took = performance.now() - begun;
  child.kill("SIGKILL");
  await once(child, "exit");
  return took;
}
