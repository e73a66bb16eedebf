import { listOf } from "@acp-steering/kit/adapter";
import { oneWord, verdictOf } from "./answers.js";
import { type Dialect, joinedText, onlyText, recordAt } from "./dialect.js";

const STEER = "mcode/session/steer";

/** MiniMax Code says which turn has taken the steer; `duplicate`: it had that one before. */
const readResult = oneWord("mode", { steered: "accepted", duplicate: "accepted" });

export const minimax: Dialect = {
  name: "minimax",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: (result) => listOf(recordAt(result, "_meta", "minimax-code/extensions")["methods"]).includes(STEER),
  content: onlyText,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt, messageId }) => {
      const params = { sessionId, text: joinedText(prompt), clientRequestId: messageId };
      return verdictOf(await agent.request(STEER, params), { result: readResult });
    },
  }),
};
