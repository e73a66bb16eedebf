import { describe, expect, it } from "vitest";
import { HandDriver } from "./support/driver.js";
import { quiet, Rig } from "./support/rig.js";

const REVOKE = "_session/steering/revoke";
const idOf = (rig: Rig, id: number): string => rig.client.meta(id)["messageId"] as string;

describe("revoke: before hand-over", () => {
  it("takes a pending steer back: it is not continued, and the receipt says so", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.revoke(4, idOf(rig, 2));
    await quiet();
    expect(rig.client.result(4)).toEqual({});
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "revoked", messageId: idOf(rig, 2) });
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["right"]]);
    expect(rig.client.meta(1)["undelivered"]).toEqual([{ messageId: idOf(rig, 2), reason: "revoked" }]);
  });

  it("repeated, it answers the same and tells nothing twice", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    for (const id of [4, 5]) rig.revoke(id, idOf(rig, 2));
    await quiet();
    expect([rig.client.result(4), rig.client.result(5)]).toEqual([{}, {}]);
    expect(rig.client.receipts.filter(({ state }) => state === "undelivered")).toHaveLength(1);
  });

  it("between two runs: with nothing left the turn ends without another run", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun();
    await quiet();
    rig.revoke(3, idOf(rig, 2));
    await rig.pass();
    expect(rig.client.result(3)).toEqual({});
    expect(rig.runs).toHaveLength(1);
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("what was behind the revoked one goes on", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    for (const [id, text] of [
      [2, "one"],
      [3, "two"],
      [4, "three"],
    ] as const)
      rig.steer(id, text);
    await quiet();
    driver.verdict(0, "tooLate");
    await quiet();
    expect(driver.texts).toEqual(["one"]);
    rig.revoke(5, idOf(rig, 2));
    await quiet();
    expect(driver.texts).toEqual(["one", "two"]);
  });

  it("room is made for others", async () => {
    const rig = await Rig.running({ maxPending: { steers: 1, bytes: 1_000 } });
    rig.steer(2, "left");
    await quiet();
    rig.revoke(3, idOf(rig, 2));
    rig.steer(4, "right");
    await quiet();
    expect(rig.client.result(4)).toMatchObject({ outcome: "injected" });
  });
});

