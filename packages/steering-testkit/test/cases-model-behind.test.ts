import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newMark } from "../src/cases/mark.js";
import { type ModelBehind, startModelBehind } from "../src/cases/model-behind.js";
import type { ModelStep } from "../src/cases/stage.js";
import { post } from "./model-server-client.js";

const SHELL = {
  type: "function",
  function: { name: "Bash", parameters: { type: "object", properties: { command: { type: "string" } } } },
};
const SANDBOXED = {
  type: "function",
  function: {
    name: "exec_command",
    parameters: {
      type: "object",
      properties: {
        cmd: { type: "string" },
        sandbox_permissions: { type: "string" },
        justification: { type: "string" },
      },
    },
  },
};

interface Answer {
  readonly choices: readonly {
    readonly message: {
      readonly content: string | null;
      readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
    };
  }[];
}

let behind: ModelBehind;
beforeEach(async () => {
  behind = await startModelBehind();
});
afterEach(() => behind.close());

function ask(text: string, tools?: readonly object[], signal?: AbortSignal): Promise<Response> {
  const payload = { model: "m", messages: [{ role: "user", content: text }], ...(tools && { tools }) };
  return post(behind.model, payload, signal ? { signal } : {});
}

const said = async (answer: Promise<Response>): Promise<Answer["choices"][0]["message"]> => {
  const [choice] = ((await (await answer).json()) as Answer).choices;
  if (choice === undefined) throw new Error("an answer without a choice");
  return choice.message;
};

describe("the scripted model server behind an agent", () => {
  test("holds a request with a mark until a case answers it", async () => {
    const mark = newMark();
    const answer = ask(`Say ${mark}`, [SHELL]);
    const step = await behind.next(mark);
    expect(step).toMatchObject({ texts: [`Say ${mark}`], images: 0, hasShell: true });
    await step.end("As you like.");
    expect(await said(answer)).toMatchObject({ content: "As you like." });
  });

  test("answers a request without a mark at once", async () => {
    expect(await said(ask("Are you there?", [SHELL]))).toMatchObject({ content: "ok" });
  });

  test("answers a request without tools at once, once the agent has offered some: it makes it for itself", async () => {
    const [first, second] = [newMark(), newMark()];
    const title = ask(`A title for: ${first}`);
    const answer = ask(`Say ${first}`, [SHELL]);
    expect(await said(title)).toMatchObject({ content: "ok" });
    const step = await behind.next(first);
    await step.end();
    await answer;
    expect(behind.steps(first)).toEqual([step]);
    expect(await said(ask(`A title for: ${second}`))).toMatchObject({ content: "ok" });
  });

  test("answers at once what an agent asks for itself about a conversation", async () => {
    const mark = newMark();
    const conversation = [
      { role: "user", content: `Say ${mark}` },
      { role: "assistant", content: "Said." },
    ];
    const next = (last: object): Promise<Response> =>
      post(behind.model, { model: "m", tools: [SHELL], messages: [...conversation, last] });
    expect(await said(next({ role: "user", content: "Guess what the user says next." }))).toMatchObject({
      content: "ok",
    });
    const answer = next({ role: "tool", tool_call_id: "call", content: "The tool says." });
    await (await behind.next(mark)).end("Heard.");
    expect(await said(answer)).toMatchObject({ content: "Heard." });
  });

  test("is the model of an agent without tools, too", async () => {
    const mark = newMark();
    const answer = ask(`Say ${mark}`);
    await (await behind.next(mark)).end("Said.");
    expect(await said(answer)).toMatchObject({ content: "Said." });
  });

  test("calls the shell tool that is offered", async () => {
    const mark = newMark();
    const answer = ask(`Run for ${mark}`, [SHELL]);
    (await behind.next(mark)).run("ls", { asking: true });
    const { tool_calls: calls } = await said(answer);
    expect(calls?.[0]?.function).toEqual({ name: "Bash", arguments: JSON.stringify({ command: "ls" }) });
  });

  test("has an agent with a sandbox ask its user where that is wanted", async () => {
    const mark = newMark();
    const answer = ask(`Run for ${mark}`, [SANDBOXED]);
    (await behind.next(mark)).run("ls", { asking: true });
    const { tool_calls: calls } = await said(answer);
    expect(JSON.parse(calls?.[0]?.function.arguments ?? "")).toEqual({
      cmd: "ls",
      sandbox_permissions: "require_escalated",
      justification: expect.any(String),
    });
  });

  test("says that there is no shell tool to run a command with", async () => {
    const mark = newMark();
    const answer = ask(`Run for ${mark}`);
    const step = await behind.next(mark);
    expect(step.hasShell).toBe(false);
    expect(() => step.run("ls")).toThrow("no shell tool");
    await step.end();
    await answer;
  });

  test("fails as a service does", async () => {
    const mark = newMark();
    const answer = ask(`Fail for ${mark}`);
    (await behind.next(mark)).fail();
    expect((await answer).status).toBe(400);
  });

  test("ends what it has begun to say", async () => {
    const mark = newMark();
    const answer = ask(`Say ${mark}`);
    const step = await behind.next(mark);
    step.say("So far.");
    await step.end();
    expect(await said(answer)).toMatchObject({ content: "So far." });
  });

  test.each([
    ["before the first byte", () => {}],
    ["in the middle of what it is told", (step: ModelStep) => step.say("So far.")],
  ])("says when the agent has gone away %s", async (_, begin) => {
    const mark = newMark();
    const gone = new AbortController();
    const answer = ask(`Say ${mark}`, [SHELL], gone.signal).catch(({ name }: Error) => name);
    const step = await behind.next(mark);
    begin(step);
    gone.abort();
    await step.abandoned;
    await step.end();
    expect(await answer).toBe("AbortError");
  });

  test("answers what is left when a case is over, and what still comes of it", async () => {
    const mark = newMark();
    const left = ask(`Say ${mark}`, [SHELL]);
    await behind.next(mark);
    behind.forget();
    expect(await said(left)).toMatchObject({ content: "ok" });
    expect(await said(ask(`Again ${mark}`, [SHELL]))).toMatchObject({ content: "ok" });
    expect(behind.steps(mark)).toEqual([]);
  });

  test("a case that is over also ends what the model was in the middle of", async () => {
    const mark = newMark();
    const left = ask(`Say ${mark}`, [SHELL]);
    (await behind.next(mark)).say("Working on it.");
    behind.forget();
    expect(await said(left)).toMatchObject({ content: "Working on it." });
  });

  test("tells of every request, also of those that no case is about", async () => {
    const seen: string[] = [];
    const stop = behind.onRequest(({ messages }) => seen.push(messages[0]?.text ?? ""));
    await ask("Are you there?");
    stop();
    await ask("And now?");
    expect(seen).toEqual(["Are you there?"]);
  });
});
