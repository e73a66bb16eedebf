import { methods, type SessionConfigOption } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test, vi } from "vitest";
import { type ConfigChange, steeringAgent, type Vendor, type VendorSession } from "../src/index.js";
import { type Connected, connectClient, text } from "./in-process.js";

const SESSION_ID = "session-1";
const request = { cwd: "/", mcpServers: [] };

/** A session with a model to choose, a switch, and a command. */
class Settable implements VendorSession {
  readonly id = SESSION_ID;
  readonly commands = [{ name: "help", description: "Help" }];
  readonly changes: ConfigChange[] = [];
  #model = "small";

  configOptions(): SessionConfigOption[] {
    const sizes = [{ value: "small", name: "Small" }];
    const options = [{ group: "sizes", name: "Sizes", options: [...sizes, { value: "large", name: "Large" }] }];
    return [
      { type: "select", id: "model", name: "Model", currentValue: this.#model, options },
      { type: "boolean", id: "loud", name: "Loud", currentValue: false },
    ];
  }

  async setConfigOption(change: ConfigChange): Promise<void> {
    this.changes.push(change);
    if (change.configId === "model") this.#model = String(change.value);
  }

  async prompt(): Promise<{ stopReason: "end_turn" }> {
    return { stopReason: "end_turn" };
  }

  interrupt(): void {}
}

function vendorOf(session: VendorSession): Vendor {
  const give = async (): Promise<VendorSession> => session;
  return { name: "test-vendor", version: "1.0.0", open: give, load: give, resume: give, fork: give };
}

async function connected(session: VendorSession): Promise<Connected> {
  const client = connectClient(steeringAgent(vendorOf(session)));
  await client.agent.request(methods.agent.initialize, { protocolVersion: 1 });
  return client;
}

async function opened(session: VendorSession): Promise<Connected> {
  const client = await connected(session);
  await client.agent.request(methods.agent.session.new, request);
  return client;
}

describe("the settings of a session", () => {
  const model = [{ id: "model", currentValue: "small" }, { id: "loud" }];

  test("stand in every answer that opens it", async () => {
    const { agent } = await connected(new Settable());
    const again = { ...request, sessionId: SESSION_ID };
    expect(await agent.request(methods.agent.session.new, request)).toMatchObject({ configOptions: model });
    expect(await agent.request(methods.agent.session.load, again)).toMatchObject({ configOptions: model });
    expect(await agent.request(methods.agent.session.resume, again)).toMatchObject({ configOptions: model });
    expect(await agent.request(methods.agent.session.fork, again)).toMatchObject({ configOptions: model });
  });

  test("are set, and the answer has them as they are then", async () => {
    const session = new Settable();
    const { agent } = await opened(session);
    const change = { sessionId: SESSION_ID, configId: "model", value: "large" };
    const answer = await agent.request(methods.agent.session.setConfigOption, change);
    expect(answer).toMatchObject({ configOptions: [{ id: "model", currentValue: "large" }, { id: "loud" }] });
    await agent.request(methods.agent.session.setConfigOption, {
      sessionId: SESSION_ID,
      configId: "loud",
      type: "boolean",
      value: true,
    });
    expect(session.changes).toEqual([
      { configId: "model", value: "large" },
      { configId: "loud", value: true },
    ]);
  });

  test.each([
    ["model", "huge", "value"],
    ["colour", "red", "configId"],
    ["loud", "yes", "value"],
  ])("%s = %s is -32602 and changes nothing", async (configId, value, path) => {
    const session = new Settable();
    const { agent } = await opened(session);
    await expect(
      agent.request(methods.agent.session.setConfigOption, { sessionId: SESSION_ID, configId, value }),
    ).rejects.toMatchObject({ code: -32602, data: { path } });
    expect(session.changes).toEqual([]);
  });

  test("that it does not have are -32601, and stand in no answer", async () => {
    const plain: VendorSession = {
      id: SESSION_ID,
      prompt: async () => ({ stopReason: "end_turn" }),
      interrupt: () => {},
    };
    const { agent } = await connected(plain);
    expect(await agent.request(methods.agent.session.new, request)).toEqual({ sessionId: SESSION_ID });
    await expect(
      agent.request(methods.agent.session.setConfigOption, { sessionId: SESSION_ID, configId: "model", value: "x" }),
    ).rejects.toMatchObject({ code: -32601 });
  });

  test("its commands are announced after the answer, beside those of the layer", async () => {
    const { received } = await opened(new Settable());
    const announced = (): (string[] | undefined)[] =>
      received
        .map(({ value }) => value as { availableCommands?: { name: string }[] })
        .map(({ availableCommands }) => availableCommands?.map(({ name }) => name));
    await vi.waitFor(() => expect(announced()).toContainEqual(["steer", "queue", "help"]));
  });
});

test("what a user can sign in with stands in the first answer", async () => {
  const authMethods = [{ id: "key", name: "Key" }];
  const { agent } = connectClient(steeringAgent({ ...vendorOf(new Settable()), authMethods }));
  const initialized = await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  expect(initialized.authMethods).toEqual([{ id: "key", name: "Key" }]);
});

test("a question can be taken back", async () => {
  const withdrawn = new AbortController();
  const session: VendorSession = {
    id: SESSION_ID,
    interrupt: () => {},
    prompt: async (turn) => {
      const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" as const }];
      await turn.requestPermission({ toolCall: { toolCallId: "1" }, options }, withdrawn.signal).catch(() => {});
      return { stopReason: "end_turn" };
    },
  };
  const { agent } = connectClient(steeringAgent(vendorOf(session)), ({ signal }) => {
    withdrawn.abort();
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ outcome: { outcome: "cancelled" } }));
    });
  });
  await agent.request(methods.agent.initialize, { protocolVersion: 1 });
  await agent.request(methods.agent.session.new, request);
  const turn = agent.request(methods.agent.session.prompt, { sessionId: SESSION_ID, prompt: [text("go")] });
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
});
