import { METHOD } from "@acp-steering/core/protocol";
import { verdictOf } from "./answers.js";
import { asInPrompts, type Dialect } from "./dialect.js";

/**
 * A second `session/prompt` while the first runs. What that means is each agent's own: only for those that are known to
 * take it into the running turn. Some answer it at once, others when the turn ends, or, where it came too late to join,
 * when it has run by itself: until then the turn is not over.
 */
export const concurrentPrompt: Dialect = {
  name: "prompt",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: () => false,
  content: asInPrompts,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt }) =>
      verdictOf(await agent.request(METHOD.prompt, { sessionId, prompt }, Number.POSITIVE_INFINITY), {
        result: () => "accepted",
      }),
  }),
};
