import { recordOf } from "@acp-steering/kit/adapter";
import { oneWord, verdictOf } from "./answers.js";
import { asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

const INJECT = "_nooa/session/inject";
const REVOKE = "_nooa/session/revoke_inject";

const readResult = oneWord("delivered", { steered: "delivered" });

/**
 * NOOA answers `steered` where the next question to the model carries the steer. Otherwise it queues it for a turn of its
 * own, which nobody would own: that one is taken back, and goes into the turn as a continuation.
 */
export const nooa: Dialect = {
  name: "nooa",
  delivery: "confirmed",
  boundary: "nextStep",
  recognises: (result) => "steer" in recordAt(capabilitiesMeta(result), "dev.nooa/inject"),
  content: asInPrompts,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt }) => {
      const answer = await agent.request(INJECT, { sessionId, mode: "steer", prompt });
      const { delivered, messageId } = recordOf(answer.result);
      if (delivered !== "queued") return verdictOf(answer, { result: readResult });
      const taken = await agent.request(REVOKE, { sessionId, messageId });
      return recordOf(taken.result)["revoked"] === true ? "tooLate" : "accepted";
    },
  }),
};
