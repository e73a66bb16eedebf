/**
 * G1-G8 of the contract as predicates over one step of a session: what was known before each effect, and what is known
 * after all of them. None of them calls the machine; only G5 and G8 look at its state at all.
 */
import type { Guarantee } from "./moment.js";
import { ISOLATION, NO_DUPLICATE, NO_LOST_STEER, ORDER } from "./steer-guarantees.js";
import { CANCEL, CONTAINMENT, IDLE, ONE_ANSWER } from "./turn-guarantees.js";

/** All of them, in order. */
export const GUARANTEES: readonly Guarantee[] = [
  ...NO_LOST_STEER,
  ...NO_DUPLICATE,
  ...ORDER,
  ...ONE_ANSWER,
  ...IDLE,
  ...CANCEL,
  ...ISOLATION,
  ...CONTAINMENT,
];
