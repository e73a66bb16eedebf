import { methods } from "@agentclientprotocol/sdk/unstable";
import { describe, expect, test } from "vitest";
import {
  type SteerMessage,
  steeringAgent,
  type Turn,
  type Vendor,
  VendorError,
  type VendorSession,
} from "../src/index.js";
import { type Connected, connectClient, gate, text } from "./in-process.js";

const SESSION_ID = "session-1";
const supports = { content: ["text"], boundary: "nextStep" } as const;

/** A vendor whose one session does what the test says. */
function vendorOf(session: Partial<VendorSession>, traits: Partial<Vendor> = {}): Vendor {
  const whole: VendorSession = {
    id: SESSION_ID,
    prompt: async () => ({ stopReason: "end_turn" }),
    interrupt: () => {},
    ...session,
  };
  return { name: "test-vendor", title: "Test Vendor", version: "1.2.3", open: async () => whole, ...traits };
}

async function opened(vendor: Vendor, receipts = false): Promise<Connected> {
  const connected = connectClient(steeringAgent(vendor));
  const capabilities = receipts ? { _meta: { steering: { receipts: true, echo: true } } } : {};
  await connected.agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities });
  await connected.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
  return connected;
}

function prompt({ agent }: Connected, words = "go"): Promise<{ stopReason: string; usage?: unknown }> {
  return agent.request(methods.agent.session.prompt, { sessionId: SESSION_ID, prompt: [text(words)] });
}

function steer({ agent }: Connected, words: string): Promise<{ outcome: string }> {
  return agent.request("_session/steering", { sessionId: SESSION_ID, prompt: [text(words)] });
}

function chunk(value: string): Parameters<Turn["update"]>[0] {
  return { sessionUpdate: "agent_message_chunk", content: text(value) };
}

describe("capabilities", () => {
  test("follow from the methods that the vendor has", async () => {
    const { agent } = connectClient(
      steeringAgent(
        vendorOf(
          {},
          {
            supports,
            promptCapabilities: { image: true },
            load: async () => Promise.reject(new Error("unused")),
            list: async () => ({ sessions: [{ sessionId: SESSION_ID, cwd: "/" }] }),
          },
        ),
      ),
    );
    const initialized = await agent.request(methods.agent.initialize, { protocolVersion: 1 });
    expect(initialized).toMatchObject({
      agentInfo: { name: "test-vendor", title: "Test Vendor", version: "1.2.3" },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true },
        sessionCapabilities: { close: {}, list: {} },
      },
      _meta: { steering: { supported: true, emulated: false } },
    });
    expect(initialized.agentCapabilities?.sessionCapabilities).not.toHaveProperty("fork");
    await expect(agent.request(methods.agent.session.list, {})).resolves.toMatchObject({ sessions: [{ cwd: "/" }] });
    await expect(agent.request(methods.agent.session.fork, { sessionId: SESSION_ID, cwd: "/" })).rejects.toMatchObject({
      code: -32601,
    });
  });

  test("a vendor without steer() is emulated, and one that takes from its inbox is not", async () => {
    const advertised = async (vendor: Vendor): Promise<unknown> => {
      const { agent } = connectClient(steeringAgent(vendor));
      return (await agent.request(methods.agent.initialize, { protocolVersion: 1 }))._meta?.["steering"];
    };
    expect(await advertised(vendorOf({}))).toMatchObject({ emulated: true });
    expect(await advertised(vendorOf({}, { inbox: true }))).toMatchObject({ emulated: false });
  });

  test("content that the vendor did not advertise is refused, not lost", async () => {
    const { agent } = await opened(vendorOf({}));
    const image = { type: "image" as const, data: "", mimeType: "image/png" };
    await expect(
      agent.request(methods.agent.session.prompt, { sessionId: SESSION_ID, prompt: [text("see"), image] }),
    ).rejects.toMatchObject({ code: -32602, data: { reason: "unsupportedContent", path: "prompt[1]" } });
  });
});

