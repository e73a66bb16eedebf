import { describe, expect, it } from "vitest";
import type { SteeringOptions } from "../../src/index.js";
import { driverSaying } from "../support/driver.js";
import { type Peer, quiet, Rig } from "../support/rig.js";

const STEER = "_session/steering";
const BLOCKS: Readonly<Record<string, object>> = {
  text: { type: "text", text: "a" },
  image: { type: "image", data: "AA==", mimeType: "image/png" },
  audio: { type: "audio", data: "AA==", mimeType: "audio/wav" },
  resource_link: { type: "resource_link", name: "a", uri: "file:///a" },
  resource: { type: "resource", resource: { uri: "file:///a", text: "a" } },
};

const KINDS: [string, SteeringOptions][] = [
  ["nothing of its own", {}],
  ["an inbox", { inbox: true }],
  ["a driver", { driver: driverSaying("delivered") }],
  ["an interrupt", { emulate: "interrupt" }],
];

describe("advertisement", () => {
  it.each(KINDS)("case 74: an agent with %s advertises, and no steer is an unknown method", async (_, options) => {
    const rig = await Rig.running(options);
    expect(rig.client.meta("init")).toMatchObject({ supported: true });
    rig.steer(2, "left");
    rig.steer(3, "left", undefined, "nowhere");
    rig.revoke(4, "nothing");
    rig.client.request(5, STEER, null);
    await quiet();
    for (const id of [2, 3, 4, 5]) {
      const [answer, ...more] = rig.client.answers(id);
      expect(answer).toBeDefined();
      expect(answer?.error?.code).not.toBe(-32601);
      expect(more).toEqual([]);
    }
    expect(rig.agent.of(STEER)).toEqual([]);
  });

  it("case 74: where the agent's own steering is passed through, its refusal is too, and is not tried again", async () => {
    const own = { protocolVersion: 1, _meta: { steering: { supported: true } } };
    const rig = await Rig.start({}, undefined, own);
    rig.steer(1, "left");
    await quiet();
    rig.agent.send({ id: 1, error: { code: -32601, message: "no such method" } });
    await rig.pass(60_000);
    expect(rig.client.error(1)).toEqual({ code: -32601, message: "no such method" });
    expect(rig.agent.of(STEER)).toHaveLength(1);
  });

  it("case 83: each connection advertises what is taken there, and takes no more", async () => {
    const rig = new Rig();
    const takes = async (capabilities: object, sessionId: string): Promise<unknown[]> => {
      const result = { protocolVersion: 1, agentCapabilities: { promptCapabilities: capabilities } };
      const ends: { client: Peer; agent: Peer } = await rig.open({}, result);
      await rig.session(sessionId, ends);
      rig.prompt("go", "go", sessionId, ends.client);
      const types = Object.keys(BLOCKS);
      for (const type of types) ends.client.request(type, STEER, { sessionId, prompt: [BLOCKS[type]] });
      await quiet();
      const taken = types.filter((type) => ends.client.answers(type)[0]?.result?.["outcome"] === "injected");
      expect(taken.sort()).toEqual([...(ends.client.meta("init")["content"] as string[])].sort());
      return taken;
    };
    expect(await takes({ image: true, audio: true, embeddedContext: true }, "s1")).toHaveLength(5);
    expect(await takes({}, "s2")).toEqual(["resource_link", "text"]);
  });

  it.each(KINDS)("case 85: an agent with %s advertises steering, and a steer is in the turn", async (_, options) => {
    const rig = await Rig.running(options);
    expect(rig.client.meta("init")).toMatchObject({ supported: true, receipts: true });
    rig.steer(2, "left");
    await quiet();
    if (options.inbox) rig.steerable.take("s");
    rig.say("on it");
    rig.endRun();
    await rig.pass();
    rig.say("on it");
    await rig.finish();
    expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "delivered", "turnEnded"]);
    expect(rig.client.meta(1)["undelivered"]).toEqual([]);
  });

  it.each(["session/new", "session/load", "session/resume", "session/fork"])(
    "case 88: seven steers to a session of %s are all in its turn, none after it",
    async (method) => {
      const driver = driverSaying("delivered");
      const rig = new Rig({ driver });
      await rig.open();
      const isNamedByAgent = method === "session/new" || method === "session/fork";
      const sessionId = isNamedByAgent ? "fresh" : "old";
      rig.client.request("open", method, { cwd: "/", mcpServers: [], sessionId: "old" });
      await quiet();
      rig.agent.send({ id: "open", result: isNamedByAgent ? { sessionId } : {} });
      await quiet();
      rig.prompt(1, "go", sessionId);
      for (let id = 2; id < 9; id += 1) rig.steer(id, `${id}`, undefined, sessionId);
      await quiet();
      await rig.finish();
      expect(driver.texts).toEqual(["2", "3", "4", "5", "6", "7", "8"]);
      expect(rig.runTexts).toEqual([["go"]]);
      expect(rig.client.meta(1)["undelivered"]).toEqual([]);
    },
  );
});