describe("revoke: while the driver has it", () => {
  const start = async (): Promise<{ rig: Rig; driver: HandDriver }> => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "left");
    await quiet();
    return { rig, driver };
  };

  it("aborts the pending inject and waits for its verdict", async () => {
    const { rig, driver } = await start();
    expect(driver.call(0).signal.aborted).toBe(false);
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    expect(driver.call(0).signal.aborted).toBe(true);
    expect(rig.client.answers(3)).toEqual([]);
  });

  it.each(["tooLate", "unsupported"])("%s: it is taken back, every revoke is answered", async (verdict) => {
    const { rig, driver } = await start();
    rig.revoke(3, idOf(rig, 2));
    rig.revoke(4, idOf(rig, 2));
    await quiet();
    driver.verdict(0, verdict);
    await quiet();
    expect([rig.client.result(3), rig.client.result(4)]).toEqual([{}, {}]);
    expect(rig.client.receipts[1]).toMatchObject({ state: "undelivered", reason: "revoked" });
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it.each(["delivered", "accepted"])("%s: too late to revoke", async (verdict) => {
    const { rig, driver } = await start();
    rig.revoke(3, idOf(rig, 2));
    rig.revoke(4, idOf(rig, 2));
    await quiet();
    driver.verdict(0, verdict);
    await quiet();
    for (const id of [3, 4])
      expect(rig.client.error(id)).toMatchObject({ code: -32600, data: { reason: "alreadyDelivered" } });
  });

  it("a driver that fails has not delivered it: it is taken back, not continued", async () => {
    const { rig, driver } = await start();
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    driver.fail(0, new Error("aborted"));
    await quiet();
    expect(rig.client.result(3)).toEqual({});
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it("handed back before the verdict accepted: it is taken back", async () => {
    const { rig, driver } = await start();
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    driver.call(0).undelivered();
    driver.verdict(0, "accepted");
    await quiet();
    expect(rig.client.result(3)).toEqual({});
    await rig.finish();
    expect(rig.runs).toHaveLength(1);
  });

  it("the next steer goes to the driver after the verdict on the revoked one", async () => {
    const { rig, driver } = await start();
    rig.steer(5, "right");
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    expect(driver.texts).toEqual(["left"]);
    driver.verdict(0, "unsupported");
    await quiet();
    expect(driver.texts).toEqual(["left", "right"]);
  });

  it("no verdict by the end of the grace counts as accepted: the revoke is answered all the same", async () => {
    const { rig } = await start();
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    rig.endRun();
    await quiet();
    expect(rig.client.answers(3)).toEqual([]);
    await rig.pass(10_000);
    expect(rig.client.error(3)).toMatchObject({ data: { reason: "alreadyDelivered" } });
    expect(rig.client.stops(1)).toEqual(["end_turn"]);
  });

  it("a cancel meanwhile: each request has its answer", async () => {
    const { rig, driver } = await start();
    rig.revoke(3, idOf(rig, 2));
    rig.cancel();
    await quiet();
    driver.verdict(0, "tooLate");
    rig.endRun();
    await quiet();
    expect(rig.client.result(3)).toEqual({});
    expect(rig.client.stops(1)).toEqual(["cancelled"]);
    expect(rig.client.meta(1)["undelivered"]).toMatchObject([{ reason: "revoked" }]);
  });
});

describe("revoke: after hand-over", () => {
  it("accepted, taken, continued and delivered are too late", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    rig.steer(2, "accepted");
    await quiet();
    driver.verdict(0, "accepted");
    await quiet();
    rig.revoke(10, idOf(rig, 2));
    await quiet();
    driver.call(0).delivered();
    rig.revoke(11, idOf(rig, 2));
    await quiet();
    const inbox = await Rig.running({ inbox: true });
    inbox.steer(2, "taken");
    await quiet();
    inbox.steerable.take("s");
    inbox.revoke(10, idOf(inbox, 2));
    inbox.steer(3, "continued");
    await quiet();
    inbox.endRun();
    await inbox.pass();
    inbox.revoke(11, idOf(inbox, 3));
    await quiet();
    for (const { client } of [rig, inbox])
      for (const id of [10, 11])
        expect(client.error(id)).toMatchObject({ code: -32600, data: { reason: "alreadyDelivered" } });
  });

  it("steers of the turn that ended last are remembered, those of earlier ones are not", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    rig.steer(3, "right");
    await quiet();
    rig.revoke(4, idOf(rig, 3));
    await rig.finish();
    rig.revoke(5, idOf(rig, 2));
    rig.revoke(6, idOf(rig, 3));
    await quiet();
    expect(rig.client.error(5)).toMatchObject({ data: { reason: "alreadyDelivered" } });
    expect(rig.client.result(6)).toEqual({});
    rig.prompt(7, "again");
    await quiet();
    rig.revoke(8, idOf(rig, 2));
    await quiet();
    expect(rig.client.error(8)).toMatchObject({ code: -32600, data: { reason: "unknownMessage" } });
  });

  it("of a steer that was handed back: nothing is left to do", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.cancel();
    await quiet();
    rig.revoke(3, idOf(rig, 2));
    await quiet();
    rig.endRun();
    await quiet();
    rig.revoke(4, idOf(rig, 2));
    await quiet();
    expect([rig.client.result(3), rig.client.result(4)]).toEqual([{}, {}]);
    expect(rig.client.receipts.filter(({ state }) => state === "undelivered")).toMatchObject([{ reason: "cancelled" }]);
  });

  it("of the last turn sixteen steers are remembered", async () => {
    const rig = await Rig.running();
    for (let id = 100; id < 117; id += 1) rig.steer(id, "x");
    await quiet();
    await rig.finish();
    rig.revoke(3, idOf(rig, 100));
    rig.revoke(4, idOf(rig, 101));
    await quiet();
    expect(rig.client.error(3)).toMatchObject({ data: { reason: "unknownMessage" } });
    expect(rig.client.error(4)).toMatchObject({ data: { reason: "alreadyDelivered" } });
  });
});

describe("revoke: who and what", () => {
  it("an unknown message, and that of another connection, are unknownMessage", async () => {
    const rig = await Rig.running();
    const second = await rig.open();
    await rig.session("s", second, "session/load");
    rig.steer(2, "left");
    await quiet();
    rig.revoke(3, "nothing");
    rig.revoke(3, idOf(rig, 2), "s", second.client);
    await quiet();
    expect(rig.client.error(3)).toMatchObject({ code: -32600, data: { reason: "unknownMessage" } });
    expect(second.client.error(3)).toMatchObject({ code: -32600, data: { reason: "unknownMessage" } });
    await rig.finish();
    expect(rig.runTexts).toEqual([["go"], ["left"]]);
  });

  const MALFORMED: [string, unknown, string][] = [
    ["params that are no object", "x", ""],
    ["no sessionId", { messageId: "m" }, "sessionId"],
    ["no messageId", { sessionId: "s" }, "messageId"],
    ["an empty messageId", { sessionId: "s", messageId: "" }, "messageId"],
  ];
  it.each(MALFORMED)("%s", async (_, params, path) => {
    const rig = await Rig.running();
    rig.client.request(2, REVOKE, params);
    await quiet();
    expect(rig.client.error(2)).toMatchObject({ code: -32602, data: { path } });
    expect(rig.client.error(2)?.message).toContain(path || "params");
  });

  it("while idle, with nothing ever steered", async () => {
    const rig = await Rig.start();
    rig.revoke(1, "m");
    await quiet();
    expect(rig.client.error(1)).toMatchObject({ data: { reason: "unknownMessage" } });
  });
});
