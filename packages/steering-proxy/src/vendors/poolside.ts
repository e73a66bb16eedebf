import { verdictOf } from "./answers.js";
import { AwaitedReports } from "./awaited-reports.js";
import { asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

const STEER = "_poolside/session_steer";
const CAPABILITY = "poolside/session_steer";
const TAKEN = "poolside/clientInputId";

/** Poolside's Pool names a steer, by the id that we gave it, when its turn has taken it. */
export const poolside: Dialect = {
  name: "poolside",
  delivery: "confirmed",
  boundary: "nextStep",
  recognises: (result) => capabilitiesMeta(result)[CAPABILITY] === true,
  content: asInPrompts,
  connect: (agent) => {
    const reports = new AwaitedReports();
    return {
      steer: async (call) => {
        const { sessionId, prompt, messageId: inputId } = call;
        reports.expect(call, inputId);
        const answer = await agent.request(STEER, { sessionId, inputId, prompt });
        const verdict = verdictOf(answer, { result: () => "accepted" });
        if (verdict !== "accepted") reports.forget(call);
        return verdict;
      },
      watches: [
        {
          needle: TAKEN,
          see: ({ params }) => {
            const inputId = recordAt(params, "update", "_meta")[TAKEN];
            reports.tell(recordAt(params)["sessionId"], inputId, "delivered");
            return false;
          },
        },
      ],
    };
  },
};
