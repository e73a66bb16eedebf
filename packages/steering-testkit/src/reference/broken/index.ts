import { REQUIREMENTS } from "../../requirements/requirements.js";
import { MISANSWERING_AGENTS } from "./answering.js";
import type { BrokenAgent } from "./broken-agent.js";
import { MISDELIVERING_AGENTS } from "./delivery.js";
import { CARELESS_AGENTS } from "./extras.js";
import { LOSING_AGENTS } from "./losses.js";
import { LENIENT_AGENTS } from "./refusals.js";
import { CONFUSED_AGENTS } from "./turns.js";

const ALL: readonly BrokenAgent[] = [
  ...LOSING_AGENTS,
  ...MISDELIVERING_AGENTS,
  ...MISANSWERING_AGENTS,
  ...CONFUSED_AGENTS,
  ...LENIENT_AGENTS,
  ...CARELESS_AGENTS,
];

/** One agent for each requirement that can be broken, in the order of the requirements. */
export const BROKEN_AGENTS: readonly BrokenAgent[] = REQUIREMENTS.flatMap(({ id }) =>
  ALL.filter(({ requirement }) => requirement === id),
);
