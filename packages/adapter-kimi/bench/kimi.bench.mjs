// What the adapter costs beside Kimi: the first answer, memory, a steer's way to Kimi, and what a killed server costs.
import { median, row } from "../../../scripts/bench-row.mjs";
import { setUp } from "./support.mjs";

const STARTS = 7;
const STEERS = 20;

export async function run() {
  const place = await setUp();
  try {
    return [
      await firstAnswer(place),
      ...(await steers(place)),
      row("memory of the Node side, at most so far", place.adapter.peakMemory(), "at most 110", "MB"),
      await killed(place),
    ];
  } finally {
    await place.close();
  }
}

/** Without Kimi, which starts with the first session. */
async function firstAnswer({ startAdapter, startNode }) {
  const delays = [];
  for (let start = 0; start < STARTS; start += 1) {
    const node = await startNode();
    const adapter = startAdapter();
    const begun = performance.now();
    await adapter.initialize();
    delays.push(performance.now() - begun - node);
    await adapter.close();
  }
  return row("first answer to initialize, beyond what node starts in, median", median(delays), "at most 300", "ms");
}

async function steers({ adapter, model, open }) {
  const sessionId = await open();
  const [injected, delivered] = [[], []];
  for (let index = 0; index < STEERS; index += 1) {
    const name = `steer ${index}`;
    model.plan.push({ text: ["A", " word."], hold: name, holdAt: "afterFirstChunk" });
    const turn = adapter.prompt(sessionId, name);
    await model.held(name);
    const begun = performance.now();
    await adapter.steer(sessionId, "And this.");
    injected.push(performance.now() - begun);
    model.release(name);
    await turn;
    delivered.push(adapter.receivedAt("delivered") - begun);
  }
  return [
    row("a steer's answer while the model speaks, median", median(injected), "at most 20", "ms"),
    row("a steer's receipt, with the end of the model's speech, median", median(delivered), "at most 1000", "ms"),
  ];
}

async function killed({ adapter, model, open, killKimi }) {
  const sessionId = await open();
  model.plan.push({ text: ["A", " word."], hold: "killed", holdAt: "afterFirstChunk" });
  const turn = adapter.prompt(sessionId, "Long work");
  await model.held("killed");
  const begun = performance.now();
  killKimi();
  const error = await turn.then(
    () => undefined,
    (reason) => reason,
  );
  const took = performance.now() - begun;
  if (error?.data?.reason !== "agentExited") throw new Error(`the killed turn ended with ${JSON.stringify(error)}`);
  const restart = performance.now();
  await adapter.prompt(sessionId, "Still there?");
  const again = performance.now() - restart;
  return row(
    "kill -9 of Kimi's server: error of the turn",
    took,
    "at most 1000",
    "ms",
    `next prompt ${again.toFixed(0)} ms`,
  );
}
