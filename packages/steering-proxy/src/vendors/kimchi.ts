import { listOf } from "@acp-steering/kit/adapter";
import { oneWord, verdictOf } from "./answers.js";
import { AwaitedReports } from "./awaited-reports.js";
import { capabilitiesMeta, type Dialect, joinedText, onlyText, recordAt } from "./dialect.js";

const STEER = "_kimchi.dev/steering";
const DROPPED = "_kimchi.dev/queue_dropped";

const readResult = oneWord("status", { injected: "accepted", promptRequired: "tooLate" });

/** Kimchi shows a steer as a message of the user when it is before the model, and names those that a cancel has dropped. */
export const kimchi: Dialect = {
  name: "kimchi",
  delivery: "confirmed",
  boundary: "afterTool",
  recognises: (result) => recordAt(capabilitiesMeta(result), "kimchi.dev")["steering"] === true,
  content: onlyText,
  connect: (agent) => {
    const reports = new AwaitedReports();
    return {
      steer: async (call) => {
        const text = joinedText(call.prompt);
        reports.expect(call, text);
        const answer = await agent.request(STEER, { sessionId: call.sessionId, prompt: text });
        const verdict = verdictOf(answer, { result: readResult });
        if (verdict !== "accepted") reports.forget(call);
        return verdict;
      },
      watches: [
        {
          needle: "user_message_chunk",
          see: ({ params }) => {
            const { sessionUpdate, content } = recordAt(params, "update");
            if (sessionUpdate === "user_message_chunk")
              reports.tell(recordAt(params)["sessionId"], recordAt(content)["text"], "delivered");
            return false;
          },
        },
        {
          needle: DROPPED,
          see: ({ method, params }) => {
            if (method !== DROPPED) return false;
            const { sessionId, steering } = recordAt(params);
            for (const text of listOf(steering)) reports.tell(sessionId, text, "undelivered");
            return false;
          },
        },
      ],
    };
  },
};
