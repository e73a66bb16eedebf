import { META_KEY, METHOD } from "@acp-steering/core/protocol";
import { isRecord, type JsonRecord, recordOf } from "@acp-steering/kit/adapter";
import { oneWord, verdictOf } from "./answers.js";
import { AwaitedReports } from "./awaited-reports.js";
import { asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

/** Some advertise with an object, some with `true`; some at the top of the result, some among their capabilities. */
const advertisements = (result: JsonRecord): readonly unknown[] => [
  recordAt(result, "_meta")[META_KEY],
  capabilitiesMeta(result)[META_KEY],
];

const supportsIt = (value: unknown): boolean => value === true || recordOf(value)["supported"] === true;

/** A layer of this contract: nothing is left to add to it. */
export const keepsTheContract = (result: JsonRecord): boolean =>
  advertisements(result).some((value) => {
    const { supported, version, receipts, revoke } = recordOf(value);
    return supported === true && version === 1 && receipts === true && revoke === true;
  });

const readResult = oneWord("outcome", {
  injected: "accepted",
  promptRequired: "tooLate",
  // Begun although it was asked not to. The agent works on it in a turn that ends without a sign: to wait for its end is
  // impossible, and to stop it and continue with the steer would show it to the model twice.
  startedNewTurn: "delivered",
  // What the agent says where its vendor has turned the steer away, without the reason.
  failed: "unsupported",
});

/** `_session/steering`, as claude-agent-acp, codex-acp and others serve it: less than the whole contract. */
export const sessionSteering: Dialect = {
  name: "native",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: (result) => advertisements(result).some(supportsIt),
  content: asInPrompts,
  connect: (agent) => {
    const reports = new AwaitedReports();
    return {
      steer: async (call) => {
        const { sessionId, prompt } = call;
        const _meta = { [META_KEY]: { idleBehavior: "promptRequired" } };
        const answer = await agent.request(METHOD.steering, { sessionId, prompt, _meta });
        const { messageId } = recordAt(answer.result, "_meta", META_KEY);
        const verdict = verdictOf(answer, { result: readResult });
        if (verdict === "accepted" && typeof messageId === "string") reports.expect(call, messageId);
        return verdict;
      },
      watches: [
        {
          needle: METHOD.receipt,
          see: ({ method, params }) => {
            if (method !== METHOD.receipt) return false;
            const { sessionId, messageId, state, assumed } = recordOf(params);
            const isReport = (state === "delivered" && assumed !== true) || state === "undelivered";
            if (isReport && isRecord(params)) reports.tellOrKeep(sessionId, String(messageId), state);
            return true;
          },
        },
      ],
    };
  },
};
