import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { blocksOf, quiet, Rig, textBlock } from "./support/rig.js";

/** What the layer itself said to the client, not the agent. */
const said = (rig: Rig): string[] =>
  rig.client.updates("agent_message_chunk").map(({ content }) => (content as { text: string }).text);

describe("slash commands: while a turn is open", () => {
  it.each(["queue", "steer", "reject"] as const)(
    "/steer is a steer, answered at once with one message (whenBusy %s)",
    async (whenBusy) => {
      const driver = new HandDriver();
      const rig = await Rig.running({ driver, whenBusy });
      const from = rig.client.received.length;
      rig.prompt(2, "/steer  go left ");
      await quiet();
      expect(driver.texts).toEqual(["go left"]);
      const [message, answer, ...more] = rig.client.received.slice(from);
      expect(message).toMatchObject({
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", messageId: expect.any(String) } },
      });
      expect(answer).toMatchObject({ id: 2, result: { stopReason: "end_turn" } });
      expect(more).toEqual([]);
      driver.verdict(0, "delivered");
      await rig.finish();
      expect(rig.client.receipts.map(({ state }) => state)).toEqual(["turnStarted", "delivered", "turnEnded"]);
      expect(rig.runs).toHaveLength(1);
    },
  );

  it("/steer reaches the continuation where there is no other road", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "/steer left");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  it("/steer is refused where too much is pending", async () => {
    const rig = await Rig.running({ maxPending: { steers: 0, bytes: 0 } });
    rig.prompt(2, "/steer left");
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ data: { reason: "tooManyPending" } });
    expect(said(rig)).toEqual([]);
  });

  it.each(["queue", "steer", "reject"] as const)(
    "/queue waits for its own turn and says how many do (whenBusy %s)",
    async (whenBusy) => {
      const rig = await Rig.running({ whenBusy });
      rig.prompt(2, "/queue two");
      rig.client.request(3, "session/prompt", {
        sessionId: "s",
        prompt: [textBlock("/queue"), textBlock("three")],
        _meta: { mine: 1 },
      });
      await quiet();
      expect(said(rig)).toEqual(["Queued for the next turn. (1 queued)", "Queued for the next turn. (2 queued)"]);
      expect([2, 3].flatMap((id) => rig.client.answers(id))).toEqual([]);
      await rig.finish();
      expect(rig.runTexts).toEqual([["go"], ["two"], ["three"]]);
      expect(rig.runs[2]?.params).toEqual({ sessionId: "s", prompt: [textBlock("three")], _meta: { mine: 1 } });
      expect([rig.client.stops(2), rig.client.stops(3)]).toEqual([["end_turn"], ["end_turn"]]);
    },
  );

  it.each(["/steer", "/queue", "/steer   ", "\n/queue\n"])("%j answers with its usage line", async (text) => {
    const rig = await Rig.running();
    rig.prompt(2, text);
    await quiet();
    expect(said(rig)).toEqual([`Usage: ${text.trim()} <text>`]);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it.each(["/steering left", "/queued", "/compact", "please /steer left", "/ steer left"])(
    "%j is the agent's",
    async (text) => {
      const rig = await Rig.running();
      rig.prompt(2, text);
      await rig.finish();
      expect(rig.runTexts).toEqual([["go"], [text]]);
      expect(said(rig)).toEqual([]);
    },
  );

  it("a prompt with anything but text is no command", async () => {
    const rig = await Rig.running();
    const link = { type: "resource_link", name: "a", uri: "file:///a" };
    rig.client.request(2, "session/prompt", { sessionId: "s", prompt: [textBlock("/steer left"), link] });
    await rig.finish();
    expect(rig.runs[1]?.params?.["prompt"]).toEqual([textBlock("/steer left"), link]);
  });

  it("switched off, they are the agent's", async () => {
    const rig = await Rig.running({ slashCommands: false });
    rig.prompt(2, "/steer left");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["/steer left"]]);
    expect(rig.client.updates("available_commands_update")).toEqual([]);
  });
});