describe("turns", () => {
  test("G4: every update given before the end stands before the answer, in order", async () => {
    const connected = await opened(
      vendorOf({
        prompt: async (turn) => {
          for (let index = 0; index < 100; index += 1) turn.update(chunk(String(index)));
          return { stopReason: "max_tokens", usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } };
        },
      }),
    );
    const answer = await prompt(connected);
    expect(answer).toMatchObject({ stopReason: "max_tokens", usage: { totalTokens: 3 } });
    const texts = connected.received.flatMap(({ value }) => {
      const update = value as { sessionUpdate: string; content: { text: string } };
      return update.sessionUpdate === "agent_message_chunk" ? [update.content.text] : [];
    });
    expect(texts).toEqual(Array.from({ length: 100 }, (_, index) => String(index)));
  });

  test("a vendor's error becomes -32603 that names the vendor; the session lives on", async () => {
    const answers = [
      () => Promise.reject(new Error("out of paper")),
      async () => ({ stopReason: "end_turn" as const }),
    ];
    const connected = await opened(vendorOf({ prompt: () => answers.shift()?.() ?? Promise.reject() }));
    await expect(prompt(connected)).rejects.toMatchObject({
      code: -32603,
      message: expect.stringMatching(/^Test Vendor failed: out of paper\. .*send the prompt again/),
    });
    await expect(prompt(connected)).resolves.toMatchObject({ stopReason: "end_turn" });
  });

  test("a VendorError reaches the client with its code and data", async () => {
    const error = new VendorError("Sign in first.", { code: -32000, data: { reason: "signedOut" } });
    const connected = await opened(vendorOf({ prompt: () => Promise.reject(error) }));
    await expect(prompt(connected)).rejects.toMatchObject({
      code: -32000,
      message: "Sign in first.",
      data: { reason: "signedOut" },
    });
  });

  test("an unknown session is -32002; a malformed prompt is -32602", async () => {
    const { agent } = await opened(vendorOf({}));
    const nobody = { sessionId: "nobody", prompt: [text("go")] };
    await expect(agent.request(methods.agent.session.prompt, nobody)).rejects.toMatchObject({ code: -32002 });
    await expect(
      agent.request<unknown, unknown>("session/prompt", { sessionId: SESSION_ID, prompt: "go" }),
    ).rejects.toMatchObject({ code: -32602 });
  });

  test("G6: cancel aborts the signal and interrupts the session", async () => {
    const begun = gate<Turn>();
    const interrupted = gate();
    const connected = await opened(
      vendorOf({
        prompt: async (turn) => {
          begun.open(turn);
          await interrupted.opened;
          return { stopReason: "cancelled" };
        },
        interrupt: () => interrupted.open(),
      }),
    );
    const answer = prompt(connected);
    const turn = await begun.opened;
    await connected.agent.notify(methods.agent.session.cancel, { sessionId: SESSION_ID });
    expect(await answer).toMatchObject({ stopReason: "cancelled" });
    expect(turn.signal.aborted).toBe(true);
  });

  test("a permission is asked after the updates before it, in the turn's session", async () => {
    const order: string[] = [];
    const vendor = vendorOf({
      prompt: async (turn) => {
        turn.update(chunk("before"));
        const toolCall = { toolCallId: "tool-1" };
        const { outcome } = await turn.requestPermission({ toolCall, options: [] });
        turn.update(chunk(outcome.outcome));
        return { stopReason: "end_turn" };
      },
    });
    const connected = connectClient(steeringAgent(vendor), async () => {
      order.push(...connected.received.map(() => "update"), "permission");
      return { outcome: { outcome: "selected", optionId: "yes" } };
    });
    await connected.agent.request(methods.agent.initialize, { protocolVersion: 1 });
    await connected.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    await prompt(connected);
    expect(order.at(-1)).toBe("permission");
    expect(connected.received.at(-1)?.value).toEqual(chunk("selected"));
  });
});

