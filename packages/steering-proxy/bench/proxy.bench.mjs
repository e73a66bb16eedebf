// What `acp-steer wrap` costs, against the agent alone and against the least that stands between: a Node process that pipes
// the same bytes. Everything in the real situation: the real command, a turn that is open, updates of its session.
import { median, row } from "../../../scripts/bench-row.mjs";
import { WrappedAgent } from "./wrapped-agent.mjs";

const ROUNDS = 7;
const MEGABYTE = 1e6;
const ROUND_TRIPS = 300;
const MEMORY_GIGABYTES = 10;

/** One turn. @returns megabytes a second */
async function throughput(way, bytes, line) {
  const agent = await new WrappedAgent(way).open();
  const rate = await agent.flood(bytes, line);
  await agent.close();
  return rate;
}

/** Figures of each way, one after the other in each round, in turning order. */
async function rounds(ways, measure) {
  const figures = Object.fromEntries(ways.map((way) => [way, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? ways : [...ways].reverse();
    for (const way of order) figures[way].push(await measure(way));
  }
  return figures;
}

async function againstPipe(line, bound) {
  const { proxy, pipe } = await rounds(["proxy", "pipe"], (way) => throughput(way, 300 * MEGABYTE, line));
  const ratios = proxy.map((rate, round) => rate / pipe[round]);
  const spread = `${Math.min(...ratios).toFixed(2)}-${Math.max(...ratios).toFixed(2)}`;
  const detail = `${median(proxy).toFixed(0)} against ${median(pipe).toFixed(0)} MB/s, ${ROUNDS} rounds of 300 MB; single rounds ${spread}`;
  return row(`throughput at ${line} B lines, proxy / bare pipe`, median(ratios), bound, "×", detail);
}

async function againstSdk() {
  const { proxy, sdk } = await rounds(["proxy", "sdk"], (way) => throughput(way, 20 * MEGABYTE, 1_000));
  const detail = `${median(proxy).toFixed(0)} against ${median(sdk).toFixed(1)} MB/s, ${ROUNDS} rounds of 20 MB`;
  return row("throughput, proxy / relay with the SDK", median(proxy) / median(sdk), "at least 8", "×", detail);
}

/** From a notification of the client to the agent's update that it brings, in milliseconds. */
async function roundTrips(agent, count) {
  const times = [];
  for (let trip = 0; trip < count; trip += 1) {
    const begun = performance.now();
    const answered = agent.next();
    agent.notify("_bench/echo", {});
    await answered;
    times.push(performance.now() - begun);
  }
  return times;
}

async function latency() {
  const agents = { direct: await new WrappedAgent("direct").open(), proxy: await new WrappedAgent("proxy").open() };
  for (const agent of Object.values(agents)) {
    void agent.prompt({ echo: true });
    await roundTrips(agent, ROUND_TRIPS);
  }
  const { direct, proxy } = await rounds(["direct", "proxy"], async (way) => roundTrips(agents[way], ROUND_TRIPS));
  for (const agent of Object.values(agents)) await agent.close();
  const [alone, wrapped] = [median(direct.flat()), median(proxy.flat())];
  // There and back: the way through the proxy twice.
  const detail = `round trip ${wrapped.toFixed(3)} against ${alone.toFixed(3)} ms, medians of ${ROUNDS * ROUND_TRIPS}`;
  return row("added latency of a message", (wrapped - alone) / 2, "at most 0.15", "ms", detail);
}

async function memory() {
  const agent = await new WrappedAgent("proxy").open();
  const figures = [];
  for (let gigabyte = 0; gigabyte < MEMORY_GIGABYTES; gigabyte += 1) {
    await agent.flood(1_000 * MEGABYTE, 1_000);
    figures.push(agent.memory);
  }
  await agent.close();
  const [first, ...others] = figures;
  const detail = `resident after each GB: ${figures.map((figure) => figure.toFixed(0)).join(", ")} MB`;
  const growth = Math.max(...others) - first;
  return row(`memory that ${MEMORY_GIGABYTES} GB cost beyond the first`, growth, "at most 20", "MB", detail);
}

async function firstAnswer() {
  const { direct, proxy } = await rounds(["direct", "proxy"], async (way) => {
    const begun = performance.now();
    const agent = new WrappedAgent(way);
    await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const took = performance.now() - begun;
    await agent.close();
    return took;
  });
  const detail = `${median(proxy).toFixed(0)} against ${median(direct).toFixed(0)} ms, medians of ${ROUNDS}`;
  return row("initialize is answered later by", median(proxy) - median(direct), "at most 80", "ms", detail);
}

export async function run() {
  return [
    await againstPipe(1_000, "at least 0.5"),
    await againstPipe(200, "at least 0.25"),
    await againstSdk(),
    await latency(),
    await memory(),
    await firstAnswer(),
  ];
}
