import { type Steerable, type SteeringDriver, steering } from "@acp-steering/core";
import { agentApp, type Loop } from "./agent-app.js";
import type { AskModel } from "./chat-model.js";
import { SteerQueue } from "./steer-queue.js";

/** What the queue takes, and that it is emptied before each question to the model. */
export const DRIVER_SUPPORTS: SteeringDriver["supports"] = {
  content: ["text", "image", "resource_link", "resource"],
  boundary: "nextStep",
};

/**
 * An agent that has a steer of its own: a queue beside each run, emptied before each question to the model. The driver
 * puts steers into it and reports what became of them.
 */
export function driverAgent(askModel: AskModel): Steerable {
  const queues = new Map<string, SteerQueue>();
  const queueOf = (sessionId: string): SteerQueue => {
    const queue = queues.get(sessionId) ?? new SteerQueue();
    queues.set(sessionId, queue);
    return queue;
  };

  const driver: SteeringDriver = {
    spec: "steering-driver-1",
    supports: DRIVER_SUPPORTS,
    inject: (call) => queueOf(call.sessionId).add(call),
  };

  const loop: Loop = async (run, prompt) => {
    const queue = queueOf(run.sessionId);
    run.hear(prompt);
    queue.open();
    try {
      for (;;) {
        for (const steer of queue.take()) {
          run.hear(steer.prompt);
          steer.delivered();
        }
        const stopReason = await run.step();
        if (stopReason) return stopReason;
      }
    } finally {
      queue.close();
    }
  };
  return steering(agentApp(askModel, loop), { driver });
}
