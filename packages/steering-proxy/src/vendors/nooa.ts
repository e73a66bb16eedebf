import { recordOf } from "@acp-steering/kit/adapter";
import { verdictOf } from "./answers.js";
import { asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

const INJECT = "_nooa/session/inject";
const REVOKE = "_nooa/session/revoke_inject";

/**
 * NOOA answers `delivered: "steered"` where the next question to the model is to carry the steer; that it did, it does not
 * say. Otherwise it queues it for a turn of its own, which nobody would own: that one is taken back and continued.
 */
export const nooa: Dialect = {
  name: "nooa",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: (result) => "steer" in recordAt(capabilitiesMeta(result), "dev.nooa/inject"),
  content: asInPrompts,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt }) => {
      const answer = await agent.request(INJECT, { sessionId, mode: "steer", prompt });
      const { delivered, messageId } = recordOf(answer.result);
      if (delivered !== "queued") return verdictOf(answer, { result: () => "accepted" });
      const taken = await agent.request(REVOKE, { sessionId, messageId });
      return recordOf(taken.result)["revoked"] === true ? "tooLate" : "accepted";
    },
  }),
};
