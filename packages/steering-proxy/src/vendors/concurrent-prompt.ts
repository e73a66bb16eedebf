import { METHOD } from "@acp-steering/core";
import { isRefusal } from "./answers.js";
import { asInPrompts, type Dialect } from "./dialect.js";

/**
 * A second `session/prompt` while the first runs. What that means is each agent's own: only for those that are known to
 * take it into the running turn. Some answer it at once, others with the end of the turn; so the steer counts as taken
 * when it is on its way, and one that is refused is handed back.
 */
export const concurrentPrompt: Dialect = {
  name: "prompt",
  delivery: "confirmed",
  boundary: "nextStep",
  recognises: () => false,
  content: asInPrompts,
  connect: (agent) => ({
    steer: async (call) => {
      const { sessionId, prompt, delivered, undelivered } = call;
      void agent.request(METHOD.prompt, { sessionId, prompt }, Number.POSITIVE_INFINITY).then(
        (answer) => {
          if (!answer.error) delivered();
          else if (isRefusal(answer)) undelivered();
        },
        () => {},
      );
      return "accepted";
    },
  }),
};
