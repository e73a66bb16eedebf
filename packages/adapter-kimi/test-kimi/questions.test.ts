import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedKimi, userTexts } from "./stage.js";

const { openStage } = sharedKimi();

interface Question {
  readonly options: { optionId: string; name: string; kind: string }[];
  readonly toolCall: Record<string, unknown>;
}

const FORMS = { elicitation: { form: {} } };
const write = (path: string) => ({ toolCalls: [{ name: "Bash", arguments: { command: `echo x > ${path}` } }] });

const QUESTIONS = [
  {
    question: "Which colour?",
    header: "Colour",
    options: [
      { label: "Red", description: "warm" },
      { label: "Blue", description: "cold" },
    ],
    multi_select: false,
  },
  {
    question: "Which sizes?",
    header: "Sizes",
    options: [
      { label: "Small", description: "s" },
      { label: "Large", description: "l" },
    ],
    multi_select: true,
  },
];
const ASKS = { toolCalls: [{ name: "AskUserQuestion", arguments: { questions: QUESTIONS } }] };

/** What the tools told the model last. */
function lastResult(model: { requests: readonly { messages: readonly { role: string; text: string }[] }[] }): string {
  return (
    model.requests
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool")
      .at(-1)?.text ?? ""
  );
}

describe("what the real Kimi asks", () => {
  test("approvals: for once, for the session, or not; with the call and its effect", async () => {
    const { client, cwd, model, sessionId } = await openStage([
      write("a.txt"),
      write("a.txt"),
      write("a.txt"),
      { toolCalls: [{ name: "Write", arguments: { path: "b.txt", content: "new\n" } }] },
      { text: "Done." },
    ]);
    const asked: Question[] = [];
    const answers = ["approve_once", "approve_always", "reject"];
    client.permission = (params) => {
      asked.push(params as Question);
      return { outcome: { outcome: "selected", optionId: answers[asked.length - 1] } };
    };
    await client.prompt(sessionId, "Write").answer;
    expect(asked.map(({ options }) => options.map(({ kind }) => kind))).toEqual(
      Array(3).fill(["allow_once", "allow_always", "reject_once"]),
    );
    expect(asked[2]?.toolCall).toMatchObject({
      kind: "edit",
      content: [{ type: "diff", path: join(cwd, "b.txt"), oldText: null, newText: "new\n" }],
    });
    expect(await readFile(join(cwd, "a.txt"), "utf8")).toBe("x\n");
    expect(lastResult(model)).toMatch(/reject/i);
  });

  test("a rejection can say why, where the client shows forms", async () => {
    const { client, model, sessionId } = await openStage([write("a.txt"), { text: "Understood." }], {
      clientCapabilities: FORMS,
    });
    client.permission = () => ({ outcome: { outcome: "selected", optionId: "reject_with_feedback" } });
    client.handle("elicitation/create", () => ({ action: "accept", content: { feedback: "use b.txt instead" } }));
    await client.prompt(sessionId, "Write").answer;
    expect(lastResult(model)).toContain("use b.txt instead");
  });

  test("questions are a form with all of them, where the client shows forms", async () => {
    const { client, model, sessionId } = await openStage([ASKS, { text: "Thanks." }], { clientCapabilities: FORMS });
    let form: Record<string, unknown> = {};
    client.handle("elicitation/create", (params) => {
      form = params as Record<string, unknown>;
      return { action: "accept", content: { q_0: "opt_0_1", q_1: ["opt_1_0", "opt_1_1"] } };
    });
    await client.prompt(sessionId, "Ask").answer;
    expect(form).toMatchObject({
      mode: "form",
      message: "Which colour?\nWhich sizes?",
      requestedSchema: { properties: { q_0: { title: "Colour", oneOf: [{ title: "Red" }, { title: "Blue" }] } } },
    });
    expect(JSON.parse(lastResult(model))).toEqual({
      answers: { "Which colour?": "Blue", "Which sizes?": "Small, Large" },
    });
  });

  test("an answer in the user's own words", async () => {
    const { client, model, sessionId } = await openStage([ASKS, { text: "Thanks." }], { clientCapabilities: FORMS });
    client.handle("elicitation/create", () => ({ action: "accept", content: { q_0_other: "green" } }));
    await client.prompt(sessionId, "Ask").answer;
    expect(lastResult(model)).toContain("green");
  });

  test("questions are choices one by one, where it does not; also where it refuses its forms", async () => {
    const capabilities = [{}, FORMS];
    for (const clientCapabilities of capabilities) {
      const { client, model, sessionId } = await openStage([ASKS, { text: "Thanks." }], { clientCapabilities });
      const titles: unknown[] = [];
      client.permission = (params) => {
        const { toolCall, options } = params as Question;
        titles.push(toolCall["title"]);
        return { outcome: { outcome: "selected", optionId: options[0]?.optionId } };
      };
      await client.prompt(sessionId, "Ask").answer;
      expect(titles).toEqual(["Which colour?", "Which sizes?"]);
      expect(JSON.parse(lastResult(model))).toEqual({ answers: { "Which colour?": "Red", "Which sizes?": "Small" } });
    }
  });

  test("a question that the user does not answer is dismissed", async () => {
    const { client, model, sessionId } = await openStage([ASKS, { text: "Never mind." }]);
    client.permission = () => ({ outcome: { outcome: "cancelled" } });
    expect(await client.prompt(sessionId, "Ask").answer).toMatchObject({ stopReason: "end_turn" });
    expect(lastResult(model)).toMatch(/dismiss/i);
  });

  test("a steer while a question is open waits for it", async () => {
    const { client, model, sessionId } = await openStage([ASKS, { text: "Thanks." }], { clientCapabilities: FORMS });
    let answer: () => void = () => {};
    const asked = new Promise<void>((resolve) => {
      client.handle("elicitation/create", () => {
        resolve();
        return new Promise((settle) => {
          answer = () => settle({ action: "accept", content: { q_0: "opt_0_1" } });
        });
      });
    });
    const turn = client.prompt(sessionId, "Ask");
    await asked;
    expect(await client.steer(sessionId, "and be quick")).toMatchObject({ outcome: "injected" });
    answer();
    await turn.answer;
    expect(userTexts(model)).toEqual([["Ask"], ["Ask", "and be quick"]]);
  });

  test("a plan is reviewed with its options, and its mode ends with it", async () => {
    const options = [
      { label: "Slow", description: "careful" },
      { label: "Fast", description: "quick" },
    ];
    let planFile = "";
    const { client, model, sessionId } = await openStage((request) => {
      planFile ||= /Plan file: (\S+)/.exec(request.messages.map(({ text }) => text).join("\n"))?.[1] ?? "";
      const calls = [
        { name: "EnterPlanMode", arguments: {} },
        { name: "Write", arguments: { path: planFile, content: "# The plan\n" } },
        { name: "ExitPlanMode", arguments: { options } },
      ];
      const call = calls[request.index];
      return call ? { toolCalls: [call] } : { text: "Planned." };
    });
    const reviews: Question[] = [];
    client.permission = (params) => {
      const question = params as Question;
      if (question.options.some(({ name }) => name === "Slow")) reviews.push(question);
      return { outcome: { outcome: "selected", optionId: question.options[0]?.optionId } };
    };
    await client.prompt(sessionId, "Plan").answer;
    expect(reviews).toHaveLength(1);
    expect(reviews[0]?.options.map(({ name }) => name)).toEqual([
      "Slow",
      "Fast",
      "Revise",
      "Reject and leave plan mode",
    ]);
    expect(JSON.stringify(reviews[0]?.toolCall)).toContain("# The plan");
    expect(lastResult(model)).toContain("Slow");
    await client.waitForUpdate("current_mode_update", ({ currentModeId }) => currentModeId === "default");
    const modes = client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "current_mode_update");
    expect(modes.map(({ currentModeId }) => currentModeId)).toEqual(["plan", "default"]);
  });

  test("what a sub-agent asks is asked, and its work is one call of the main agent", async () => {
    const { client, cwd, sessionId } = await openStage(({ messages }) => {
      const said = messages.map(({ text }) => text).join("\n");
      if (messages.at(-1)?.role === "tool") return { text: "Done." };
      if (said.includes("sub work"))
        return { toolCalls: [{ name: "Bash", arguments: { command: "echo sub > sub.txt" } }] };
      return { toolCalls: [{ name: "Agent", arguments: { description: "delegate", prompt: "sub work" } }] };
    });
    const asked: Question[] = [];
    client.permission = (params) => {
      asked.push(params as Question);
      return { outcome: { outcome: "selected", optionId: "approve_once" } };
    };
    expect(await client.prompt(sessionId, "Delegate").answer).toMatchObject({ stopReason: "end_turn" });
    expect(asked.at(-1)?.toolCall).toMatchObject({ title: expect.stringContaining("echo sub") });
    expect(await readFile(join(cwd, "sub.txt"), "utf8")).toBe("sub\n");
    const calls = client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "tool_call");
    expect(calls).toHaveLength(1);
    expect(client.updates(sessionId).filter(({ status }) => status === "failed")).toEqual([]);
  });
});
