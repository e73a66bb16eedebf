// What a session costs: the time of a steer from 100 to 100,000 sessions, the memory of an idle one, what a closed one leaves.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { median, row } from "../../../scripts/bench-row.mjs";
import { connected, connectedBare, newSession, textPrompt } from "./support.mjs";

const FEW = 100;
const MANY = 100_000;
const ROUNDS = 9;
const STEERS = 300;

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

async function heapUsed() {
  for (let turn = 0; turn < 4; turn += 1) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

async function grow(client, count) {
  for (let made = 0; made < count; made += 500)
    await Promise.all(Array.from({ length: Math.min(500, count - made) }, () => newSession(client)));
}

async function steerTime({ client, takeAll }, sessionId) {
  const begun = performance.now();
  for (let index = 0; index < STEERS; index += 1)
    await client.request("_session/steering", { sessionId, prompt: textPrompt("not that file") });
  const took = (performance.now() - begun) / STEERS;
  await takeAll(sessionId);
  return took;
}

async function turnIn(rig) {
  const sessionId = await newSession(rig.client);
  void rig.client.request("session/prompt", { sessionId, prompt: textPrompt("go") });
  return sessionId;
}

export async function run() {
  const few = await connected();
  const many = await connected();
  const bare = await connectedBare();
  await grow(few.client, FEW);
  const before = await heapUsed();
  await grow(bare.client, MANY);
  const bareBytes = (await heapUsed()) - before;
  const beforeLayer = await heapUsed();
  await grow(many.client, MANY);
  const bytes = ((await heapUsed()) - beforeLayer - bareBytes) / MANY;

  const inFew = await turnIn(few);
  const inMany = await turnIn(many);
  const times = { few: [], many: [] };
  await steerTime(few, inFew);
  await steerTime(many, inMany);
  for (let round = 0; round < ROUNDS; round += 1) {
    times.few.push(await steerTime(few, inFew));
    times.many.push(await steerTime(many, inMany));
  }

  many.release(inMany);
  const full = await heapUsed();
  for (let index = 1; index <= MANY + 1; index += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, MANY + 2 - index) }, (_, offset) =>
        many.client.request("session/close", { sessionId: `session-${index + offset}` }),
      ),
    );
  const left = ((await heapUsed()) - (full - bytes * MANY)) / MANY;
  const ratio = median(times.many) / median(times.few);
  const detail = `${(median(times.many) * 1_000).toFixed(1)} µs against ${(median(times.few) * 1_000).toFixed(1)} µs`;
  return [
    row(`time of a steer, ${MANY} / ${FEW} sessions, median of ${ROUNDS}`, ratio, "at most 1.2", "×", detail),
    row("memory of an idle session", bytes, "at most 1000", "bytes", `${MANY} sessions, less the bare SDK's`),
    row("memory that a closed session leaves", left, "at most 20", "bytes", "of all, averaged"),
  ];
}
