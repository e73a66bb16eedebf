import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contractExamples, SCHEMA_FOLDER, schemaFiles } from "../../../scripts/generate-schemas.mjs";
import type { SteeringOptions } from "../src/index.js";
import { driverSaying, HandDriver } from "./support/driver.js";
import { quiet, Rig } from "./support/rig.js";
import { changed, faults, isValid, type Json, NAMES, pathsOf, shipped } from "./support/schemas.js";

describe("the schemas of the package", () => {
  it("are what the types and the contract give: `npm run schemas` writes them", () => {
    expect(shipped).toEqual(new Map([...schemaFiles()].sort(([one], [other]) => (one < other ? -1 : 1))));
  });

  it.each(NAMES)("%s says what it is, and is found under its name", (name) => {
    const { $id, title, description } = shipped.get(`${name}.json`) as Json;
    expect($id).toBe(`urn:acp-steering:schema:1:${name}`);
    expect(title).toMatch(/^[A-Z]\w+$/);
    expect(description).toMatch(/\.$/);
    const { resolve } = createRequire(import.meta.url);
    expect(resolve(`@acp-steering/core/schema/${name}.json`)).toBe(join(SCHEMA_FOLDER, `${name}.json`));
  });
});

// --- The examples of the contract -------------------------------------------------------------------------------------

const examples = contractExamples();

/** A copy in which every object has a member more. */
function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, withStrangers(member)]);
  return { ...Object.fromEntries(members), later: { any: [1] } };
}

/** The members that may be missing from the examples; an element of a list is `[]`. */
const OPTIONAL: Record<string, readonly string[]> = {
  "client-steering": ["echo", "receipts"],
  "continuation-meta": ["messageIds.[]"],
  receipt: ["clientMessageId", "error", "stopReason"],
  "revoke-request": [],
  "revoke-result": [],
  "steering-advertisement": ["content.[]"],
  "steering-error": ["data", "data.accepted.[]", "data.reason"],
  "steering-request": [
    "_meta",
    "_meta.steering",
    "_meta.steering.clientMessageId",
    "_meta.steering.expectedTurnId",
    "_meta.steering.idleBehavior",
    "prompt.[]",
  ],
  "steering-result": ["_meta.steering.clientMessageId"],
  "turn-report": ["runs.[]", "undelivered.[]", "undelivered.[].clientMessageId"],
};

describe("the examples of the contract", () => {
  it("are of the schemas that there are, and leave none out", () => {
    expect([...examples.keys()].sort()).toEqual(NAMES);
  });

  it.each(NAMES)("%s: all are valid, and stay so with members that nobody knows", (name) => {
    const values = examples.get(name) ?? [];
    expect(faults(name, values)).toEqual([]);
    expect(faults(name, values.map(withStrangers))).toEqual([]);
  });

  it.each(NAMES)("%s: nothing else can be left out", (name) => {
    const optional = new Set<string>();
    for (const value of examples.get(name) ?? [])
      for (const path of pathsOf(value))
        if (isValid(name, changed(value, path)))
          optional.add(path.map((part) => (/^\d+$/.test(part) ? "[]" : part)).join("."));
    expect([...optional].sort()).toEqual(OPTIONAL[name]);
  });

  it.each(NAMES)("%s: nothing can be of another type", (name) => {
    for (const value of examples.get(name) ?? [])
      for (const path of pathsOf(value))
        expect([path, isValid(name, changed(value, path, [0]))]).toEqual([path, false]);
  });
});

// --- Messages of the layer --------------------------------------------------------------------------------------------

const STEERING = "_session/steering";
const steerWith = (rig: Rig, id: number, params: unknown): void => rig.client.request(id, STEERING, params);

describe("messages of the layer are valid: results", () => {
  it("every outcome", async () => {
    const rig = await Rig.start();
    rig.steer(1, "idle");
    rig.steer(2, "begin", { idleBehavior: "startNewTurn", clientMessageId: "mine" });
    await quiet();
    rig.steer(3, "join", { clientMessageId: "mine-too" });
    rig.steer(4, "not this one", { expectedTurnId: "another" });
    rig.cancel();
    await quiet();
    rig.steer(5, "late");
    await quiet();
    const results = [1, 2, 3, 4, 5].map((id) => rig.client.result(id));
    expect(results.map(({ outcome }) => outcome)).toEqual([
      "promptRequired",
      "startedNewTurn",
      "injected",
      "promptRequired",
      "promptRequired",
    ]);
    expect([1, 4, 5].map((id) => rig.client.meta(id)["detail"])).toEqual(["idle", "turnMismatch", "cancelling"]);
    expect(faults("steering-result", results)).toEqual([]);
  });

  it("a revoke", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.revoke(3, rig.client.meta(2)["messageId"]);
    await quiet();
    expect(faults("revoke-result", [rig.client.result(3)])).toEqual([]);
  });
});

type Scenario = [what: string, code: number, options: SteeringOptions, ask: (rig: Rig) => unknown];

