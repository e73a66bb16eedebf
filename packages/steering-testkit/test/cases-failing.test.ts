/**
 * Cases that no agent of the matrix (broken-agents-*.test.ts) fails, each with an agent that does. Every requirement has
 * its broken agent there; here are further situations of the same requirements.
 */
import type { WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { describe, expect, test } from "vitest";
import { BOUNDARY_CASES, CASES, type Case } from "../src/cases/index.js";
import { playInProcess } from "../src/conformance/in-process.js";
import { modelServerRig } from "../src/conformance/model-server-rig.js";
import { type Filter, filtered, type Wire } from "../src/reference/broken/filtered.js";
import { referenceAgent } from "../src/reference/reference-agent.js";
import type { RequirementId } from "../src/requirements/requirements.js";

type Message = WireMessage & {
  readonly params?: { readonly prompt?: readonly unknown[]; readonly _meta?: { readonly steering?: object } };
  readonly result?: { readonly outcome?: string; readonly stopReason?: string; readonly _meta?: object };
};

const namesTurn = ({ params }: Message): boolean => "expectedTurnId" in (params?._meta?.steering ?? {});

const blocksOf = ({ params }: Message): readonly unknown[] => (Array.isArray(params?.prompt) ? params.prompt : []);

/** Which of the client's steers it keeps for itself, to put them into the next prompt of the turn after. */
function keepsForNextPrompt(keeps: (message: Message, turnIsOpen: boolean) => boolean, answer?: object) {
  return ({ toAgent, toClient }: Wire): Filter => {
    const owners = new Set<unknown>();
    let kept: unknown[] = [];
    return {
      fromClient: (message: Message) => {
        if (message.method === METHOD.steering && keeps(message, owners.size > 0)) {
          kept.push(...blocksOf(message));
          if (answer) return toClient({ jsonrpc: "2.0", id: message.id ?? null, ...answer });
        }
        if (message.method !== METHOD.prompt) return toAgent(message);
        owners.add(message.id);
        toAgent({ ...message, params: { ...message.params, prompt: [...blocksOf(message), ...kept] } });
        kept = [];
      },
      fromAgent: (message) => {
        if (message.method === undefined) owners.delete(message.id);
        toClient(message);
      },
    };
  };
}

/** Changes what the agent says to the client. */
const says =
  (change: (message: Message) => WireMessage) =>
  ({ toAgent, toClient }: Wire): Filter => ({
    fromClient: toAgent,
    fromAgent: (message) => toClient(change(message as Message)),
  });

/** Answers some of the client's requests itself. */
const answersItself =
  (answer: (message: Message) => object | undefined) =>
  ({ toAgent, toClient }: Wire): Filter => ({
    fromClient: (message) => {
      const result = answer(message as Message);
      if (result === undefined) toAgent(message);
      else toClient({ jsonrpc: "2.0", id: message.id ?? null, result });
    },
    fromAgent: toClient,
  });

const withoutDetail = (message: Message): WireMessage =>
  message.result?.outcome === "promptRequired"
    ? { ...message, result: { ...message.result, _meta: { steering: { messageId: "m" } } } }
    : message;

const withoutLeftovers = (message: Message): WireMessage =>
  message.result?.stopReason === "cancelled" ? { ...message, result: { ...message.result, _meta: {} } } : message;

const leaks = keepsForNextPrompt((_, turnIsOpen) => turnIsOpen, { result: { outcome: "injected" } });

const FAULTS: readonly (readonly [RequirementId, string, (wire: Wire) => Filter])[] = [
  ["G7.turn", "while the model speaks", leaks],
  ["G7.turn", "before the first byte of the model", leaks],
  ["G7.turn", "in one write with its prompt", leaks],
  ["G7.turn", "while a tool runs", leaks],
  ["G7.turn", "in a turn in which the model then fails", leaks],
  ["G7.turn", "at the end of a turn", leaks],
  [
    "error.malformed",
    "while idle, and the prompt after it",
    keepsForNextPrompt((message) => blocksOf(message).length > 0 && message.params?._meta !== undefined),
  ],
  ["error.notification", "while idle", keepsForNextPrompt(({ id }, turnIsOpen) => id === undefined && !turnIsOpen)],
  ["result.names", "while idle", says(withoutDetail)],
  [
    "result.expected",
    "the turn that runs",
    answersItself((message) =>
      namesTurn(message) ? { outcome: "promptRequired", reason: "noRunningTurn" } : undefined,
    ),
  ],
  ["report.owner", "a steer and a cancel in one write", says(withoutLeftovers)],
  [
    "revoke.late",
    "after the model was shown it",
    answersItself(({ method }) => (method === METHOD.revoke ? {} : undefined)),
  ],
];

function caseOf(requirement: RequirementId, title: string): Case {
  const found = [...CASES, ...BOUNDARY_CASES].find((one) => one.requirement === requirement && one.title === title);
  if (found === undefined) throw new Error(`there is no case "${title}" of ${requirement}`);
  return found;
}

describe("a case fails with an agent that does wrong in its situation", () => {
  test.each(FAULTS)("%s: %s", async (requirement, title, fault) => {
    const rig = modelServerRig({
      start: ({ modelUrl }) => filtered(referenceAgent({ road: "inbox", modelUrl }), fault),
    });
    expect(await playInProcess(caseOf(requirement, title), rig)).toMatchObject({
      problems: expect.arrayContaining([expect.any(String)]),
    });
  });

  test("driver.boundary: a steer while the model speaks", async () => {
    const rig = modelServerRig({
      supports: { content: ["text"], boundary: "now" },
      start: ({ modelUrl }) => referenceAgent({ road: "driver", modelUrl }),
    });
    expect(await playInProcess(caseOf("driver.boundary", "a steer while the model speaks"), rig)).toEqual({
      problems: ["the model was shown it only when it had ended"],
    });
  });
});
