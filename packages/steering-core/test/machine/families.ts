/** The families of worlds that are visited. */
import type { Policy } from "../../src/state.js";
import { ENDED, type Family, failed, REFUSED, STOPPED } from "./world.js";

const policy = (changes: Partial<Policy>): Policy => ({
  idleBehavior: "promptRequired",
  whenBusy: "queue",
  hasDriver: false,
  interrupts: false,
  cancelGraceMs: 10_000,
  maxPending: { steers: 4_096, bytes: 33_554_432 },
  ...changes,
});

const EVERYTHING: Omit<Family, "name" | "policy"> = {
  prompts: 3,
  steers: 3,
  links: [1],
  contents: ["plain"],
  idleBehaviors: [],
  commands: false,
  repeats: false,
  holds: true,
  revokes: true,
  closes: true,
  drops: true,
  outcomes: [ENDED, STOPPED, REFUSED, failed(-32600), failed(-32603)],
};

export const FAMILIES: readonly Family[] = [
  { ...EVERYTHING, name: "inbox", policy: policy({}) },
  { ...EVERYTHING, name: "driver", policy: policy({ hasDriver: true }) },
];
