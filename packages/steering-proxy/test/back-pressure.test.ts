import { once } from "node:events";
import { expect, test } from "vitest";
import { LineClient } from "./line-client.js";

const LINE = 60_000;
const LINES = 400;
/** What may lie in the pipes and buffers between two ends, in bytes: a twentieth of what is sent. */
const BOUND = (LINE * LINES) / 10;
const QUIET_ROUNDS = 50;

/** Rounds of the event loop until many in a row bring nothing new. */
async function untilStill(measure: () => number): Promise<number> {
  for (let [last, still] = [measure(), 0]; still < QUIET_ROUNDS; still += 1) {
    await new Promise((resolve) => setTimeout(() => setImmediate(resolve), 1));
    if (measure() !== last) still = 0;
    last = measure();
  }
  return measure();
}

test("a client that stops reading stops the agent, and gets everything when it reads again", async () => {
  let read = 0;
  const client = await LineClient.start(
    {},
    {
      tap: (flow, line) => {
        if (flow === "fromAgent") read += line.length;
      },
    },
  );
  const sessionId = await client.open();
  await client.see(({ line }) => line.includes("available_commands_update"));
  client.output.removeAllListeners("data");
  client.output.pause();
  const id = client.prompt(sessionId, { deed: "flood", lines: LINES, length: LINE });
  expect(await untilStill(() => read)).toBeGreaterThan(0);
  expect(read).toBeLessThan(BOUND);
  client.read();
  client.output.resume();
  await client.answer(id);
  expect(client.seen.filter(({ line }) => line.length > LINE)).toHaveLength(LINES);
});

test("an agent that stops reading stops the client, and gets everything when it reads again", async () => {
  const client = await LineClient.start();
  const sessionId = await client.open();
  const pid = ((await client.request("_pid")).result as { pid: number }).pid;
  const deaf = `{"jsonrpc":"2.0","id":"deaf","method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[{"type":"text","text":"{\\"deed\\":\\"deaf\\"}"}]}}`;
  client.write(deaf);
  await client.reached(deaf);
  let taken = 0;
  const send = async (): Promise<void> => {
    for (let count = 0; count < LINES; count += 1) {
      const line = `{"jsonrpc":"2.0","method":"_vendor/much","params":{"n":${count},"text":"${"x".repeat(LINE)}"}}\n`;
      if (!client.input.write(line)) await once(client.input, "drain");
      taken += line.length;
    }
  };
  const sent = send();
  expect(await untilStill(() => taken)).toBeLessThan(LINES * LINE);
  // 64 messages are the layer's to hold, the rest is pipes.
  expect(taken).toBeLessThan(BOUND + 64 * (LINE + 100));
  process.kill(pid, "SIGUSR2");
  await sent;
  await client.when(() =>
    client.seen.filter(({ message }) => message.method === "_received").length >= LINES ? true : undefined,
  );
});