describe("slash commands: while idle", () => {
  it.each(["/steer", "/queue"])("%s runs its text as an ordinary prompt at once", async (command) => {
    const rig = await Rig.start();
    rig.client.request(1, "session/prompt", {
      sessionId: "s",
      prompt: [textBlock(`${command} go`)],
      _meta: { mine: 1 },
    });
    await quiet();
    expect(rig.runs).toMatchObject([
      { id: 1, params: { sessionId: "s", prompt: [textBlock("go")], _meta: { mine: 1 } } },
    ]);
    rig.endRun();
    await quiet();
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn" });
    expect(said(rig)).toEqual([]);
  });

  it.each(["/steer", "/queue"])("%s alone answers with its usage line, and no turn begins", async (command) => {
    const rig = await Rig.start();
    rig.prompt(1, command);
    await quiet();
    expect(said(rig)).toEqual([`Usage: ${command} <text>`]);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
    expect([rig.runs, rig.client.receipts]).toEqual([[], []]);
  });
});

describe("slash commands: /steer after a cancelled turn", () => {
  const GUIDANCE = "User correction/guidance after interrupt: ";
  const image = { type: "image", data: "AA==", mimeType: "image/png" };

  it("replays the interrupted prompt with its own blocks, followed by the guidance", async () => {
    const rig = await Rig.start();
    rig.client.request(1, "session/prompt", { sessionId: "s", prompt: [textBlock("go"), image] });
    rig.steer(2, "a steer is no part of it");
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    rig.prompt(3, "/steer left");
    await quiet();
    expect(rig.runs[1]?.id).toBe(3);
    const [first, second, guidance, ...more] = blocksOf(rig.runs[1]?.params);
    expect([first, second, more]).toEqual([textBlock("go"), image, []]);
    expect(guidance?.text?.trim()).toBe(`${GUIDANCE}left`);
  });

  it("while the old run still yields, it waits for it", async () => {
    const rig = await Rig.running();
    rig.cancel();
    rig.prompt(3, "/steer left");
    await rig.pass(10_000);
    expect(rig.runs).toHaveLength(1);
    rig.endRun();
    await rig.pass();
    expect(rig.runTexts[1]).toEqual(["go", expect.stringContaining(`${GUIDANCE}left`)]);
  });

  it("interrupted again, the replayed prompt is what is replayed", async () => {
    const rig = await Rig.running();
    for (const [id, text] of [
      [2, "/steer left"],
      [3, "/steer right"],
    ] as const) {
      rig.cancel();
      await quiet();
      rig.endRun();
      await quiet();
      rig.prompt(id, text);
      await quiet();
    }
    expect(rig.runTexts[2]?.map((text) => text.trim())).toEqual(["go", `${GUIDANCE}left`, `${GUIDANCE}right`]);
  });

  it("the memory ends when any turn starts", async () => {
    const rig = await Rig.running();
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    rig.prompt(2, "something else");
    await rig.finish();
    rig.prompt(3, "/steer left");
    await quiet();
    expect(rig.runTexts[2]).toEqual(["left"]);
  });

  it("only a client's cancel makes it: not an agent that stopped, nor /queue", async () => {
    const rig = await Rig.running();
    rig.endRun({ result: { stopReason: "cancelled" } });
    await quiet();
    rig.prompt(2, "/steer left");
    await quiet();
    expect(rig.runTexts[1]).toEqual(["left"]);
    rig.cancel();
    await quiet();
    rig.endRun();
    await quiet();
    rig.prompt(3, "/queue right");
    await quiet();
    expect(rig.runTexts[2]).toEqual(["right"]);
  });

  it("holds no more than 1 MiB", async () => {
    for (const [size, replayed] of [
      [1_048_576 - 4, true],
      [1_048_576 - 3, false],
    ] as const) {
      const rig = await Rig.start();
      rig.prompt(1, "x".repeat(size));
      await quiet();
      rig.cancel();
      await quiet();
      rig.endRun();
      await quiet();
      rig.prompt(2, "/steer left");
      await quiet();
      expect(rig.runTexts[1]?.length).toBe(replayed ? 2 : 1);
    }
  });
});
