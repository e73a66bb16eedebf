/** What the properties once found, as small as it could be made, each with the outcome that is right. */
import { describe, expect, it } from "vitest";
import { checkOne } from "./check.js";
import type { Entry, Message } from "./history.js";
import type { Action, Actor, Scenario } from "./scenario.js";
import { FixedOrder } from "./schedule.js";

const QUIET: Actor = { receipts: true, echo: false, decides: true, actions: [] };

const QUIET_WORLD: Scenario = {
  idleBehavior: "promptRequired",
  whenBusy: "queue",
  emulate: "finish",
  inbox: false,
  maxSteers: 4_096,
  driver: undefined,
  runs: [],
  closeFails: false,
  sessions: 1,
  actors: [],
};

const actor = (...actions: readonly Action[]): Actor => ({ ...QUIET, actions });

/** Plays it in that order, then first come first; it must break nothing. */
async function told(world: Partial<Scenario>, order: readonly string[] = []): Promise<readonly Entry[]> {
  const { entries } = await checkOne({ ...QUIET_WORLD, ...world }, new FixedOrder(order));
  return entries;
}

const gotByAgent = (entries: readonly Entry[], method: string): Message[] =>
  entries.flatMap((entry) => (entry.kind === "agentGot" && entry.message.method === method ? [entry.message] : []));

const gotByClient = (entries: readonly Entry[], link: number): Message[] =>
  entries.flatMap((entry) => (entry.kind === "clientGot" && entry.link === link ? [entry.message] : []));

/** The answers to a client's prompts, the one at the end of every world left out. */
function promptAnswers(entries: readonly Entry[], link: number): Message[] {
  const asked = entries.flatMap((entry) =>
    entry.kind === "clientSent" && entry.link === link && entry.message.method === "session/prompt"
      ? [entry.message]
      : [],
  );
  const ids = asked.filter(({ params }) => params.prompt[0].text !== "probe").map(({ id }) => id);
  return gotByClient(entries, link).filter(({ id, method }) => method === undefined && ids.includes(id));
}

const shown = (entries: readonly Entry[], link: number): string[] =>
  gotByClient(entries, link)
    .map(({ params }) => params?.update)
    .filter((update) => update?.sessionUpdate === "user_message_chunk" && update.messageId !== undefined)
    .map(({ content }) => content.text);

describe("found by the properties", () => {
  it("G6 the runs of a client that leaves are cancelled in every session, not only in its first", async () => {
    const entries = await told({ sessions: 2, actors: [actor({ do: "prompt", session: 1 }, { do: "leave" })] });
    expect(gotByAgent(entries, "session/cancel").map(({ params }) => params.sessionId)).toContain("session1");
  });

  it("G6 a load by another connection does not let a cancelled run through", async () => {
    const entries = await told({
      actors: [actor({ do: "prompt", session: 0 }, { do: "cancel", session: 0 }), actor({ do: "load", session: 0 })],
    });
    expect(promptAnswers(entries, 0).map(({ result }) => result.stopReason)).toEqual(["cancelled"]);
  });

  it("G4 a prompt that joined a turn is answered when its own connection loses the agent", async () => {
    const entries = await told(
      {
        whenBusy: "steer",
        actors: [actor({ do: "prompt", session: 0 }), actor({ do: "prompt", session: 0 }, { do: "agentLeaves" })],
      },
      ["A acts", "A to layer", "B acts", "B to layer", "B acts", "agent of B to layer"],
    );
    expect(promptAnswers(entries, 1).map(({ error }) => error?.code)).toEqual([-32603]);
  });

  it("G4 a revoke that waits for a verdict is answered when its own connection loses the agent", async () => {
    const entries = await told(
      {
        driver: [{ verdict: "never" }],
        runs: [{ steps: ["hang"], end: "end_turn", onCancel: "stops" }],
        actors: [
          actor({ do: "prompt", session: 0 }),
          actor({ do: "steer", session: 0 }, { do: "revoke", which: 0 }, { do: "agentLeaves" }),
        ],
      },
      ["A acts", "A to layer", "B acts", "B to layer", "B acts", "B to layer", "B acts", "agent of B to layer"],
    );
    expect(gotByClient(entries, 1).flatMap(({ error }) => error?.code ?? [])).toEqual([-32603]);
  });

  it("G2 a steer that an SDK agent shows by itself is shown once, whatever the order of its members", async () => {
    const entries = await told({
      runs: [
        { steps: [], end: "end_turn", onCancel: "stops" },
        { steps: ["echo"], end: "end_turn", onCancel: "stops" },
      ],
      actors: [{ ...actor({ do: "prompt", session: 0 }, { do: "steer", session: 0 }), echo: true }],
    });
    expect(shown(entries, 0)).toEqual(["m1"]);
  });

  it("G2 a steer that a cancelled run shows by itself is shown by the layer, once", async () => {
    const entries = await told(
      {
        runs: [
          { steps: [], end: "end_turn", onCancel: "stops" },
          { steps: ["echo"], end: "end_turn", onCancel: "finishes" },
        ],
        actors: [
          {
            ...actor({ do: "prompt", session: 0 }, { do: "steer", session: 0 }, { do: "cancel", session: 0 }),
            echo: true,
          },
        ],
      },
      [
        ...["A acts", "A to layer", "A acts", "A to layer", "agent in session0", "agent of A to layer", "time"],
        ...["A acts", "A to layer", "agent in session0", "agent of A to layer"],
      ],
    );
    expect(shown(entries, 0)).toEqual(["m1"]);
  });

  it("G4 a prompt sent while an unknown session is being closed is answered with the close", async () => {
    const entries = await told(
      {
        sessions: 2,
        actors: [actor({ do: "leave" }), actor({ do: "close", session: 1 }, { do: "prompt", session: 1 })],
      },
      ["A acts", "A to layer", "agent of A to layer", "B acts", "B to layer", "B acts", "B to layer", "agent closes"],
    );
    expect(promptAnswers(entries, 1).map(({ result }) => result?.stopReason)).toEqual(["cancelled"]);
  });

  it("G4 a close that fails does not reopen a session that another close is closing", async () => {
    const entries = await told(
      {
        closeFails: true,
        actors: [actor({ do: "prompt", session: 0 }, { do: "close", session: 0 }, { do: "close", session: 0 })],
      },
      [
        ...["A acts", "A to layer", "A acts", "A to layer", "A acts", "A to layer", "agent closes"],
        ...[
          "agent of A to layer",
          "agent in session0",
          "agent of A to layer",
          "agent in session0",
          "agent of A to layer",
        ],
      ],
    );
    expect(promptAnswers(entries, 0).map(({ result }) => result?.stopReason)).toEqual(["cancelled"]);
  });

  it("G7 a connection that may not steer a session cannot do so with /steer either", async () => {
    const entries = await told({
      sessions: 2,
      actors: [actor({ do: "prompt", session: 1 }), actor({ do: "steerCommand", session: 1 })],
    });
    expect(promptAnswers(entries, 1).map(({ error }) => error?.code)).toEqual([-32002]);
  });
});
