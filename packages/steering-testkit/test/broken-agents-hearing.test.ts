import { expect, test } from "vitest";
import { MISDELIVERING_AGENTS } from "../src/reference/broken/delivery.js";
import { BROKEN_AGENTS } from "../src/reference/broken/index.js";
import { LOSING_AGENTS } from "../src/reference/broken/losses.js";
import { LENIENT_AGENTS } from "../src/reference/broken/refusals.js";
import { REQUIREMENTS } from "../src/requirements/requirements.js";
import { testMatrix } from "./broken-matrix.js";

test("every requirement that can be broken has one broken agent", () => {
  const breakable = REQUIREMENTS.filter(({ tier }) => tier !== "informs").map(({ id }) => id);
  expect(BROKEN_AGENTS.map(({ requirement }) => requirement).sort()).toEqual([...breakable].sort());
});

testMatrix([...LOSING_AGENTS, ...MISDELIVERING_AGENTS, ...LENIENT_AGENTS]);
