import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import pc from "picocolors";
import { describe, expect, test } from "vitest";
import { readRecording } from "../src/record/read-recording.js";
import { textTimeline } from "../src/trace/text-timeline.js";
import { traceOf } from "../src/trace/trace.js";

const FOLDER = fileURLToPath(new URL("fixtures/recordings/", import.meta.url));
const STYLE = { colors: pc.createColors(false), width: 120 };
/** Real agents, and a stand-in for each way in which an agent is steered. */
const RECORDINGS = readdirSync(FOLDER);
/** What becomes of a steer is not said by these. */
const SILENT = ["claude-agent-acp", "codex-acp", "minimax", "native", "nooa", "opencrabs", "prompt", "reasonix"].map(
  (name) => `${name}.jsonl`,
);
/** When they are given it cannot be seen: by their own layer, by a notification. */
const UNSEEN = ["pi.jsonl", "opencrabs.jsonl"];

describe("a recorded session of each vendor, steered while its model speaks", () => {
  test("there is one of each", () => {
    expect(RECORDINGS.length).toBeGreaterThanOrEqual(17);
  });

  test.each(RECORDINGS)("%s", async (name) => {
    const timeline = await traceOf(readRecording(`${FOLDER}${name}`));
    expect(timeline).toMatchObject({
      unreadable: 0,
      turns: [{ ending: "end_turn", steers: [{ outcome: "injected" }] }],
    });
    const [turn] = timeline.turns;
    const [steer] = turn?.steers ?? [];
    expect(timeline.turns).toHaveLength(1);
    expect(turn?.steers).toHaveLength(1);
    expect(steer?.undelivered).toBeUndefined();
    expect(steer?.delivered).toBeGreaterThanOrEqual(steer?.answered ?? Number.NaN);
    expect(steer?.delivered).toBeLessThanOrEqual(turn?.end ?? Number.NaN);
    expect(steer?.handedOver === undefined).toBe(UNSEEN.includes(name));
    expect(steer?.assumed ?? false).toBe(SILENT.includes(name));
    expect(textTimeline(timeline, STYLE)).toMatch(/^ {2}steer 1 .*●.* injected after /m);
  });
});
