import type { SessionUpdate } from "@agentclientprotocol/sdk/unstable";
import { client, methods } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test, vi } from "vitest";
import { steeringAgent, type Turn, type Vendor, type VendorSession } from "../src/index.js";
import { connectClient, text } from "./in-process.js";

const sessionId = "session-1";
const request = { cwd: "/", mcpServers: [] };
const FORM = { message: "Which?", requestedSchema: { type: "object", properties: {} } } as const;

/** A session with two modes. */
class Modal implements VendorSession {
  readonly id = sessionId;
  readonly close = vi.fn(async () => {});
  send: (update: SessionUpdate) => void = () => {};
  elicit: Turn["elicit"];
  #mode = "ask";

  modes() {
    return { currentModeId: this.#mode, availableModes: ["ask", "act"].map((id) => ({ id, name: id })) };
  }

  async setMode(modeId: string): Promise<void> {
    this.#mode = modeId;
  }

  attach(send: (update: SessionUpdate) => void): void {
    this.send = send;
  }

  async prompt(turn: Turn) {
    this.elicit = turn.elicit;
    await turn.elicit?.(FORM);
    return { stopReason: "end_turn" } as const;
  }

  interrupt(): void {}
}

function vendorOf(session: VendorSession, more: Partial<Vendor> = {}): Vendor {
  return { name: "test-vendor", version: "1.0.0", open: async () => session, ...more };
}

describe("what a vendor may have besides", () => {
  test("is advertised when it is there, and not otherwise", async () => {
    const none = connectClient(steeringAgent(vendorOf(new Modal())));
    const { agentCapabilities: bare } = await none.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(bare).not.toHaveProperty("auth");
    expect(bare).not.toHaveProperty("mcpCapabilities");
    expect(bare?.sessionCapabilities).toEqual({ close: {} });
    const all = vendorOf(new Modal(), {
      delete: async () => {},
      logout: async () => {},
      additionalDirectories: true,
      mcpCapabilities: { http: true },
    });
    const { agent } = connectClient(steeringAgent(all));
    expect(await agent.request(methods.agent.initialize, { protocolVersion: 1 })).toMatchObject({
      agentCapabilities: {
        auth: { logout: {} },
        mcpCapabilities: { http: true },
        sessionCapabilities: { delete: {}, additionalDirectories: {} },
      },
    });
  });

  test("modes are in the answer that opens the session, and can be set; an unknown one is refused", async () => {
    const { agent } = connectClient(steeringAgent(vendorOf(new Modal())));
    await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(await agent.request(methods.agent.session.new, request)).toMatchObject({ modes: { currentModeId: "ask" } });
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: "act" });
    const refused = agent.request(methods.agent.session.setMode, { sessionId, modeId: "god" });
    await expect(refused).rejects.toMatchObject({ code: -32602, message: expect.stringContaining("ask, act") });
  });

  test("a session without modes has no method for them", async () => {
    const session: VendorSession = {
      id: sessionId,
      prompt: async () => ({ stopReason: "end_turn" }),
      interrupt: () => {},
    };
    const { agent } = connectClient(steeringAgent(vendorOf(session)));
    await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await agent.request(methods.agent.session.new, request);
    const refused = agent.request(methods.agent.session.setMode, { sessionId, modeId: "act" });
    await expect(refused).rejects.toMatchObject({ code: -32601 });
  });

  test("what a session says outside of a turn comes behind the answer that opens it", async () => {
    const session = new Modal();
    const attached = vi.spyOn(session, "attach");
    const { agent, received } = connectClient(steeringAgent(vendorOf(session)));
    await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await agent.request(methods.agent.session.new, request);
    await vi.waitFor(() => expect(attached).toHaveBeenCalledOnce());
    session.send({ sessionUpdate: "session_info_update", title: "A title" });
    const update = { sessionUpdate: "session_info_update", title: "A title" };
    await vi.waitFor(() => expect(received).toContainEqual({ kind: "update", value: update }));
  });

  test("delete closes the session first, also one that is not open; logout is passed on", async () => {
    const session = new Modal();
    const deleted = vi.fn(async () => expect(session.close).toHaveBeenCalledOnce());
    const logout = vi.fn(async () => {});
    const { agent } = connectClient(steeringAgent(vendorOf(session, { delete: deleted, logout })));
    await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await agent.request(methods.agent.session.new, request);
    await agent.request(methods.agent.session.delete, { sessionId });
    await agent.request(methods.agent.session.delete, { sessionId: "another" });
    await agent.request(methods.agent.logout, {});
    expect(deleted).toHaveBeenCalledTimes(2);
    expect(logout).toHaveBeenCalledOnce();
  });

  test("a turn can show a form, in its session, where the client declares that it shows forms", async () => {
    const session = new Modal();
    const plain = connectClient(steeringAgent(vendorOf(session)));
    await plain.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await plain.agent.request(methods.agent.session.new, request);
    await plain.agent.request(methods.agent.session.prompt, { sessionId, prompt: [text("Go")] });
    expect(session.elicit).toBeUndefined();

    const toAgent = new TransformStream();
    const toClient = new TransformStream();
    const shown = vi.fn(() => ({ action: "decline" }) as const);
    steeringAgent(vendorOf(session)).connect({ readable: toAgent.readable, writable: toClient.writable });
    const { agent } = client()
      .onRequest(methods.client.elicitation.create, ({ params }) =>
        (shown as (params: unknown) => ReturnType<typeof shown>)(params),
      )
      .connect({ readable: toClient.readable, writable: toAgent.writable });
    await agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { elicitation: { form: {} } },
    });
    await agent.request(methods.agent.session.new, request);
    await agent.request(methods.agent.session.prompt, { sessionId, prompt: [text("Go")] });
    expect(shown).toHaveBeenCalledWith(expect.objectContaining({ ...FORM, mode: "form", sessionId }));
  });
});
