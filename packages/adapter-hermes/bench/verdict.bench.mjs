// The bridge's verdict on a steer while a Python thread of the turn does nothing but compute.
import { median, row } from "../../../scripts/bench-row.mjs";
import { hermesVendor } from "../dist/index.js";
import { createHome, PYTHON } from "./support.mjs";

const STEERS = 200;

export async function run() {
  const home = await createHome();
  const vendor = hermesVendor({ python: PYTHON, hermesHome: home.folder, log: () => {} });
  try {
    const session = await vendor.open({ cwd: home.folder, mcpServers: [] });
    const { turn, begun, abort } = busyTurn();
    const ended = session.prompt(turn);
    await begun;
    const times = [];
    for (let index = 0; index < STEERS; index += 1) times.push(await verdictTime(session, index));
    abort.abort();
    session.interrupt();
    await ended;
    const worst = Math.max(...times);
    return [
      row(
        "verdict on a steer under a busy Python thread, median",
        median(times),
        "at most 5",
        "ms",
        `${STEERS} steers, worst ${worst.toFixed(1)} ms`,
      ),
    ];
  } finally {
    await vendor.dispose();
    await home.remove();
  }
}

/** A turn that computes until it is interrupted. */
function busyTurn() {
  const abort = new AbortController();
  let begin = () => {};
  const begun = new Promise((resolve) => {
    begin = resolve;
  });
  const turn = {
    prompt: [{ type: "text", text: "busy 60" }],
    continuation: false,
    signal: abort.signal,
    update: ({ content }) => content?.text === "busy " && begin(),
    flushed: async () => {},
    requestPermission: async () => ({ outcome: { outcome: "cancelled" } }),
    take: () => [],
  };
  return { turn, begun, abort };
}

async function verdictTime(session, index) {
  const { signal } = new AbortController();
  const prompt = [{ type: "text", text: "not that file" }];
  const begun = performance.now();
  const verdict = await session.steer({
    turnId: "t",
    messageId: `m${index}`,
    prompt,
    signal,
    delivered: () => {},
    undelivered: () => {},
  });
  if (verdict !== "accepted") throw new Error(`The steer was answered ${verdict}.`);
  return performance.now() - begun;
}
