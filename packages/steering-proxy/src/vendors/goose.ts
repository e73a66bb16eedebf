import type { InjectCall } from "@acp-steering/core";
import { type JsonRecord, textOf } from "@acp-steering/kit/adapter";
import { verdictOf } from "./answers.js";
import { AwaitedReports } from "./awaited-reports.js";
import { agentName, asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

const STEER = "_goose/unstable/session/steer";

/** The run that is open in each session, as goose announces it. */
class CurrentRuns {
  readonly #runs = new Map<unknown, string>();
  readonly #waiting = new Set<() => void>();

  set(sessionId: unknown, run: unknown): void {
    if (typeof run !== "string") this.#runs.delete(sessionId);
    else this.#runs.set(sessionId, run);
    for (const look of this.#waiting) look();
  }

  isOpen(sessionId: unknown, run: string): boolean {
    return this.#runs.get(sessionId) === run;
  }

  /** The run of the steer's session, at once or when it is announced; `undefined` where the prompt is over before. */
  next({ sessionId, signal }: InjectCall): Promise<string | undefined> {
    return new Promise((resolve) => {
      const look = (): void => {
        const run = this.#runs.get(sessionId);
        if (run === undefined && !signal.aborted) return;
        this.#waiting.delete(look);
        resolve(run);
      };
      this.#waiting.add(look);
      signal.addEventListener("abort", look, { once: true });
      look();
    });
  }
}

/** What the update of a session carries for clients that know goose. */
const ofGoose = (params: unknown): JsonRecord => recordAt(params, "update", "_meta", "goose");

/**
 * goose takes a steer for a run that is named. What is in its queue when the run ends, it drops; so a goose that shows
 * the steers it has taken out of its queue has dropped those that it did not show.
 */
export const goose: Dialect = {
  name: "goose",
  delivery: "confirmed",
  boundary: "nextStep",
  recognises: (result) =>
    recordAt(capabilitiesMeta(result), "goose", "sessionSteer")["method"] === STEER || agentName(result) === "goose",
  content: asInPrompts,
  connect: (agent) => {
    const runs = new CurrentRuns();
    const reports = new AwaitedReports();
    let showsSteers = false;
    const runEnded = (sessionId: unknown): void => {
      if (showsSteers) reports.tellAll(sessionId, "undelivered");
    };
    return {
      steer: async (call) => {
        const expectedRunId = await runs.next(call);
        if (expectedRunId === undefined) return "tooLate";
        const { sessionId, prompt } = call;
        const answer = await agent.request(STEER, { sessionId, expectedRunId, prompt });
        return verdictOf(answer, {
          result: ({ messageId }) => {
            if (typeof messageId === "string") reports.expect(call, messageId);
            if (!runs.isOpen(sessionId, expectedRunId)) runEnded(sessionId);
            return "accepted";
          },
          isLate: ({ data }) => /no active run/i.test(textOf(data)) || textOf(recordAt(data)["actualRunId"]) !== "",
        });
      },
      watches: [
        {
          needle: '"activeRunId"',
          see: ({ params }) => {
            const { activeRunId } = ofGoose(params);
            const { sessionId } = recordAt(params);
            if (activeRunId === undefined) return false;
            if (activeRunId === null) runEnded(sessionId);
            runs.set(sessionId, activeRunId);
            return false;
          },
        },
        {
          needle: '"steer_',
          see: ({ params }) => {
            const { steer, messageId } = ofGoose(params);
            if (steer !== true || typeof messageId !== "string") return false;
            showsSteers = true;
            reports.tellOrKeep(recordAt(params)["sessionId"], messageId, "delivered");
            return false;
          },
        },
      ],
    };
  },
};
