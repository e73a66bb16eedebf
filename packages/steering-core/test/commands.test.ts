import { describe, expect, it } from "vitest";
import { quiet, Rig } from "./support/rig.js";

const announced = (rig: Rig, client = rig.client): string[][] =>
  client
    .updates("available_commands_update")
    .map(({ availableCommands }) =>
      (availableCommands as ({ name: string } | null)[]).map((command) => command?.name ?? ""),
    );

describe("slash commands: what is announced", () => {
  it("the agent's commands are merged by name, ours first; nothing else of the update changes", async () => {
    const rig = await Rig.start();
    const compact = { name: "compact", description: "c" };
    rig.update("available_commands_update", {
      availableCommands: [compact, { name: "steer", description: "theirs" }],
      _meta: { a: 1 },
    });
    await quiet();
    expect(announced(rig)).toEqual([["steer", "queue", "compact"]]);
    const ours = { description: expect.any(String), input: { hint: expect.any(String) } };
    const availableCommands = [{ name: "steer", ...ours }, { name: "queue", ...ours }, compact];
    expect(rig.client.updates("available_commands_update")).toEqual([
      { sessionUpdate: "available_commands_update", availableCommands, _meta: { a: 1 } },
    ]);
  });

  it.each([[undefined], [null], ["rubbish"], [[null, 5, {}]]])(
    "rubbish for a list does no harm: %j",
    async (availableCommands) => {
      const rig = await Rig.start();
      rig.update("available_commands_update", { availableCommands });
      await quiet();
      expect(announced(rig)[0]?.slice(0, 2)).toEqual(["steer", "queue"]);
      rig.prompt(1, "go");
      await quiet();
      expect(rig.runs).toHaveLength(1);
    },
  );

  it("where the agent sends none they are sent by the layer, after the response", async () => {
    const rig = await Rig.start();
    expect(announced(rig)).toEqual([]);
    await rig.pass();
    expect(announced(rig)).toEqual([["steer", "queue"]]);
    await rig.pass(10_000);
    expect(announced(rig)).toHaveLength(1);
  });

  it("where the agent sends its own at once, that is enough", async () => {
    const rig = await Rig.start();
    rig.update("available_commands_update", { availableCommands: [{ name: "compact" }] });
    await rig.pass();
    expect(announced(rig)).toEqual([["steer", "queue", "compact"]]);
  });

  it.each(["session/load", "session/resume"])("after %s on another connection too", async (method) => {
    const rig = await Rig.start();
    await rig.pass();
    const second = await rig.open();
    await rig.session("s", second, method);
    await rig.pass();
    expect(announced(rig, second.client)).toEqual([["steer", "queue"]]);
  });

  it("after session/fork, for the new session", async () => {
    const rig = await Rig.start();
    await rig.pass();
    rig.client.request(2, "session/fork", { sessionId: "s" });
    await quiet();
    rig.agent.send({ id: 2, result: { sessionId: "forked" } });
    await rig.pass();
    expect(rig.client.of("session/update").map(({ params }) => params?.["sessionId"])).toEqual(["s", "forked"]);
  });

  it("not after a session request that failed", async () => {
    const rig = await Rig.start();
    await rig.pass();
    rig.client.request(2, "session/load", { sessionId: "other" });
    await quiet();
    rig.agent.send({ id: 2, error: { code: -32002, message: "no" } });
    await rig.pass();
    expect(announced(rig)).toHaveLength(1);
  });

  it("an update for a session the layer does not know is merged too", async () => {
    const rig = await Rig.start();
    rig.update("available_commands_update", { availableCommands: [] }, "elsewhere");
    await quiet();
    expect(announced(rig)).toEqual([["steer", "queue"]]);
  });

  it("switched off, the agent's own pass as they are, and none are sent", async () => {
    const rig = await Rig.start({ slashCommands: false });
    await rig.pass();
    rig.update("available_commands_update", { availableCommands: [{ name: "steer" }] });
    await quiet();
    expect(announced(rig)).toEqual([["steer"]]);
  });
});
