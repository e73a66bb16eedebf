import type { WireMessage } from "@acp-steering/core";
import { expect, test, vi } from "vitest";
import { steeringAgent, type Vendor } from "../src/index.js";
import { gate } from "./in-process.js";

const loading = vi.hoisted(() => ({ until: Promise.resolve() }));

vi.mock("../src/app.js", async (load) => {
  await loading.until;
  return load();
});

const vendor: Vendor = {
  name: "slow-to-load",
  version: "1.0.0",
  open: async () => ({ id: "session-1", prompt: async () => ({ stopReason: "end_turn" }), interrupt: () => {} }),
};

function connect() {
  const toAgent = new TransformStream<WireMessage, WireMessage>();
  const toClient = new TransformStream<WireMessage, WireMessage>();
  steeringAgent(vendor).connect({ readable: toAgent.readable, writable: toClient.writable });
  const writer = toAgent.writable.getWriter();
  const reader = toClient.readable.getReader();
  const send = (message: Omit<WireMessage, "jsonrpc">): void => void writer.write({ jsonrpc: "2.0", ...message });
  const received = async (): Promise<WireMessage | undefined> => (await reader.read()).value;
  return { send, received };
}

test("G4 one answer: initialize is answered before the SDK is loaded, and once; what follows waits for the SDK", async () => {
  const { opened, open } = gate();
  loading.until = opened;
  const { send, received } = connect();
  send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
  send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
  expect(await received()).toMatchObject({ id: 1, result: { agentInfo: { name: "slow-to-load" } } });
  open();
  expect(await received()).toMatchObject({ id: 2, result: { sessionId: "session-1" } });
});

test("what is wrong with an initialize, the SDK says", async () => {
  const { send, received } = connect();
  for (const protocolVersion of ["1", -1, 70_000, undefined]) {
    send({ id: 1, method: "initialize", params: { protocolVersion } });
    expect(await received()).toMatchObject({ id: 1, error: { code: -32602 } });
  }
  send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
  expect(await received()).toMatchObject({ id: 2, error: { code: -32600 } });
  send({ id: 3, method: "initialize", params: { protocolVersion: 1 } });
  expect(await received()).toMatchObject({ id: 3, result: { protocolVersion: 1 } });
});

test("a connection may be initialized again", async () => {
  const { send, received } = connect();
  for (const id of [1, 2]) {
    send({ id, method: "initialize", params: { protocolVersion: 1 } });
    expect(await received()).toMatchObject({ id, result: { protocolVersion: 1 } });
  }
});
