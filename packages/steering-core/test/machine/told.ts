/** What the machine wants done, in the words of the books: answers and refusals told apart, a run by its members. */
import type { JsonObject, RpcError } from "../../src/protocol.js";
import { step } from "../../src/session.js";
import type {
  Asker,
  EventName,
  Events,
  LinkRef,
  Effect as Ordered,
  Policy as RealPolicy,
  TimerName as RealTimerName,
  State,
} from "../../src/state.js";

type Answer = readonly ["answer", asker: Asker, result: JsonObject];
type Refusal = readonly ["refuse", asker: Asker, error: RpcError];

type Start = readonly ["startRun", id: string, link: LinkRef, asker: Asker | undefined, params: JsonObject];

type Arming = readonly ["arm", timer: TimerName, ms: number, turnId?: string];

export type Effect =
  | Exclude<Ordered, readonly ["respond" | "startRun" | "sendCancelRequest" | "arm", ...unknown[]]>
  | Arming
  | readonly ["sendCancelRequest", link: LinkRef]
  | Answer
  | Refusal
  | Start;

/** The timers, with one name for all that limit how long a prompt waits for an old run. */
export type TimerName = RealTimerName | "stuck";

const TIMERS: readonly string[] = [
  "resting",
  "settling",
  "pausing",
  "cancelling",
  "cancel",
  "cancelRequest",
] satisfies RealTimerName[];

const isTimerName = (timer: string): timer is RealTimerName => TIMERS.includes(timer);

type RealEvent = { [Name in EventName]: { readonly type: Name } & Events[Name] }[EventName];

export type Event =
  | Exclude<RealEvent, { readonly type: "timerFired" }>
  | { readonly type: "timerFired"; readonly timer: TimerName; readonly turnId: string };

/** What the machine is told of an event. A steer is its own from then on, so it gets one that nobody else has. */
function detailsOf(event: Event): object {
  if (event.type === "timerFired") return { timer: event.timer === "stuck" ? event.turnId : event.timer };
  return "steer" in event ? { ...event, steer: { ...event.steer } } : event;
}

/** One step of the machine, in the words of the books. */
export const stepOf = (state: State, event: Event): readonly Effect[] =>
  step(state, event.type, detailsOf(event) as never).map(told);

/** The policy of a session, and whether its steers can go to a driver. */
export interface Policy extends RealPolicy {
  readonly hasDriver: boolean;
}

function told(effect: Ordered): Effect {
  if (effect[0] === "sendCancelRequest") return ["sendCancelRequest", effect[1].link];
  if (effect[0] === "startRun") {
    const [, { id, link, wireId }, params] = effect;
    return ["startRun", id, link, wireId === id ? undefined : { link, id: wireId }, params];
  }
  if (effect[0] === "arm") {
    const [, timer, ms] = effect;
    return isTimerName(timer) ? ["arm", timer, ms] : ["arm", "stuck", ms, timer];
  }
  if (effect[0] !== "respond") return effect;
  const [, asker, { result, error }] = effect;
  return error ? ["refuse", asker, error] : ["answer", asker, result];
}
