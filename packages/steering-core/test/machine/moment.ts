/** What a guarantee is told of a step, and the words that guarantees are written in. */
import type { Asker, State } from "../../src/state.js";
import { continuationOf, type KnownSteer, type Ledger, sameAsker } from "./ledger.js";
import type { Effect, Event, Policy, TimerName } from "./told.js";

/** One effect, and what was known just before it. */
export interface Moment {
  readonly ledger: Ledger;
  readonly effect: Effect;
  readonly event: Event;
  readonly policy: Policy;
}

/** One whole step. `unchanged`: the machine and the ledger are as before. */
export interface Passage {
  readonly before: { readonly state: State; readonly ledger: Ledger };
  readonly after: { readonly state: State; readonly ledger: Ledger };
  readonly event: Event;
  readonly effects: readonly Effect[];
  readonly policy: Policy;
  readonly unchanged: boolean;
}

export interface Guarantee {
  readonly says: string;
  readonly atEffect?: (moment: Moment) => boolean;
  readonly afterStep?: (passage: Passage) => boolean;
}

/** How long after a continuation was turned away it is tried again. */
export const RETRIES: readonly number[] = [100, 500, 2_000];

/** The steers that an effect hands over. */
export function handedOver(effect: Effect): readonly string[] {
  if (effect[0] === "inject") return [effect[2].messageId];
  if (effect[0] === "give") return effect[1].map(({ messageId }) => messageId);
  if (effect[0] === "startRun") return continuationOf(effect[4])?.messageIds ?? [];
  return [];
}

/** The turn that an effect belongs to, where it says so. */
export function turnIdOf(effect: Effect): string | undefined {
  if (effect[0] === "receipt") return effect[1].turnId;
  if (effect[0] === "inject") return effect[1];
  if (effect[0] === "startRun") return continuationOf(effect[4])?.turnId;
  return undefined;
}

export const isTimer = (event: Event, ...timers: readonly TimerName[]): boolean =>
  event.type === "timerFired" && timers.includes(event.timer);

export const isPending = ({ handed, final }: KnownSteer): boolean => final === undefined && handed === "no";
export const isAsking = ({ handed }: KnownSteer): boolean => handed === "asking";
export const awaitsReport = ({ handed, road, report, final }: KnownSteer): boolean =>
  final === undefined && handed === "yes" && road === "driver" && report === undefined;

const askersOf = ({ turn }: Ledger): readonly Asker[] =>
  (turn ? [turn.owner, ...turn.joined] : []).filter((asker) => asker !== undefined);
export const isOf = (ledger: Ledger, asker: Asker): boolean => askersOf(ledger).some((one) => sameAsker(one, asker));
