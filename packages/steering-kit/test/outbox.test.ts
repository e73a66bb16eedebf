import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import { expect, test } from "vitest";
import { Outbox } from "../src/outbox.js";
import { gate, text } from "./in-process.js";

/** Timers fire in the order in which they were set: after three rounds, whatever could go on has gone on. */
async function settled(): Promise<void> {
  for (let round = 0; round < 3; round += 1) await new Promise((resolve) => setTimeout(resolve, 1));
}

test.each([
  ["its verdict", "the write before it"],
  ["the write before it", "its verdict"],
])("G2: a report waits for %s and for %s, and holds back the updates behind it", async (first) => {
  const order: string[] = [];
  const written = gate();
  const verdict = gate();
  const gates = first === "its verdict" ? [verdict, written] : [written, verdict];
  const client = {
    notify: async (_method: string, { update }: { update: { content: { text: string } } }) => {
      order.push(`writing ${update.content.text}`);
      await written.opened;
    },
  } as unknown as AgentContext;
  const outbox = new Outbox(client, "session");
  outbox.update({ sessionUpdate: "agent_message_chunk", content: text("before") });
  outbox.report(verdict.opened, () => order.push("report"));
  outbox.update({ sessionUpdate: "agent_message_chunk", content: text("after") });
  gates[0]?.open();
  await settled();
  expect(order).toEqual(["writing before"]);
  gates[1]?.open();
  await outbox.flushed();
  expect(order).toEqual(["writing before", "report", "writing after"]);
});