/** Each begins while a turn runs; the request with the id 9 gets the error. */
const ERRORS: Scenario[] = [
  ["params without a prompt", -32602, {}, (rig) => steerWith(rig, 9, { sessionId: "s" })],
  ["a session that is not known", -32002, {}, (rig) => rig.steer(9, "left", {}, "nowhere")],
  [
    "a session that is being closed",
    -32002,
    {},
    (rig) => {
      rig.client.request(2, "session/close", { sessionId: "s" });
      rig.steer(9, "left");
    },
  ],
  [
    "content that nobody takes",
    -32602,
    {},
    (rig) => steerWith(rig, 9, { sessionId: "s", prompt: [{ type: "audio", data: "AA==", mimeType: "audio/wav" }] }),
  ],
  ["too much", -32600, { maxPending: { steers: 0, bytes: 0 } }, (rig) => rig.steer(9, "left")],
  [
    "no turn, and the policy `reject`",
    -32600,
    { idleBehavior: "reject" },
    async (rig) => {
      rig.endRun();
      await quiet();
      rig.steer(9, "left");
    },
  ],
  ["a prompt while busy", -32600, { whenBusy: "reject" }, (rig) => rig.prompt(9, "next")],
  ["an id that is in use", -32600, {}, (rig) => [rig.prompt(9, "next"), rig.prompt(9, "next")]],
  [
    "a revoke after the hand-over",
    -32600,
    { driver: driverSaying("delivered") },
    async (rig) => {
      rig.steer(2, "left");
      await quiet();
      rig.revoke(9, rig.client.meta(2)["messageId"]);
    },
  ],
  ["a revoke of nothing", -32600, {}, (rig) => rig.revoke(9, "none")],
  [
    "a queued prompt that is taken back",
    -32800,
    {},
    (rig) => {
      rig.prompt(9, "next");
      rig.client.notify("$/cancel_request", { requestId: 9 });
    },
  ],
  [
    "an agent that is stuck",
    -32603,
    {},
    async (rig) => {
      rig.cancel();
      await rig.pass(10_000);
      rig.prompt(9, "next");
      await rig.pass(10_000);
    },
  ],
  [
    "an agent that goes, in a turn that was steered",
    -32603,
    {},
    async (rig) => {
      rig.endRun();
      await quiet();
      rig.prompt(9, "again");
      await quiet();
      rig.steer(2, "left");
      await quiet();
      rig.closers[0]?.();
    },
  ],
];

describe("messages of the layer are valid: errors", () => {
  it.each(ERRORS)("%s", async (_, code, options, ask) => {
    const rig = await Rig.running(options);
    await ask(rig);
    await quiet();
    const error = rig.client.answers(9)[0]?.error;
    expect(error?.code).toBe(code);
    expect(faults("steering-error", [error])).toEqual([]);
  });

  it("an error of the agent is its own, and the report in it is ours", async () => {
    const rig = await Rig.running();
    rig.steer(2, "left");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await quiet();
    expect(faults("turn-report", [rig.client.error(1)?.data?.["steering"]])).toEqual([]);
  });
});

describe("messages of the layer are valid: what is told of turns and steers", () => {
  it("receipts of every kind, and what the owner and the agent are told", async () => {
    const driver = new HandDriver();
    const rig = await Rig.running({ driver });
    for (const text of ["one", "two", "three"]) rig.steer(text, text, { clientMessageId: text });
    for (const [index, verdict] of ["delivered", "tooLate"].entries()) {
      await quiet();
      driver.verdict(index, verdict);
    }
    await quiet();
    rig.endRun();
    await rig.pass();
    const continuation = rig.runs[1]?.params?.["_meta"] as { steering: unknown };
    rig.steer("four", "four");
    await quiet();
    rig.endRun({ result: { stopReason: "refusal" } });
    await quiet();
    driver.verdict(2, "tooLate");
    await quiet();
    rig.prompt("failing", "go");
    await quiet();
    rig.endRun({ error: { code: -32603, message: "broken" } });
    await quiet();
    const { receipts } = rig.client;
    const said = receipts.map(({ state, assumed, reason, stopReason, error }) => [
      state,
      (assumed && "assumed") ?? reason ?? stopReason ?? (error && "error"),
    ]);
    expect(said).toEqual([
      ["turnStarted", undefined],
      ["delivered", undefined],
      ["delivered", "assumed"],
      ["delivered", "assumed"],
      ["undelivered", "refused"],
      ["turnEnded", "refusal"],
      ["turnStarted", undefined],
      ["turnEnded", "error"],
    ]);
    expect(faults("receipt", receipts)).toEqual([]);
    expect(faults("turn-report", [rig.client.meta(1)])).toEqual([]);
    expect(faults("continuation-meta", [continuation.steering])).toEqual([]);
  });

  it("the advertisement, with and without a driver", async () => {
    for (const options of [
      {},
      { inbox: true },
      { driver: new HandDriver(["text", "image"]), idleBehavior: "reject" as const },
    ]) {
      const rig = await Rig.start(options);
      expect(faults("steering-advertisement", [rig.client.meta("init")])).toEqual([]);
    }
  });
});
