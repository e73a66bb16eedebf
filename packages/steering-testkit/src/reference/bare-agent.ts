import type { Steerable } from "@acp-steering/core";
import { agentApp } from "./agent-app.js";
import type { AskModel } from "./chat-model.js";

/** The same agent without any steering: what a layer is put in front of. */
export function bareAgent(askModel: AskModel): Pick<Steerable, "connect"> {
  const app = agentApp(askModel, async (run, prompt) => {
    run.hear(prompt);
    for (;;) {
      const stopReason = await run.step();
      if (stopReason) return stopReason;
    }
  });
  return {
    connect: (stream) => {
      const { closed } = app.connect(stream);
      return { closed, startConnectHandlers: () => {} };
    },
  };
}