describe("steers", () => {
  test("G2: the vendor's report stands where it was made, between the updates around it", async () => {
    const steered = gate<SteerMessage>();
    const begun = gate();
    const connected = await opened(
      vendorOf(
        {
          prompt: async (turn) => {
            begun.open();
            const message = await steered.opened;
            turn.update(chunk("before"));
            message.delivered();
            turn.update(chunk("after"));
            return { stopReason: "end_turn" };
          },
          steer: async (message) => {
            steered.open(message);
            return "accepted";
          },
        },
        { supports },
      ),
      true,
    );
    const answer = prompt(connected);
    await begun.opened;
    expect(await steer(connected, "look here")).toMatchObject({ outcome: "injected" });
    await answer;
    const order = connected.received.flatMap(({ kind, value }) => {
      if (kind !== "update") return [kind];
      const { sessionUpdate, content } = value as { sessionUpdate: string; content?: { text: string } };
      return sessionUpdate.endsWith("_chunk") ? [`${sessionUpdate} ${content?.text}`] : [];
    });
    expect(order).toEqual([
      "turnStarted",
      "agent_message_chunk before",
      "delivered",
      "user_message_chunk look here",
      "agent_message_chunk after",
      "turnEnded",
    ]);
  });

  test("G1 G2: what the vendor hands back is continued in the same turn, and marked so", async () => {
    const begun = gate();
    const steered = gate<SteerMessage>();
    const runs: { words: string; continuation: boolean }[] = [];
    const connected = await opened(
      vendorOf(
        {
          prompt: async ({ prompt: blocks, continuation }) => {
            runs.push({ words: blocks.map((block) => ("text" in block ? block.text : "")).join(""), continuation });
            if (continuation) return { stopReason: "end_turn" };
            begun.open();
            (await steered.opened).undelivered();
            return { stopReason: "end_turn" };
          },
          steer: async (message) => {
            steered.open(message);
            return "accepted";
          },
        },
        { supports },
      ),
    );
    const answer = prompt(connected, "first");
    await begun.opened;
    await steer(connected, "second");
    expect(await answer).toMatchObject({ stopReason: "end_turn" });
    expect(runs).toEqual([
      { words: "first", continuation: false },
      { words: "second", continuation: true },
    ]);
  });

  test("G1: a session without steer() continues with the steer, also where others of its vendor have it", async () => {
    const begun = gate();
    const finish = gate();
    const runs: boolean[] = [];
    const connected = await opened(
      vendorOf(
        {
          prompt: async ({ continuation }) => {
            runs.push(continuation);
            begun.open();
            await finish.opened;
            return { stopReason: "end_turn" };
          },
        },
        { supports },
      ),
    );
    const answer = prompt(connected);
    await begun.opened;
    expect(await steer(connected, "later")).toMatchObject({ outcome: "injected" });
    finish.open();
    await answer;
    expect(runs).toEqual([false, true]);
  });

  test("road 1: a vendor that owns its loop takes what is pending at its step boundary", async () => {
    const begun = gate();
    const proceed = gate();
    const taken: string[] = [];
    const connected = await opened(
      vendorOf(
        {
          prompt: async (turn) => {
            begun.open();
            await proceed.opened;
            for (const { prompt: blocks } of turn.take()) taken.push(JSON.stringify(blocks));
            return { stopReason: "end_turn" };
          },
        },
        { inbox: true },
      ),
    );
    const answer = prompt(connected);
    await begun.opened;
    await steer(connected, "pick me up");
    proceed.open();
    await answer;
    expect(taken).toEqual([JSON.stringify([text("pick me up")])]);
  });
});

describe("ends", () => {
  test("session/close closes the session once; it is unknown from then on", async () => {
    const closed: string[] = [];
    const connected = await opened(vendorOf({ close: async () => void closed.push(SESSION_ID) }));
    await connected.agent.request(methods.agent.session.close, { sessionId: SESSION_ID });
    await expect(prompt(connected)).rejects.toMatchObject({ code: -32002 });
    connected.connection.close();
    expect(closed).toEqual([SESSION_ID]);
  });

  test("a second session with the id of an open one is refused and closed", async () => {
    const closed: string[] = [];
    const vendor = vendorOf({});
    let count = 0;
    vendor.open = async () => {
      count += 1;
      const name = `number ${count}`;
      return {
        id: SESSION_ID,
        prompt: async () => ({ stopReason: "end_turn" }),
        interrupt: () => {},
        close: async () => void closed.push(name),
      };
    };
    const connected = await opened(vendor);
    await expect(
      connected.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] }),
    ).rejects.toMatchObject({ code: -32603, message: expect.stringContaining("is open already") });
    expect(closed).toEqual(["number 2"]);
    expect(await prompt(connected)).toMatchObject({ stopReason: "end_turn" });
  });

  test("the end of a connection aborts its turns and closes its sessions", async () => {
    const begun = gate<Turn>();
    const closed = gate();
    const interrupted = gate();
    const connected = await opened(
      vendorOf({
        prompt: async (turn) => {
          begun.open(turn);
          await interrupted.opened;
          return { stopReason: "cancelled" };
        },
        interrupt: () => interrupted.open(),
        close: async () => closed.open(),
      }),
    );
    prompt(connected).catch(() => {});
    const turn = await begun.opened;
    connected.connection.close();
    await closed.opened;
    expect(turn.signal.aborted).toBe(true);
  });

  test("dispose closes every session, then the vendor, once", async () => {
    const order: string[] = [];
    const agent = steeringAgent(
      vendorOf({ close: async () => void order.push("session") }, { dispose: async () => void order.push("vendor") }),
    );
    const { agent: context } = connectClient(agent);
    await context.request(methods.agent.initialize, { protocolVersion: 1 });
    await context.request(methods.agent.session.new, { cwd: "/", mcpServers: [] });
    await Promise.all([agent.dispose(), agent.dispose()]);
    expect(order).toEqual(["session", "vendor"]);
  });
});
