/** What the machine wants done, in the words of the books: answers and refusals told apart, a run by its members. */
import type { Verdict } from "../../src/driver.js";
import type { SlashCommand } from "../../src/parse.js";
import type { IdleBehavior, JsonObject, RpcError } from "../../src/protocol.js";
import { step } from "../../src/session.js";
import type {
  Asker,
  DriverReport,
  LinkRef,
  Effect as Ordered,
  Policy as RealPolicy,
  TimerName as RealTimerName,
  RunOutcome,
  State,
  Steer,
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
  "sendCancel",
  "sendCancelRequest",
] satisfies RealTimerName[];

const isTimerName = (timer: string): timer is RealTimerName => TIMERS.includes(timer);

interface Prompting {
  readonly asker: Asker;
  readonly turnId: string;
  readonly steer: Steer;
}

/** The events of the machine, their parts by name. */
export type Event =
  | (Prompting & {
      readonly type: "promptArrived";
      readonly params: JsonObject;
      readonly command: SlashCommand | undefined;
      readonly barred: RpcError | undefined;
    })
  | (Prompting & {
      readonly type: "steerArrived";
      readonly idleBehavior: IdleBehavior;
      readonly expectedTurnId: string | undefined;
      readonly unsupported: RpcError | undefined;
    })
  | { readonly type: "revokeArrived"; readonly asker: Asker; readonly messageId: string }
  | { readonly type: "cancelArrived" | "linkLost" | "agentLost"; readonly link: LinkRef }
  | { readonly type: "promptCancelled"; readonly asker: Asker }
  | { readonly type: "runAnswered"; readonly run: string; readonly outcome: RunOutcome }
  | { readonly type: "verdictArrived"; readonly messageId: string; readonly verdict: Verdict }
  | { readonly type: "reportArrived"; readonly messageId: string; readonly report: DriverReport }
  | { readonly type: "takeCalled" | "agentActed" | "closeArrived" }
  | { readonly type: "holdChanged"; readonly by: 1 | -1 }
  | { readonly type: "timerFired"; readonly timer: TimerName; readonly turnId: string }
  | { readonly type: "closeAnswered"; readonly ok: boolean };

/** One step of the machine, in the words of the books. A steer is the machine's own, so it gets one that nobody else has. */
export const stepOf = (state: State, event: Event): readonly Effect[] => effectsOf(state, event).map(told);

function effectsOf(state: State, event: Event): readonly Ordered[] {
  switch (event.type) {
    case "promptArrived":
    case "steerArrived": {
      const { asker, turnId } = event;
      const steer = { ...event.steer };
      const { prompt } = steer;
      if (event.type === "promptArrived")
        return step(
          state,
          event.type,
          { asker, turnId, params: event.params, prompt },
          steer,
          event.command,
          event.barred,
        );
      const { idleBehavior, expectedTurnId, unsupported } = event;
      const queued = { asker, turnId, params: { prompt }, prompt };
      return step(state, event.type, queued, steer, unsupported, idleBehavior, expectedTurnId);
    }
    case "revokeArrived":
      return step(state, event.type, event.asker, event.messageId);
    case "cancelArrived":
    case "linkLost":
    case "agentLost":
      return step(state, event.type, event.link);
    case "promptCancelled":
      return step(state, event.type, event.asker);
    case "runAnswered":
      return step(state, event.type, event.run, event.outcome);
    case "verdictArrived":
      return step(state, event.type, event.messageId, event.verdict);
    case "reportArrived":
      return step(state, event.type, event.messageId, event.report);
    case "holdChanged":
      return step(state, event.type, event.by);
    case "timerFired":
      return step(state, event.type, event.timer === "stuck" ? event.turnId : event.timer);
    case "closeAnswered":
      return step(state, event.type, event.ok);
    default:
      return step(state, event.type);
  }
}

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
