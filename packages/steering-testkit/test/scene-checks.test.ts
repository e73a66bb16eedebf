import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest } from "../src/model-server/index.js";
import { checksOf } from "../src/scene/checks.js";
import type { AnswerFacts, Check, CheckId, SceneFacts } from "../src/scene/scene-event.js";
import { sightingOf } from "../src/scene/sighting.js";

const answered = (result: Record<string, unknown>, before: number, after: number): AnswerFacts => ({
  result,
  answers: 1,
  modelRequestsBefore: before,
  modelRequestsAfter: after,
});

const TRUE_TO_CONTRACT: SceneFacts = {
  advertisement: { supported: true, version: 1, receipts: true },
  owner: answered({ stopReason: "end_turn", _meta: { steering: { turnId: "t1" } } }, 0, 6),
  steer: answered({ outcome: "injected", _meta: { steering: { turnId: "t1", messageId: "m1" } } }, 3, 3),
  steerSeen: { request: 4, userMessages: 1, newest: true },
  steerReceipts: [{ state: "delivered" }],
  idleSteer: answered({ outcome: "promptRequired", reason: "noRunningTurn" }, 6, 6),
  ownTurn: answered({ stopReason: "end_turn" }, 6, 7),
  ownTurnSeen: { request: 7, userMessages: 1, newest: true },
  toolCalls: 5,
  steerObeyed: true,
  modelRequests: 7,
};

const notTrue = (change: Partial<SceneFacts>): [CheckId, Check["verdict"]][] =>
  checksOf({ ...TRUE_TO_CONTRACT, ...change })
    .filter(({ verdict }) => verdict !== "true")
    .map(({ id, verdict }) => [id, verdict]);

describe("checks", () => {
  test("an agent that is true to the contract passes all of them", () => {
    expect(notTrue({})).toEqual([]);
    expect(checksOf(TRUE_TO_CONTRACT)).toHaveLength(14);
  });

  const { owner, steer, idleSteer, ownTurn } = TRUE_TO_CONTRACT;
  const faults: [string, Partial<SceneFacts>, CheckId[]][] = [
    ["no advertisement of steering", { advertisement: { supported: false, receipts: true } }, ["advertised"]],
    ["a steer refused", { steer: answered({ outcome: "promptRequired" }, 3, 3) }, ["injected"]],
    ["a steer answered twice", { steer: { ...steer, answers: 2 } }, ["steerAnsweredOnce"]],
    ["G2 no duplicate: a steer seen twice", { steerSeen: { request: 4, userMessages: 2, newest: true } }, ["seenOnce"]],
    [
      "G1 no lost steer: never seen",
      { steerSeen: { userMessages: 0, newest: false } },
      ["seenOnce", "inOrder", "sameTurn"],
    ],
    ["G3 order: put before what was said", { steerSeen: { request: 4, userMessages: 1, newest: false } }, ["inOrder"]],
    ["G7 isolation: seen in a later turn", { steerSeen: { request: 7, userMessages: 1, newest: true } }, ["sameTurn"]],
    [
      "G7 isolation: bound to another turn",
      { steer: answered({ outcome: "injected", _meta: { steering: { turnId: "t2" } } }, 3, 3) },
      ["sameTurn"],
    ],
    ["a receipt that only assumes", { steerReceipts: [{ state: "delivered", assumed: true }] }, ["delivered"]],
    ["two receipts", { steerReceipts: [{ state: "delivered" }, { state: "delivered" }] }, ["delivered"]],
    ["another stop reason", { owner: answered({ stopReason: "cancelled" }, 0, 6) }, ["ownerAnswered"]],
    ["G4 one answer: the owner answered twice", { owner: { ...owner, answers: 2 } }, ["ownerAnsweredOnce"]],
    ["the wrong file changed", { steerObeyed: false }, ["steerObeyed"]],
    ["an idle steer taken", { idleSteer: answered({ outcome: "injected" }, 6, 6) }, ["idlePromptRequired"]],
    [
      "an idle steer with another reason",
      { idleSteer: answered({ outcome: "promptRequired", reason: "busy" }, 6, 6) },
      ["idlePromptRequired"],
    ],
    [
      "G5 idle consumes nothing: a model request",
      {
        ownTurn: answered({ stopReason: "end_turn" }, 7, 8),
        ownTurnSeen: { request: 8, userMessages: 1, newest: true },
      },
      ["idleConsumesNothing"],
    ],
    ["G4 one answer: the own turn answered twice", { ownTurn: { ...ownTurn, answers: 2 } }, ["ownTurnAnswered"]],
    [
      "the idle text seen before it was sent as a prompt",
      { ownTurnSeen: { request: 6, userMessages: 1, newest: true } },
      ["ownTurnSeenOnce"],
    ],
  ];
  test.each(faults)("%s is found, and nothing else", (_, change, ids) => {
    expect(notTrue(change)).toEqual(ids.map((id) => [id, "false"]));
  });

  test("an error in place of an answer is shown with its code", () => {
    const refused = { ...idleSteer, error: { code: -32601, message: "Method not found" } };
    const { result: _, ...withoutResult } = refused;
    const check = checksOf({ ...TRUE_TO_CONTRACT, idleSteer: withoutResult }).find(
      ({ id }) => id === "idlePromptRequired",
    );
    expect(check).toMatchObject({ verdict: "false", detail: "error -32601: Method not found" });
  });

  test("where the model server saw nothing, what only it can show is unverified", () => {
    const ids: CheckId[] = ["seenOnce", "inOrder", "sameTurn", "idleConsumesNothing", "ownTurnSeenOnce"];
    expect(notTrue({ modelRequests: 0 })).toEqual(ids.map((id) => [id, "unverified"]));
  });

  test("receipts and files are not asked of an agent that has no receipts and made no tool calls", () => {
    const ids = checksOf({ ...TRUE_TO_CONTRACT, advertisement: { supported: true }, toolCalls: 0 }).map(({ id }) => id);
    expect(ids).not.toContain("delivered");
    expect(ids).not.toContain("steerObeyed");
  });
});

describe("sightings", () => {
  const user = (text: string): ModelMessage => ({ role: "user", text, images: 0 });
  const assistant: ModelMessage = { role: "assistant", text: "the steer", images: 0 };
  const requests = (...histories: ModelMessage[][]): ModelRequest[] =>
    histories.map((messages, index) => ({ index, messages }) as unknown as ModelRequest);

  test("the first request with the text counts, also inside a longer message", () => {
    const history = [user("prompt"), assistant, user("[guidance] the steer")];
    expect(sightingOf(requests([user("prompt")], history, [...history, assistant]), "the steer")).toEqual({
      request: 2,
      userMessages: 1,
      newest: true,
    });
  });

  test("a text before what the request before had carried is not new", () => {
    const late = requests([user("prompt")], [user("the steer"), user("prompt")]);
    expect(sightingOf(late, "the steer")).toMatchObject({ request: 2, newest: false });
  });

  test("a text that is doubled later is counted", () => {
    const doubled = requests([user("the steer")], [user("the steer"), assistant, user("the steer")]);
    expect(sightingOf(doubled, "the steer")).toMatchObject({ request: 1, userMessages: 2 });
  });

  test("what another than the user said does not count", () => {
    expect(sightingOf(requests([assistant]), "the steer")).toEqual({ userMessages: 0, newest: false });
  });
});
