import type { WireClient } from "@acp-steering/testkit";
import type { Script } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { PIS } from "./pis.js";
import { openStage as openPiStage, type Stage, type StageOptions, userTexts } from "./stage.js";

/** An extension with a command that asks in every way and says in the conversation what it heard. */
const ASKS = `export default (pi) => {
  pi.registerCommand("ask", { description: "asks", handler: async (args, ctx) => {
    const heard = [
      await ctx.ui.select("Which colour?", ["red", "green"]),
      await ctx.ui.confirm("Sure?", "It cannot be undone."),
      await ctx.ui.input("Your name?", "as on the door"),
      await ctx.ui.editor("The text", "old text"),
    ];
    ctx.ui.notify("heard " + JSON.stringify(heard.map((answer) => answer ?? null)), "warning");
  } });
};`;

/** Blocks every tool call that is not confirmed. */
const GUARDS = `export default (pi) => {
  pi.on("tool_call", async (event, ctx) => {
    if (!(await ctx.ui.confirm("Allow?", event.toolName))) return { block: true, reason: "not confirmed" };
  });
};`;

/** Has a command that makes Pi work by itself when the model server lets go of a request. */
const WORKS_LATER = `export default (pi) => {
  pi.registerCommand("later", { description: "works later", handler: async (args, ctx) => {
    const body = JSON.stringify({ model: "hook", messages: [{ role: "user", content: "hook" }] });
    const request = fetch(ctx.model.baseUrl + "/chat/completions", { method: "POST", body });
    void request.then(() => pi.sendUserMessage("by itself"));
  } });
};`;

const forms = { elicitation: { form: {} } };

/** What the extension {@link ASKS} heard. */
async function heard(client: WireClient, sessionId: string): Promise<unknown> {
  expect(await client.prompt(sessionId, "/ask").answer).toMatchObject({ stopReason: "end_turn" });
  const said = client.updates(sessionId).find(({ _meta }) => _meta !== undefined && _meta !== null);
  expect(said).toMatchObject({ sessionUpdate: "agent_message_chunk", _meta: { piExtension: "warning" } });
  return JSON.parse((said as { content: { text: string } }).content.text.replace(/^heard /, ""));
}

const requestsOf = (client: WireClient, method: string): unknown[] =>
  client.log.flatMap(({ direction, message }) =>
    direction === "in" && message?.method === method && message.id !== undefined ? [message.params] : [],
  );

