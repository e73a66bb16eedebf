/** The families of worlds that are visited. */

import type { Policy } from "./told.js";
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

const EVERYTHING: Omit<Family, "name" | "policy" | "worlds" | "transitions"> = {
  prompts: 3,
  steers: 3,
  links: [1],
  contents: ["plain"],
  idleBehaviors: [],
  commands: false,
  repeats: false,
  holds: true,
  revokes: true,
  closes: 1,
  drops: true,
  outcomes: [ENDED, REFUSED, failed(-32600), failed(-32603)],
};

/** The same with so few prompts and steers that it takes no time. */
const small = (family: Family): Family => ({ ...family, prompts: 2, steers: 1 });

/**
 * The first family is the whole product: three prompts, three steers, every verdict and report, take, holds, revoke,
 * cancel, `$/cancel_request`, close, lost connections, every kind of answer of the agent. Each other one adds what the
 * first does not have, with fewer prompts or steers at a time where the product would grow past what a test can visit.
 */
export const FAMILIES: readonly Family[] = [
  { ...EVERYTHING, name: "driver", worlds: 30_202, transitions: 823_580, policy: policy({ hasDriver: true }) },
  {
    ...EVERYTHING,
    name: "driver, content that it does not take, commands of the agent",
    worlds: 27_034,
    transitions: 569_942,
    policy: policy({ hasDriver: true }),
    prompts: 1,
    contents: ["plain", "foreign", "slash"],
    closes: 0,
    drops: false,
    revokes: false,
  },
  {
    ...EVERYTHING,
    name: "driver, prompts that join the turn, slash commands, repeats",
    worlds: 15_060,
    transitions: 413_446,
    policy: policy({ hasDriver: true, whenBusy: "steer" }),
    prompts: 2,
    commands: true,
    repeats: true,
    drops: false,
    revokes: false,
  },
  {
    ...EVERYTHING,
    name: "driver, two connections",
    worlds: 32_830,
    transitions: 709_478,
    policy: policy({ hasDriver: true }),
    prompts: 2,
    steers: 2,
    links: [1, 2],
    holds: false,
    closes: 0,
    outcomes: [ENDED, failed(-32603)],
  },
  {
    ...EVERYTHING,
    name: "inbox, commands of the agent, every stop reason and error, two closes at a time",
    worlds: 20_542,
    transitions: 471_261,
    policy: policy({}),
    contents: ["plain", "slash"],
    closes: 2,
    outcomes: [ENDED, STOPPED, REFUSED, failed(-32600), failed(-32602), failed(-32603)],
  },
  {
    ...EVERYTHING,
    name: "inbox, steers that start turns, slash commands, repeats, busy prompts refused",
    worlds: 5_636,
    transitions: 134_008,
    policy: policy({ idleBehavior: "startNewTurn", whenBusy: "reject" }),
    idleBehaviors: ["promptRequired"],
    commands: true,
    repeats: true,
  },
  {
    ...EVERYTHING,
    name: "inbox, two connections",
    worlds: 31_150,
    transitions: 577_386,
    policy: policy({}),
    prompts: 2,
    steers: 2,
    links: [1, 2],
    outcomes: [ENDED, failed(-32600), failed(-32603)],
  },
  {
    ...EVERYTHING,
    name: "inbox, two connections, prompts that join the turn",
    worlds: 13_474,
    transitions: 183_112,
    policy: policy({ whenBusy: "steer" }),
    prompts: 2,
    steers: 2,
    links: [1, 2],
    revokes: false,
    holds: false,
    outcomes: [ENDED, failed(-32603)],
  },
  {
    ...EVERYTHING,
    name: "emulation by interrupt, idle steers refused",
    worlds: 16_584,
    transitions: 344_363,
    policy: policy({ interrupts: true, idleBehavior: "reject" }),
    idleBehaviors: ["startNewTurn"],
    outcomes: [ENDED, STOPPED, failed(-32600), failed(-32603)],
  },
];

/** Enough of them for every way that a session can go from phase to phase. */
export const FEW: readonly Family[] = FAMILIES.filter(
  ({ links, contents, policy: { interrupts, whenBusy } }) =>
    links.length + contents.length < 4 && !interrupts && whenBusy !== "steer",
).map(small);
