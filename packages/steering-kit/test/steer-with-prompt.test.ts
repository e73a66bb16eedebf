import type { AnyMessage } from "@agentclientprotocol/sdk/unstable";
import { methods } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import { type SteeringAgent, type SteerMessage, steeringAgent, type Vendor, type VendorSession } from "../src/index.js";
import { connectClient, gate, text } from "./in-process.js";

const SESSION_ID = "session-1";
const supports = { content: ["text"], boundary: "nextStep" } as const;

const vendorOf = (session: Partial<VendorSession>, traits: Partial<Vendor> = {}): Vendor => ({
  name: "test-vendor",
  version: "1.2.3",
  open: async () => ({
    id: SESSION_ID,
    prompt: async () => ({ stopReason: "end_turn" }),
    interrupt: () => {},
    ...session,
  }),
  ...traits,
});

/** A client whose messages stand on the stream as soon as they are sent: an SDK client waits between two writes. */
function rawClient(steerable: SteeringAgent) {
  const toAgent = new TransformStream<AnyMessage, AnyMessage>({}, { highWaterMark: 16 });
  const toClient = new TransformStream<AnyMessage, AnyMessage>();
  const answers = new Map<unknown, unknown>();
  const waiting = new Map<unknown, () => void>();
  steerable.connect({ readable: toAgent.readable, writable: toClient.writable });
  const writer = toAgent.writable.getWriter();
  void (async () => {
    for await (const message of toClient.readable) {
      if ("method" in message) continue;
      answers.set(message.id, "result" in message ? message.result : message.error);
      waiting.get(message.id)?.();
    }
  })();
  const send = (id: number, method: string, params: unknown): Promise<void> => {
    void writer.write({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  return { send, answers };
}

describe("a steer that comes with its prompt", () => {
  test("G3 order: it waits for the run to begin and joins it there, not one run later", async () => {
    const steered: string[] = [];
    const seen = gate();
    let runs = 0;
    const vendor = vendorOf(
      {
        prompt: async () => {
          runs += 1;
          await seen.opened;
          return { stopReason: "end_turn" };
        },
        steer: async ({ prompt: [block] }) => {
          steered.push(block?.type === "text" ? block.text : "");
          seen.open();
          return "delivered";
        },
      },
      { supports },
    );
    const { send, answers } = rawClient(steeringAgent(vendor));
    await send(1, "initialize", { protocolVersion: 1 });
    await send(2, "session/new", { cwd: "/", mcpServers: [] });
    const both = [
      send(3, "session/prompt", { sessionId: SESSION_ID, prompt: [text("go")] }),
      send(4, "_session/steering", { sessionId: SESSION_ID, prompt: [text("not that file")] }),
    ];
    await Promise.all(both);
    expect(answers.get(4)).toMatchObject({ outcome: "injected" });
    expect(answers.get(3)).toMatchObject({ stopReason: "end_turn" });
    expect([steered, runs]).toEqual([["not that file"], 1]);
  });

  test("G1 no lost steer: a run that never begins leaves it to nobody, and the prompt has its error", async () => {
    const connected = connectClient(steeringAgent(vendorOf({ steer: async () => "delivered" }, { supports })));
    await connected.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await connected.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    const image = { type: "image" as const, data: "", mimeType: "image/png" };
    const answered = connected.agent.request(methods.agent.session.prompt, { sessionId: SESSION_ID, prompt: [image] });
    const outcome = connected.agent.request("_session/steering", {
      sessionId: SESSION_ID,
      prompt: [text("not that file")],
    });
    await expect(answered).rejects.toMatchObject({
      code: -32602,
      data: { steering: { undelivered: [{ reason: "agentFailed" }] } },
    });
    await expect(outcome).resolves.toMatchObject({ outcome: "injected" });
  });

  test("G1 no lost steer: a close waits for what the run says of its steers", async () => {
    const closed = gate();
    const vendor = vendorOf(
      {
        prompt: async () => {
          await closed.opened;
          accepted?.undelivered();
          return { stopReason: "cancelled" };
        },
        steer: async (message) => {
          accepted = message;
          return "accepted";
        },
        close: async () => closed.open(),
      },
      { supports },
    );
    let accepted: SteerMessage | undefined;
    const { send, answers } = rawClient(steeringAgent(vendor));
    await send(1, "initialize", { protocolVersion: 1 });
    await send(2, "session/new", { cwd: "/", mcpServers: [] });
    const answered = send(3, "session/prompt", { sessionId: SESSION_ID, prompt: [text("go")] });
    await send(4, "_session/steering", { sessionId: SESSION_ID, prompt: [text("not that file")] });
    await Promise.all([answered, send(5, "session/close", { sessionId: SESSION_ID })]);
    expect([answers.get(3), answers.get(5)]).toMatchObject([
      { stopReason: "cancelled", _meta: { steering: { undelivered: [{ reason: "closed" }] } } },
      {},
    ]);
  });
});
