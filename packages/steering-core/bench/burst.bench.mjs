// 1,024 steers sent at once to one turn: all bound, all handed over, in order.
import { row } from "../../../scripts/bench-row.mjs";
import { connected, newSession, textPrompt } from "./support.mjs";

const STEERS = 1_024;

export async function run() {
  const { client, takeAll, release } = await connected();
  const sessionId = await newSession(client);
  const answered = client.request("session/prompt", { sessionId, prompt: textPrompt("go") });
  const begun = performance.now();
  const outcomes = await Promise.all(
    Array.from({ length: STEERS }, (_, index) =>
      client.request("_session/steering", { sessionId, prompt: textPrompt(String(index)) }),
    ),
  );
  const given = (await takeAll(sessionId)).map(({ prompt }) => prompt[0].text);
  const took = performance.now() - begun;
  release(sessionId);
  await answered;
  const refused = outcomes.filter(({ result }) => result?.outcome !== "injected").length;
  const misplaced = given.filter((text, index) => text !== String(index)).length + Math.abs(STEERS - given.length);
  return [
    row(`${STEERS} steers at once: not injected`, refused, "at most 0"),
    row(
      `${STEERS} steers at once: missing or out of order`,
      misplaced,
      "at most 0",
      "",
      `${took.toFixed(0)} ms for all`,
    ),
  ];
}
