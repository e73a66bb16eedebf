import { it } from "vitest";
import { checkSchedules } from "./check.js";

/** Milliseconds; for machines that have much else to do. */
const PATIENCE = 600_000;

it(
  "G1-G8 two connections, two sessions: steers of others, drops, lost agents, closes, in 6,000 schedules",
  () =>
    checkSchedules(
      "two connections",
      {
        actors: 2,
        actions: 6,
        sessions: 2,
        driver: "sometimes",
        weights: {
          steer: 6,
          prompt: 4,
          steerCommand: 1,
          queueCommand: 1,
          revoke: 1,
          cancel: 1,
          withdraw: 1,
          close: 1,
          load: 1,
          agentActs: 1,
          leave: 1,
          agentLeaves: 1,
        },
      },
      6_000,
      [
        "clientLeft",
        "agentLeft",
        "undelivered closed",
        "answer -32002",
        "answer -32603",
        "continued",
        "injected",
        "taken",
      ],
    ),
  PATIENCE,
);

it(
  "G6 cancel on every side of everything, in 4,000 schedules",
  () =>
    checkSchedules(
      "cancels",
      {
        actors: 2,
        actions: 5,
        sessions: 1,
        driver: "sometimes",
        weights: { steer: 4, prompt: 4, cancel: 4, withdraw: 2, queueCommand: 1, steerCommand: 1, load: 1, leave: 1 },
      },
      4_000,
      [
        "cancel",
        "undelivered cancelled",
        "answer cancelling",
        "answer -32800",
        "answer cancelled",
        "answer -32603 agentStuck",
      ],
    ),
  PATIENCE,
);
