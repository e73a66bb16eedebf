// A steer's answer against an empty extension request that the bare SDK answers on the same kind of stream.
import { median, row } from "../../../scripts/bench-row.mjs";
import { connected, connectedBare, newSession, textPrompt } from "./support.mjs";

const ROUNDS = 200;
const REQUESTS = 32;
const WARM_UP = 40;

async function timeEach(count, request) {
  const times = [];
  for (let index = 0; index < count; index += 1) {
    const begun = process.hrtime.bigint();
    await request();
    times.push(Number(process.hrtime.bigint() - begun) / 1_000);
  }
  return times;
}

export async function run() {
  const layer = await connected();
  const bare = await connectedBare();
  const sessionId = await newSession(layer.client);
  void layer.client.request("session/prompt", { sessionId, prompt: textPrompt("go") });
  const steer = () => layer.client.request("_session/steering", { sessionId, prompt: textPrompt("not that file") });
  const empty = () => bare.client.request("_bench/empty", {});
  const steers = [];
  const empties = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    if (round === 0) steers.length = empties.length = 0;
    empties.push(...(await timeEach(REQUESTS, empty)));
    steers.push(...(await timeEach(REQUESTS, steer)));
    await layer.takeAll(sessionId);
  }
  const detail = `${median(steers).toFixed(1)} µs against ${median(empties).toFixed(1)} µs, ${ROUNDS} × ${REQUESTS}`;
  return [
    row(
      "steer answered / empty request answered, median",
      median(steers) / median(empties),
      "at most 1.25",
      "×",
      detail,
    ),
  ];
}
