import { it } from "vitest";
import { checkSchedules } from "./check.js";

/** Milliseconds; for machines that have much else to do. */
const PATIENCE = 600_000;

it(
  "G1-G8 one client: every road, slash commands, revokes, cancels, closes, in 6,000 schedules",
  () =>
    checkSchedules(
      "one client",
      {
        actors: 1,
        actions: 7,
        sessions: 1,
        driver: "sometimes",
        weights: {
          steer: 7,
          prompt: 4,
          steerCommand: 1,
          queueCommand: 1,
          revoke: 2,
          cancel: 1,
          withdraw: 1,
          close: 1,
          load: 1,
          agentActs: 1,
        },
      },
      6_000,
      [
        "taken",
        "continued",
        "injected",
        "cancel",
        "delivered",
        "delivered assumed",
        "undelivered cancelled",
        "undelivered refused",
        "undelivered agentFailed",
        "undelivered closed",
        "undelivered revoked",
        "answer -32600 tooManyPending",
        "answer -32600 alreadyDelivered",
        "answer -32600 noRunningTurn",
        "answer startedNewTurn",
        "answer cancelling",
        "answer turnMismatch",
        "answer -32600 busy",
      ],
    ),
  PATIENCE,
);

it(
  "G1-G8 a driver: verdicts and reports at every moment, in 6,000 schedules",
  () =>
    checkSchedules(
      "a driver",
      { actors: 1, actions: 6, sessions: 1, driver: "always", weights: { steer: 9, prompt: 3, revoke: 2, cancel: 1 } },
      6_000,
      [
        "aborted",
        "verdict delivered",
        "verdict accepted",
        "verdict tooLate",
        "verdict unsupported",
        "verdict thrown",
        "reported delivered",
        "reported undelivered",
        "delivered assumed",
        "undelivered revoked",
      ],
    ),
  PATIENCE,
);
