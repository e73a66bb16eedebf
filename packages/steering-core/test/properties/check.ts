import fc from "fast-check";
import { describe } from "./expectations.js";
import type { Entry } from "./history.js";
import { violations } from "./model.js";
import { type Flavour, scenario } from "./scenario.js";
import type { Chooser } from "./schedule.js";
import { traceOf } from "./trace.js";
import { type Played, play } from "./world.js";

const PINNED_SEED = 20_261_130;

/**
 * Printed with every property. Pinned, so that a run says something about the change at hand and nothing else;
 * `STEERING_SEED=random` searches elsewhere, and `STEERING_SEED=<number>` repeats what it found.
 */
const SEED = seedFrom(process.env["STEERING_SEED"]);

function seedFrom(wanted: string | undefined): number {
  if (wanted === undefined) return PINNED_SEED;
  return wanted === "random" ? Math.floor(Math.random() * 2 ** 31) : Number(wanted);
}

/** What happened in a history that a property must have met, so that it does not hold for want of cases. */
function sightsOf({ kind, ...entry }: Entry): string[] {
  if (kind === "injected" || kind === "aborted") return [kind];
  if (kind === "verdict" && "verdict" in entry) return [`verdict ${entry.verdict}`];
  if (kind === "reported" && "report" in entry) return [`reported ${entry.report}`];
  if (kind === "took" && "steers" in entry) return entry.steers.length > 0 ? ["taken"] : [];
  if (!("message" in entry)) return [kind];
  const { method, params } = entry.message;
  if (kind === "clientSent") return method ? [`sent ${method}`] : [];
  if (kind === "agentGot")
    return params?._meta?.steering?.continuation ? ["continued"] : method === "session/cancel" ? ["cancel"] : [];
  if (kind !== "clientGot") return [];
  if (params?.state) return [[params.state, params.reason, params.assumed && "assumed"].filter(Boolean).join(" ")];
  return method ? [] : [`answer ${describe(entry as never)}`];
}

/** The failure of one schedule, with all that is needed to read it and to keep it as a test. */
function explain({ scenario: world, entries, labels }: Played, found: readonly string[]): string {
  return [...found, "", JSON.stringify(world), "", JSON.stringify(labels), "", traceOf(entries)].join("\n");
}

/** Plays and checks; throws what is wrong. */
export async function checkOne(world: Played["scenario"], chooser: Chooser): Promise<Played> {
  const played = await play(world, chooser);
  const found = violations(played);
  if (found.length > 0) throw new Error(explain(played, found));
  return played;
}

/** Checks the model in that many schedules of random worlds. `mustMeet`: what has to have happened in some of them. */
export async function checkSchedules(
  title: string,
  flavour: Flavour,
  numRuns: number,
  mustMeet: readonly string[],
): Promise<void> {
  const met = new Map<string, number>();
  const property = fc.asyncProperty(scenario(flavour), fc.scheduler(), async (world, scheduler) => {
    const { entries } = await checkOne(world, scheduler as Chooser);
    for (const sight of new Set(entries.flatMap(sightsOf))) met.set(sight, (met.get(sight) ?? 0) + 1);
  });
  const { failed, numShrinks, errorInstance, counterexamplePath } = await fc.check(property, { seed: SEED, numRuns });
  const figures = [...met].sort(([, one], [, other]) => other - one).map(([sight, count]) => `${sight} ${count}`);
  console.info(`${title}: ${numRuns} schedules, STEERING_SEED=${SEED}\n  in schedules: ${figures.join(", ")}`);
  if (failed)
    throw new Error(
      `STEERING_SEED=${SEED}, path ${counterexamplePath}, shrunk ${numShrinks} times:\n${(errorInstance as Error).message}`,
    );
  const missed = mustMeet.filter((sight) => !met.has(sight));
  if (missed.length > 0) throw new Error(`STEERING_SEED=${SEED}: no schedule had ${missed.join(", ")}`);
}
