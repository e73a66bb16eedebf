import type { Turn } from "@acp-steering/kit";
import { describe, expect, test } from "vitest";
import type { AskEvent } from "../src/bridge-protocol.js";
import { Permissions } from "../src/permissions.js";

type Question = Parameters<Turn["requestPermission"]>[0];
type Answer = Awaited<ReturnType<Turn["requestPermission"]>>;

/** A turn whose user answers as the test says, and what Hermes and the client were told. */
function asking(user: (question: Question, signal?: AbortSignal) => Promise<Answer>) {
  const answers: [string, string][] = [];
  const updates: unknown[] = [];
  const questions: Question[] = [];
  const turn: Turn = {
    prompt: [],
    continuation: false,
    signal: new AbortController().signal,
    update: (update) => void updates.push(update),
    flushed: async () => {},
    requestPermission: (question, signal) => {
      questions.push(question);
      return user(question, signal);
    },
    take: () => [],
  };
  const permissions = new Permissions(turn, (ask, choice) => void answers.push([ask, choice]));
  return { permissions, answers, updates, questions };
}

const selected = (optionId: string) => async (): Promise<Answer> => ({ outcome: { outcome: "selected", optionId } });

const command: AskEvent = {
  type: "ask",
  ask: "a1",
  kind: "command",
  command: "rm -rf build",
  description: "deletes recursively",
  choices: ["once", "session", "always", "deny"],
};

const edit: AskEvent = {
  type: "ask",
  ask: "a2",
  kind: "edit",
  tool: "patch",
  call: "c7",
  edits: [{ path: "/p/a.ts", oldText: "a", newText: "b" }],
  choices: ["once", "deny"],
};

describe("a permission", () => {
  test.each([
    ["allow_once", "once"],
    ["allow_session", "session"],
    ["allow_always", "always"],
    ["deny", "deny"],
  ])("%s is %s for Hermes", async (optionId, choice) => {
    const { permissions, answers } = asking(selected(optionId));
    await permissions.ask(command);
    expect(answers).toEqual([["a1", choice]]);
  });

  test("for a command shows it whole, why Hermes asks, and what Hermes offers", async () => {
    const { permissions, questions } = asking(selected("deny"));
    await permissions.ask(command);
    expect(questions).toMatchObject([
      {
        toolCall: {
          title: "rm -rf build",
          kind: "execute",
          content: [{ content: { text: "```sh\nrm -rf build\n```" } }, { content: { text: "deletes recursively" } }],
        },
        options: [{ kind: "allow_once" }, { kind: "allow_always" }, { kind: "allow_always" }, { kind: "reject_once" }],
      },
    ]);
  });

  test("for an edit shows the diff on the tool call that waits, and offers no more than Hermes does", async () => {
    const { permissions, questions, updates } = asking(selected("allow_once"));
    await permissions.ask(edit);
    expect(questions).toMatchObject([
      {
        toolCall: {
          toolCallId: "c7",
          kind: "edit",
          content: [{ type: "diff", path: "/p/a.ts" }],
          locations: [{ path: "/p/a.ts" }],
        },
        options: [{ optionId: "allow_once" }, { optionId: "deny" }],
      },
    ]);
    expect(updates).toEqual([]);
  });

  test("that belongs to no tool call leaves none open at the client", async () => {
    const { permissions, updates } = asking(selected("deny"));
    await permissions.ask(command);
    expect(updates).toEqual([{ sessionUpdate: "tool_call_update", toolCallId: "permission-a1", status: "failed" }]);
  });
});

describe("everything unexpected is deny", () => {
  test.each<[string, () => Promise<Answer>]>([
    ["an option that was not offered", selected("allow_always")],
    ["an unknown option", selected("whatever")],
    ["a cancelled outcome", async () => ({ outcome: { outcome: "cancelled" } })],
    ["a client that is gone", () => Promise.reject(new Error("closed"))],
    ["an answer without sense", async () => ({}) as Answer],
  ])("%s", async (_what, user) => {
    const { permissions, answers } = asking(user);
    await permissions.ask(edit);
    expect(answers).toEqual([["a2", "deny"]]);
  });

  test("G6: the end of the turn answers what is open, once", async () => {
    let answer: (value: Answer) => void = () => {};
    const { permissions, answers } = asking(() => new Promise((resolve) => (answer = resolve)));
    const asked = permissions.ask(command);
    permissions.end();
    expect(answers).toEqual([["a1", "deny"]]);
    answer({ outcome: { outcome: "selected", optionId: "allow_once" } });
    await asked;
    expect(answers).toEqual([["a1", "deny"]]);
  });

  test("a question that Hermes took back is taken back at the client and not answered", async () => {
    const { permissions, answers } = asking(
      (_question, signal) =>
        new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("withdrawn")))),
    );
    const asked = permissions.ask(command);
    permissions.withdraw(command);
    await asked;
    expect(answers).toEqual([]);
  });
});
