import { fileURLToPath } from "node:url";
import { check } from "@acp-steering/testkit";
import { expect, test } from "vitest";
import type { Strategy } from "../src/strategy.js";
import { UNANSWERED } from "../test/stand-ins/unanswered.js";

const WRAP = fileURLToPath(new URL("wrap.mjs", import.meta.url));
const STAND_IN = fileURLToPath(new URL("../test/stand-ins/stand-in.mjs", import.meta.url));
const TIMEOUT_MS = 600_000;
const TRIALS = 60;

/** With what a stand-in may fail at, as in its conformance; the reasons are there. */
const ALL: readonly (readonly [dialect: string, strategy: Strategy, failures?: readonly string[]])[] = [
  ["native", "auto"],
  // It drops what a cancel overtakes without a word; until it has shown a first steer, that one is `assumed`.
  ["goose", "auto", ["receipt.undelivered", "report.owner"]],
  ["kimchi", "auto"],
  ["reasonix", "auto"],
  ["kiro", "native"],
  ["minimax", "auto"],
  ["poolside", "auto", ["receipt.undelivered", "report.owner"]],
  ["nooa", "auto"],
  ["hermes", "auto"],
  ["concurrent", "prompt"],
  ["opencrabs", "native", Object.keys(UNANSWERED)],
  ["none", "finish"],
  ["none", "interrupt"],
];

test.each(ALL)(
  "acp-steer check in front of %s by --strategy %s",
  async (dialect, strategy, failures = []) => {
    const { requirements } = await check({
      command: process.execPath,
      args: [WRAP, strategy, process.execPath, STAND_IN, dialect],
      modelServer: "openai-chat",
      trials: TRIALS,
    });
    const failed = requirements.filter(({ verdict, id }) => verdict === "fail" && !failures.includes(id));
    expect(failed.map(({ id }) => id)).toEqual([]);
  },
  TIMEOUT_MS,
);
