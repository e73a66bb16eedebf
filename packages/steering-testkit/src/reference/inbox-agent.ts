import { type Steerable, steering } from "@acp-steering/core";
import { agentApp, type Loop } from "./agent-app.js";
import type { AskModel } from "./chat-model.js";

/**
 * An agent that owns its loop: before each question to the model it takes what the user has said meanwhile.
 *
 * A steer that comes when the model has been asked for the last time is left to the layer, which has the run go on.
 */
export function inboxAgent(askModel: AskModel): Steerable {
  const loop: Loop = async (run, prompt) => {
    run.hear(prompt);
    for (;;) {
      for (const steer of steerable.take(run.sessionId)) run.hear(steer.prompt);
      const stopReason = await run.step();
      if (stopReason) return stopReason;
    }
  };
  const steerable = steering(agentApp(askModel, loop), { inbox: true });
  return steerable;
}
