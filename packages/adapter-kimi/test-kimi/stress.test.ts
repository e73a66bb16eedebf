import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Vendor } from "@acp-steering/kit";
import { steeringAgent } from "@acp-steering/kit";
import { WireClient } from "@acp-steering/testkit";
import { type ModelServer, type Reply, startModelServer } from "@acp-steering/testkit/model-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "./random.js";
import { configureKimi, realKimi } from "./stage.js";
import { boundaryRound, playRounds, randomRound, type StressReport } from "./stress.js";

/** `STRESS_SEED=… STRESS_ROUNDS=… npm run test:kimi -- stress` searches elsewhere. */
const SEED = Number(process.env["STRESS_SEED"] ?? 20_261);
const ROUNDS = Number(process.env["STRESS_ROUNDS"] ?? 500);
const TIMEOUT_MS = 1_200_000;

let vendor: Vendor;
let model: ModelServer;
let home: string;
const plan: Reply[] = [];

beforeAll(async () => {
  model = await startModelServer({ script: () => plan.shift() ?? { text: "ok" } });
  home = await mkdtemp(join(tmpdir(), "acp-steering-kimi-"));
  await configureKimi(home, model.url);
  vendor = await realKimi(home);
});

afterAll(async () => {
  await vendor.dispose?.();
  await model.close();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

async function play(round: Parameters<typeof playRounds>[2]): Promise<StressReport> {
  const client = WireClient.connect(steeringAgent(vendor));
  await client.initialize({ _meta: { steering: { receipts: true } } });
  const report = await playRounds({ client, model, plan, cwd: home, random: new Random(SEED) }, ROUNDS, round);
  console.info(`seed ${SEED}, ${ROUNDS} rounds: ${JSON.stringify(report.figures)}`);
  await client.close();
  return report;
}

describe("the real Kimi, many times", () => {
  test(
    "G1 G2: a steer at the end of a turn is never lost, never doubled",
    async () => expect((await play(boundaryRound)).problems).toEqual([]),
    TIMEOUT_MS,
  );

  test(
    "G1 G2 G4 G6: texts, tools, approvals, steers and cancels in any order",
    async () => expect((await play(randomRound)).problems).toEqual([]),
    TIMEOUT_MS,
  );
});
