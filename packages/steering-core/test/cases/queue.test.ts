import { describe, expect, it } from "vitest";
import { HandDriver } from "../support/driver.js";
import { quiet, Rig, textBlock } from "../support/rig.js";
import { bareTurn } from "./bare-turn.js";

describe("G4 one answer", () => {
  it.each(["before", "behind"])("case 24: a prompt just %s the end of the run is run, not refused", (where) => {
    const turn = bareTurn();
    if (where === "before") turn.prompt(3, "next");
    turn.connection.reply(2, { stopReason: "end_turn" });
    if (where === "behind") turn.prompt(3, "next");
    turn.bare.clock.advance(0);
    expect(turn.runs[1]).toEqual({ id: 3, texts: ["next"] });
    turn.connection.reply(3, { stopReason: "end_turn" });
    expect(turn.answers(3)).toMatchObject([{ result: { stopReason: "end_turn" } }]);
  });

  it("case 24: what the agent does on its own makes no prompt wait; a refusal says what an ACP client can do", async () => {
    const rig = await Rig.start({ whenBusy: "reject" });
    rig.say("on my own");
    rig.prompt(1, "go");
    await quiet();
    expect(rig.runTexts).toEqual([["go"]]);
    rig.prompt(2, "again");
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32600, data: { reason: "busy" } });
    expect(rig.client.error(2)?.message).toMatch(/steer it or send it again later/i);
  });

  const MOMENTS = [
    ["while the turn runs", { outcome: "injected", runs: [["go"], ["left"]] }],
    ["between two turns", { outcome: "promptRequired", runs: [["go"]] }],
    ["when it runs itself", { outcome: "promptRequired", runs: [["go"], ["left"]] }],
  ] as const;
  it.each(MOMENTS)(
    "case 110: a queued prompt made a steer %s: in one place, and the host knows which",
    (when, right) => {
      const turn = bareTurn();
      const { connection, bare } = turn;
      const [isOver, hasMoved] = [when !== "while the turn runs", when === "when it runs itself"];
      turn.prompt(3, "left");
      if (isOver) connection.reply(2, { stopReason: "end_turn" });
      if (hasMoved) bare.clock.advance(0);
      connection.wire.fromClient({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 3 } });
      for (const id of [4, 5]) turn.steer(id, "left", { clientMessageId: "row" });
      connection.reply(hasMoved ? 3 : 2, { stopReason: "end_turn" });
      bare.clock.advance(0);
      for (const id of [4, 5]) expect(turn.answers(id)).toMatchObject([{ result: { outcome: right.outcome } }]);
      expect(turn.runs.map(({ texts }) => texts)).toEqual(right.runs);
      const withdrawn = hasMoved ? { result: { stopReason: "cancelled" } } : { error: { code: -32800 } };
      expect(turn.answers(3)).toMatchObject([withdrawn]);
    },
  );

  it.each(["/steer left", "/queue left"])("case 140: %j just behind the answer runs at once", (text) => {
    const turn = bareTurn();
    turn.connection.reply(2, { stopReason: "end_turn" });
    turn.prompt(3, text);
    expect(turn.runs[1]).toEqual({ id: 3, texts: ["left"] });
    turn.connection.reply(3, { stopReason: "end_turn" });
    expect(turn.answers(3)).toMatchObject([{ result: { stopReason: "end_turn" } }]);
  });

  it("case 154: what waits when the agent dies is answered, and is not run when the session is loaded again", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "two");
    rig.prompt(3, "three");
    await quiet();
    rig.closers[0]?.();
    await rig.closed[0];
    for (const id of [1, 2, 3]) expect(rig.client.error(id)?.code).toBe(-32603);
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    await rig.pass(60_000);
    expect(second.agent.of("session/prompt")).toEqual([]);
    rig.prompt(4, "two", "s", second.client);
    await quiet();
    expect(second.agent.of("session/prompt")).toMatchObject([{ id: 4 }]);
  });
});

describe("G3 order", () => {
  it("case 95: the queue does not move while a steer is at the vendor, and not before the steer is in", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    rig.prompt(3, "next");
    await quiet();
    rig.endRun();
    await rig.pass(1_000);
    expect(rig.runTexts).toEqual([["go"]]);
    driver.verdict(0, "tooLate");
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"], ["next"]]);
    expect(rig.client.meta(1)["runs"]).toHaveLength(2);
  });

  it("case 99: the queue moves at the end of the turn, which the client is told, not at the end of a run", async () => {
    const rig = await Rig.running();
    rig.prompt(2, "next");
    rig.steer(3, "left");
    await rig.finish();
    const [first, second] = [rig.client.meta(3)["turnId"], rig.client.receipts.at(-1)?.["turnId"]];
    expect(rig.client.receipts.map(({ state, turnId }) => [state, turnId])).toEqual([
      ["turnStarted", first],
      ["delivered", first],
      ["turnEnded", first],
      ["turnStarted", second],
      ["turnEnded", second],
    ]);
    expect(second).not.toBe(first);
    expect(rig.runTexts).toEqual([["go"], ["left"], ["next"]]);
  });

  /** Steers while `2` waits: the driver is handed the steer, and `2` has its turn afterwards. */
  const steersBeside = async (steer: (rig: Rig) => void): Promise<void> => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.prompt(2, "queued");
    await quiet();
    steer(rig);
    await quiet();
    expect(driver.texts).toEqual(["this"]);
    expect(rig.client.answers(2)).toEqual([]);
    driver.verdict(0, "delivered");
    await rig.finish();
    expect(driver.texts).toEqual(["this"]);
    expect(rig.runTexts).toEqual([["go"], ["queued"]]);
    expect(rig.client.stops(2)).toEqual(["end_turn"]);
  };

  it("case 103: a steer beside a queued prompt is what the turn gets, not the prompt", () =>
    steersBeside((rig) => rig.steer(3, "this")));

  it("case 171: /steer beside a queued prompt joins the turn that runs, and the queue is as it was", () =>
    steersBeside((rig) => rig.prompt(3, "/steer this")));
});

describe("G7 isolation", () => {
  it("case 96: a connection that has nothing to do with the session joins its turn in no way", async () => {
    const rig = await Rig.running({ whenBusy: "steer" });
    const { client, agent } = await rig.open();
    rig.steer(1, "left", undefined, "s", client);
    rig.prompt(2, "/steer left", "s", client);
    rig.prompt(3, "a job of its own", "s", client);
    await quiet();
    expect([1, 2].map((id) => client.error(id)?.code)).toEqual([-32002, -32002]);
    rig.endRun();
    await rig.pass();
    expect(rig.client.result(1)).toEqual({ stopReason: "end_turn" });
    expect(rig.runTexts).toEqual([["go"]]);
    expect(agent.of("session/prompt")).toMatchObject([{ id: 3, params: { prompt: [textBlock("a job of its own")] } }]);
  });
});
