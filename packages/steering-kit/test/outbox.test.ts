import type { AgentContext } from "@agentclientprotocol/sdk/unstable";
import { expect, test } from "vitest";
import { Outbox } from "../src/outbox.js";
import { gate, text } from "./in-process.js";

test("G2: a report waits until the updates before it are written, and holds back those behind it", async () => {
  const order: string[] = [];
  const written = gate();
  const verdict = gate();
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
  verdict.open();
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 1));
  expect(order).toEqual(["writing before"]);
  written.open();
  await outbox.flushed();
  expect(order).toEqual(["writing before", "report", "writing after"]);
});
