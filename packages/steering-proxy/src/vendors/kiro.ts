import { listOf } from "@acp-steering/kit/adapter";
import { verdictOf } from "./answers.js";
import { AwaitedReports } from "./awaited-reports.js";
import { agentName, type Dialect, joinedText, onlyText, recordAt } from "./dialect.js";

const STEER = "_session/steer";

/** As Kiro's own host marks what its user says; a text that begins otherwise can be taken for a notification. */
const asUserMessage = (text: string): string => `<user_message>${text}</user_message>`;

/**
 * Kiro has `_session/steer` since 2.7 and advertises it nowhere. It says when the model has read a steer: older versions
 * repeat its text, newer ones name its id, and also those ids that a turn has left unread.
 */
export const kiro: Dialect = {
  name: "kiro",
  delivery: "confirmed",
  boundary: "afterTool",
  recognises: (result) => /kiro/i.test(String(agentName(result))),
  content: onlyText,
  connect: (agent) => {
    const reports = new AwaitedReports();
    return {
      steer: async (call) => {
        const { sessionId, messageId } = call;
        const message = asUserMessage(joinedText(call.prompt));
        reports.expect(call, messageId, message, joinedText(call.prompt));
        const verdict = verdictOf(await agent.request(STEER, { sessionId, message, messageId }), {
          result: ({ queued }) => (queued === false ? "tooLate" : "accepted"),
        });
        if (verdict !== "accepted") reports.forget(call);
        return verdict;
      },
      watches: [
        {
          needle: '"steering_consumed"',
          see: ({ params }) => {
            const { sessionUpdate, messageId, content } = recordAt(params, "update");
            if (sessionUpdate === "steering_consumed")
              reports.tell(recordAt(params)["sessionId"], messageId ?? content, "delivered");
            return false;
          },
        },
        {
          needle: '"steering_injected"',
          see: ({ params }) => {
            const { kind, messageId } = recordAt(params, "update", "_meta", "kiro");
            if (kind === "steering_injected") reports.tell(recordAt(params)["sessionId"], messageId, "delivered");
            return false;
          },
        },
        {
          needle: '"steering_cleared"',
          see: ({ params }) => {
            const { kind, messageIds } = recordAt(params, "update", "_meta", "kiro");
            if (kind !== "steering_cleared") return false;
            for (const id of listOf(messageIds)) reports.tell(recordAt(params)["sessionId"], id, "undelivered");
            return false;
          },
        },
      ],
    };
  },
};
