import type { Script } from "@acp-steering/testkit/model-server";
import { describe, expect, test } from "vitest";
import { PIS } from "./pis.js";
import { openStage as openPiStage, type Stage, type StageOptions, spawnPi, userTexts } from "./stage.js";

interface Option {
  readonly id: string;
  readonly currentValue: string;
  readonly options: { readonly value: string; readonly name: string }[];
}
interface Options {
  readonly configOptions: Option[];
}

describe.each(PIS)("settings and commands of the real Pi: $name", (pi) => {
  const openStage = (script: Script, options: StageOptions = {}): Promise<Stage> =>
    openPiStage(script, { ...options, pi });

  const valuesOf = ({ configOptions }: Options): Record<string, string> =>
    Object.fromEntries(configOptions.map(({ id, currentValue }) => [id, currentValue]));

  test("models and thinking levels are offered, and what is chosen counts for the next request", async () => {
    const { client, cwd, model } = await openStage([{ text: "Hello." }, { text: "Thought." }]);
    const opened = await client.request<Options & { sessionId: string }>("session/new", { cwd, mcpServers: [] });
    const { sessionId } = opened;
    expect(opened.configOptions).toMatchObject([
      {
        id: "model",
        category: "model",
        currentValue: "scripted/scripted",
        options: [
          { value: "scripted/scripted", name: "scripted" },
          { value: "scripted/thinker", name: "Thinker" },
        ],
      },
    ]);
    const set = (configId: string, value: string): Promise<Options> =>
      client.request("session/set_config_option", { sessionId, configId, value });
    const thinker = await set("model", "scripted/thinker");
    expect(thinker.configOptions.map(({ id }) => id)).toEqual(["model", "thinking"]);
    expect(thinker.configOptions[1]?.options.map(({ value }) => value)).toEqual(
      expect.arrayContaining(["off", "minimal", "low", "medium", "high"]),
    );
    expect(valuesOf(await set("thinking", "high"))).toEqual({ model: "scripted/thinker", thinking: "high" });
    await client.prompt(sessionId, "Think").answer;
    expect(model.requests.at(-1)?.model).toBe("thinker");
    expect(valuesOf(await set("model", "scripted/scripted"))).toEqual({ model: "scripted/scripted" });
  });

  test("there is no other choice than those offered", async () => {
    const { client, sessionId } = await openStage([]);
    const params = { sessionId, configId: "model", value: "scripted/absent" };
    await expect(client.request("session/set_config_option", params)).rejects.toMatchObject({ code: -32602 });
  });

  test("a setting can be changed in the middle of a turn", async () => {
    const bash = { toolCalls: [{ name: "bash", arguments: { command: "true" } }] };
    const { client, model, sessionId } = await openStage([
      { ...bash, hold: "first" },
      { text: "Done." },
      { text: "Next." },
    ]);
    const turn = client.prompt(sessionId, "Work");
    await model.held("first");
    await client.request("session/set_config_option", { sessionId, configId: "model", value: "scripted/thinker" });
    model.release("first");
    expect(await turn.answer).toMatchObject({ stopReason: "end_turn" });
    await client.prompt(sessionId, "Next").answer;
    expect(model.requests.at(-1)?.model).toBe("thinker");
  });

  test("a loaded session has the model that it was left with", async () => {
    const { client, configuration, cwd, sessionId } = await openStage([{ text: "Hello." }]);
    await client.request("session/set_config_option", { sessionId, configId: "model", value: "scripted/thinker" });
    await client.prompt(sessionId, "Hi").answer;
    await client.close();
    const later = await spawnPi(configuration, { pi });
    expect(valuesOf(await later.request<Options>("session/load", { sessionId, cwd, mcpServers: [] }))).toMatchObject({
      model: "scripted/thinker",
    });
  });

  test("what an extension sets is told to the client", async () => {
    const extension = `export default (pi) => {
      pi.registerCommand("hard", { description: "thinks hard", handler: async () => {
        pi.setThinkingLevel("high");
        pi.setSessionName("Hard thoughts");
      } });
    };`;
    const { client, sessionId } = await openStage([], { extension });
    await client.request("session/set_config_option", { sessionId, configId: "model", value: "scripted/thinker" });
    await client.request("session/set_config_option", { sessionId, configId: "thinking", value: "low" });
    await client.prompt(sessionId, "/hard").answer;
    const told = client.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "config_option_update");
    expect(valuesOf(told.at(-1) as unknown as Options)).toEqual({ model: "scripted/thinker", thinking: "high" });
    expect(client.updates(sessionId)).toContainEqual({ sessionUpdate: "session_info_update", title: "Hard thoughts" });
  });

  test("commands of extensions, templates and skills are announced, and run", async () => {
    const extension = `export default (pi) => {
      pi.registerCommand("greet", { description: "says hello", handler: async (args, ctx) => ctx.ui.notify("hello " + args) });
    };`;
    const skills = { tidy: "---\nname: tidy\ndescription: Tidies up\n---\n\nPut everything back.\n" };
    const templates = { fix: "---\ndescription: Fixes it\n---\nFix it well: $1" };
    const { client, model, sessionId } = await openStage([{ text: "Fixed." }], { extension, skills, templates });
    const update = await client.waitForUpdate("available_commands_update");
    expect(update["availableCommands"]).toEqual(
      expect.arrayContaining([
        { name: "greet", description: "says hello", input: { hint: "arguments" } },
        { name: "fix", description: "Fixes it", input: { hint: "arguments" } },
        { name: "skill:tidy", description: "Tidies up", input: { hint: "arguments" } },
      ]),
    );
    await client.prompt(sessionId, "/greet you").answer;
    expect(client.agentText(sessionId)).toBe("hello you");
    await client.prompt(sessionId, "/fix soon").answer;
    expect(userTexts(model)).toEqual([["Fix it well: soon"]]);
  });
});