describe.each(PIS)("extensions of the real Pi: $name", (pi) => {
  const openStage = (script: Script, options: StageOptions = {}): Promise<Stage> =>
    openPiStage(script, { ...options, pi });

  test("a dialog is a form where the client shows forms, and Pi gets what the user fills in", async () => {
    const { client, sessionId } = await openStage([], { extension: ASKS, clientCapabilities: forms });
    const answers = ["green", true, "Ada", "new text"];
    client.handle("elicitation/create", () => ({ action: "accept", content: { answer: answers.shift() } }));
    expect(await heard(client, sessionId)).toEqual(["green", true, "Ada", "new text"]);
    expect(requestsOf(client, "elicitation/create")).toMatchObject([
      {
        mode: "form",
        message: "Which colour?",
        requestedSchema: { properties: { answer: { enum: ["red", "green"] } } },
      },
      { message: "Sure?\nIt cannot be undone.", requestedSchema: { properties: { answer: { type: "boolean" } } } },
      { message: "Your name?", requestedSchema: { properties: { answer: { description: "as on the door" } } } },
      { message: "The text", requestedSchema: { properties: { answer: { default: "old text" } } } },
    ]);
  });

  test("a form that the user declines or dismisses is a no, or no answer", async () => {
    const { client, sessionId } = await openStage([], { extension: ASKS, clientCapabilities: forms });
    const actions = ["cancel", "decline", "decline", "cancel"];
    client.handle("elicitation/create", () => ({ action: actions.shift() }));
    expect(await heard(client, sessionId)).toEqual([null, false, null, null]);
  });

  test("without forms a dialog with choices is a choice, and one for a text has no answer", async () => {
    const { client, sessionId } = await openStage([], { extension: ASKS });
    client.permission = (params) => {
      const { options } = params as { options: { optionId: string; name: string }[] };
      const chosen = options.find(({ name }) => name === "green" || name === "No");
      return { outcome: { outcome: "selected", optionId: chosen?.optionId } };
    };
    expect(await heard(client, sessionId)).toEqual(["green", false, null, null]);
    expect(requestsOf(client, "session/request_permission")).toMatchObject([
      { toolCall: { title: "Which colour?" }, options: [{ name: "red" }, { name: "green" }, { name: "Skip" }] },
      {
        toolCall: { title: "Sure?" },
        options: [
          { name: "Yes", kind: "allow_once" },
          { name: "No", kind: "reject_once" },
        ],
      },
    ]);
  });

  test("a client that declares forms and refuses them is asked the other way", async () => {
    const { client, sessionId } = await openStage([], { extension: ASKS, clientCapabilities: forms });
    expect(await heard(client, sessionId)).toEqual(["red", true, null, null]);
  });

  test("G4: steers wait while a dialog is open, and reach the model once it is answered", async () => {
    const script = [{ toolCalls: [{ name: "bash", arguments: { command: "echo ran" } }] }, { text: "Understood." }];
    const { client, model, sessionId } = await openStage(script, { extension: GUARDS });
    const asked = new Promise<() => void>((open) => {
      client.permission = () =>
        new Promise((resolve) => open(() => resolve({ outcome: { outcome: "selected", optionId: "0" } })));
    });
    const turn = client.prompt(sessionId, "Run it");
    const allow = await asked;
    expect(await client.steer(sessionId, "while it asks")).toMatchObject({ outcome: "injected" });
    allow();
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["Run it", "while it asks"]);
    expect(client.updates(sessionId)).toContainEqual(expect.objectContaining({ status: "completed" }));
  });

  test("G6: a cancel takes an open dialog back, and the extension hears a no", async () => {
    const script = [{ toolCalls: [{ name: "bash", arguments: { command: "echo ran" } }] }, { text: "Next." }];
    const { client, model, sessionId } = await openStage(script, { extension: GUARDS });
    const asked = new Promise<void>((open) => {
      client.permission = () => {
        open();
        return new Promise(() => {});
      };
    });
    const turn = client.prompt(sessionId, "Run it");
    await asked;
    client.cancel(sessionId);
    expect(await turn.answer).toMatchObject({ stopReason: "cancelled" });
    expect(client.log.some(({ message }) => message?.method === "$/cancel_request")).toBe(true);
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(model.requests.flatMap(({ messages }) => messages.map(({ text }) => text)).join()).not.toContain("ran\n");
  });

  test("a dialog that Pi stops waiting for is taken back, while the turn goes on", async () => {
    const extension = `export default (pi) => {
      pi.registerCommand("ask", { description: "asks", handler: async (args, ctx) => {
        const quick = await ctx.ui.confirm("Quick?", "Now", { timeout: 50 });
        const slow = await ctx.ui.confirm("Slow?", "Whenever");
        ctx.ui.notify("heard " + quick + ", " + slow);
      } });
    };`;
    const { client, sessionId } = await openStage([], { extension });
    client.permission = async (params) => {
      const { title } = (params as { toolCall: { title: string } }).toolCall;
      if (title === "Quick?") return new Promise(() => {});
      await client.waitFor(({ direction, message }) => direction === "in" && message?.method === "$/cancel_request");
      return { outcome: { outcome: "selected", optionId: "0" } };
    };
    expect(await client.prompt(sessionId, "/ask").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("heard false, true");
  });

  test("what an extension lets Pi do between two turns is shown, and a cancel ends it", async () => {
    const script: Script = ({ messages }) => {
      const last = messages.at(-1)?.text;
      if (last === "hook") return { text: "hook", hold: "hook" };
      return last === "Next" ? { text: "Next." } : { text: "Alone.", hold: "alone", holdAt: "afterText" };
    };
    const { client, model, sessionId } = await openStage(script, { extension: WORKS_LATER });
    expect(await client.prompt(sessionId, "/later").answer).toMatchObject({ stopReason: "end_turn" });
    await model.held("hook");
    model.release("hook");
    await model.held("alone");
    await client.waitForUpdate("agent_message_chunk");
    expect(await client.steer(sessionId, "idle")).toMatchObject({ outcome: "promptRequired" });
    client.cancel(sessionId);
    expect(await client.prompt(sessionId, "Next").answer).toMatchObject({ stopReason: "end_turn" });
    expect(userTexts(model).at(-1)).toEqual(["by itself", "Next"]);
    expect(client.agentText(sessionId)).toBe("Alone.Next.");
  });

  test("G7: a prompt waits for what Pi does by itself, and its steers do not reach that", async () => {
    const script: Script = ({ messages }) => {
      const last = messages.at(-1);
      if (last?.text === "hook") return { text: "hook", hold: "hook" };
      if (last?.text !== "by itself") return { text: `Heard ${last?.text}.` };
      return { toolCalls: [{ name: "bash", arguments: { command: "true" } }], hold: "alone" };
    };
    const { client, model, sessionId } = await openStage(script, { extension: WORKS_LATER });
    await client.prompt(sessionId, "/later").answer;
    await model.held("hook");
    model.release("hook");
    await model.held("alone");
    const turn = client.prompt(sessionId, "Next");
    expect(await client.steer(sessionId, "for the next")).toMatchObject({ outcome: "injected" });
    model.release("alone");
    expect(await turn.answer).toMatchObject({
      stopReason: "end_turn",
      _meta: { steering: { runs: [{ stopReason: "end_turn" }], undelivered: [] } },
    });
    const [first] = userTexts(model).filter((texts) => texts.includes("for the next"));
    expect(first).toEqual(["by itself", "Next", "for the next"]);
  });

  test("G4: a command that only says something in the conversation is over with that", async () => {
    const extension = `export default (pi) => {
      pi.registerCommand("say", { description: "says", handler: async () => {
        pi.sendMessage({ customType: "note", content: "Just so you know.", display: true });
      } });
    };`;
    const { client, model, sessionId } = await openStage([], { extension });
    expect(await client.prompt(sessionId, "/say").answer).toMatchObject({ stopReason: "end_turn" });
    expect(client.agentText(sessionId)).toBe("Just so you know.");
    expect(model.requests).toHaveLength(0);
  });
});
