import { CODE } from "@acp-steering/core/protocol";
import { verdictOf } from "./answers.js";
import { asInPrompts, capabilitiesMeta, type Dialect, recordAt } from "./dialect.js";

const STEER = "_reasonix.io/session/steer";

/** Reasonix takes a steer into its inbox; an idle session is an invalid request. */
export const reasonix: Dialect = {
  name: "reasonix",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: (result) => recordAt(capabilitiesMeta(result), "reasonix.io", "sessionSteer")["method"] === STEER,
  content: asInPrompts,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt }) =>
      verdictOf(await agent.request(STEER, { sessionId, prompt }), {
        result: () => "accepted",
        isLate: ({ code }) => code === CODE.invalidRequest,
      }),
  }),
};
