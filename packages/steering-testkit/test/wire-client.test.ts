import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { WireClient, type WireClientOptions } from "../src/wire-client.js";

const lineAgent = fileURLToPath(new URL("fixtures/line-agent.mjs", import.meta.url));
const opened: WireClient[] = [];

async function open(options: Partial<WireClientOptions> = {}): Promise<WireClient> {
  const client = await WireClient.spawn({ command: process.execPath, args: [lineAgent], ...options });
  opened.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(opened.splice(0).map((client) => client.close()));
});

describe("requests", () => {
  test("an answer resolves its own request, also out of order", async () => {
    const client = await open();
    const [first, second] = await Promise.all([client.request("echo", { a: 1 }), client.request("echo", { b: 2 })]);
    expect([first, second]).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test("an error answer rejects with its code, message and data", async () => {
    await expect((await open()).request("refuse")).rejects.toMatchObject({
      code: -32602,
      message: "refused",
      data: { path: "prompt" },
    });
  });

  test("G4 one answer: a second answer to a request stays visible", async () => {
    const client = await open();
    const { id, answer } = client.send("twice");
    expect(await answer).toBe(1);
    await client.request("echo");
    expect(client.answersTo(id).map((record) => record.message?.result)).toEqual([1, 2]);
  });

  test("an agent that dies rejects what is open and what comes later, with its exit code and last words", async () => {
    const client = await open();
    const open1 = client.request("never");
    const waiting = client.waitFor(() => false);
    client.notify("die");
    for (const promise of [open1, waiting]) {
      await expect(promise).rejects.toMatchObject({
        code: "agentExited",
        message: expect.stringMatching(/exit code 7[\s\S]*the disk is full/),
      });
    }
    expect(await client.exited).toEqual({ code: 7, signal: null });
    await expect(client.request("echo")).rejects.toMatchObject({ code: "agentExited" });
  });

  test("an executable that is not there cannot be started", async () => {
    await expect(open({ command: "/no/such/agent" })).rejects.toThrow("/no/such/agent");
  });
});

describe("the log", () => {
  test("holds both directions in order, as they stood on the wire", async () => {
    const client = await open();
    await client.request("rubbish");
    expect(client.log.map(({ order, direction }) => [order, direction])).toEqual([
      [0, "out"],
      [1, "in"],
      [2, "in"],
    ]);
    expect(client.log[1]).toMatchObject({ raw: "this is not JSON" });
    expect(client.log[1]).not.toHaveProperty("message");
    expect(client.log[2]?.message?.result).toBe("after\u2028rubbish");
  });

  test("a line that arrives byte by byte is one line", async () => {
    expect(await (await open()).request("pieces")).toBe("zażółć");
  });

  test("sendRaw sends what is no JSON at all", async () => {
    const client = await open();
    client.sendRaw("{oops");
    const record = await client.waitFor(({ message }) => message?.error?.code === -32700);
    expect(record.message?.error?.message).toBe("not JSON: {oops");
    expect(client.log[0]).toMatchObject({ direction: "out", raw: "{oops" });
  });

  test("updates are told apart by session", async () => {
    const client = await open();
    const seen: string[] = [];
    client.onUpdate(({ sessionId }) => seen.push(sessionId));
    await client.prompt("mine", "hello").answer;
    expect(client.updates("mine")).toHaveLength(1);
    expect(client.agentText("mine")).toBe("hello");
    expect(seen).toEqual(["mine", "another"]);
  });

  test("waitForUpdate finds what has come and what is still to come", async () => {
    const client = await open();
    const coming = client.waitForUpdate("agent_message_chunk");
    await client.prompt("mine", "hello").answer;
    expect(await coming).toEqual(await client.waitForUpdate("agent_message_chunk"));
  });
});

describe("requests of the agent", () => {
  const ask = async (client: WireClient, method: string, params: unknown): Promise<unknown> => {
    client.notify("ask", { method, params });
    const told = await client.waitFor(({ message }) => message?.method === "told");
    return told.message?.params;
  };
  const options = [
    { optionId: "no", kind: "reject_once" },
    { optionId: "yes", kind: "allow_once" },
  ];

  test("a permission is given by default, with the first option that allows", async () => {
    expect(await ask(await open(), "session/request_permission", { options })).toMatchObject({
      id: "ask-1",
      result: { outcome: { outcome: "selected", optionId: "yes" } },
    });
  });

  test("the permission policy can be set", async () => {
    const client = await open();
    client.permission = () => ({ outcome: { outcome: "cancelled" } });
    expect(await ask(client, "session/request_permission", { options })).toMatchObject({
      result: { outcome: { outcome: "cancelled" } },
    });
  });

  test("a method without a handler is refused with -32601", async () => {
    expect(await ask(await open(), "fs/read_text_file", {})).toMatchObject({ error: { code: -32601 } });
  });

  test("a handler answers, and the code of what it throws is passed on", async () => {
    const client = await open();
    client.handle("fs/read_text_file", () => {
      throw Object.assign(new Error("gone"), { code: -32002 });
    });
    expect(await ask(client, "fs/read_text_file", {})).toMatchObject({ error: { code: -32002, message: "gone" } });
  });
});

describe("the end", () => {
  test("close ends the input, and the agent ends by itself", async () => {
    expect(await (await open()).close()).toEqual({ code: 0, signal: null });
  });

  test("an agent that stays is ended by force", async () => {
    const client = await open({ graceMs: 200 });
    client.notify("stay");
    await client.waitFor(({ message }) => message?.method === "staying");
    expect(await client.close()).toEqual({ code: null, signal: "SIGKILL" });
  });
});
