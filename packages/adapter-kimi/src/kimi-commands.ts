import type { ContentBlock } from "@acp-steering/core";
import type { VendorSession } from "@acp-steering/kit";
import { type JsonRecord, listOf, numberOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiApi } from "./kimi-api.js";
import type { KimiSettings } from "./kimi-settings.js";

type Command = NonNullable<VendorSession["commands"]>[number];

/** A prompt that begins with a command of Kimi's. */
export type KimiCommandCall =
  | { readonly kind: "skill"; readonly name: string; readonly args: string }
  | { readonly kind: "builtin"; readonly name: BuiltinName; readonly args: string };

type BuiltinName = "compact" | "status" | "usage" | "mcp" | "tasks" | "help";

const BUILTINS: readonly (Command & { readonly name: BuiltinName })[] = [
  {
    name: "compact",
    description: "Summarise the conversation to make room",
    input: { hint: "what the summary should keep" },
  },
  { name: "status", description: "Show model, mode and folder of this session" },
  { name: "usage", description: "Show how many tokens this session has used" },
  { name: "mcp", description: "Show the MCP servers of this session" },
  { name: "tasks", description: "Show the background tasks of this session" },
  { name: "help", description: "Show these commands" },
];

/** The slash commands of one session: some of Kimi's own, and the skills that the user may start. */
export class KimiCommands {
  readonly #path: string;
  readonly #sessionId: string;
  readonly #skills: ReadonlyMap<string, string>;
  /** As they are announced. */
  readonly list: readonly Command[];

  static async read(api: KimiApi, path: string, sessionId: string): Promise<KimiCommands> {
    const found = recordOf(await api.get(`${path}/skills`));
    return new KimiCommands(path, sessionId, listOf(found["skills"]).map(recordOf).filter(isForUsers));
  }

  private constructor(path: string, sessionId: string, skills: readonly JsonRecord[]) {
    this.#path = path;
    this.#sessionId = sessionId;
    const named = skills.map((skill) => ({ command: commandOf(skill), skill: textOf(skill["name"]), from: skill }));
    const free = named.filter(({ command }) => !BUILTINS.some(({ name }) => name === command));
    this.#skills = new Map(free.map(({ command, skill }) => [command, skill]));
    const descriptions = free.map(({ command, from }) => ({ name: command, description: textOf(from["description"]) }));
    this.list = [...BUILTINS, ...descriptions];
  }

  /** The command that a prompt of text alone begins with. What Kimi does not know is a prompt like any other. */
  find(prompt: readonly ContentBlock[]): KimiCommandCall | undefined {
    const [first, ...others] = prompt;
    if (first?.type !== "text" || others.length > 0) return undefined;
    const [, name = "", args = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(first.text) ?? [];
    const skill = this.#skills.get(name);
    if (skill !== undefined) return { kind: "skill", name: skill, args: args.trim() };
    const builtin = BUILTINS.find((command) => command.name === name);
    return builtin && { kind: "builtin", name: builtin.name, args: args.trim() };
  }

  /** Carries a command out that needs no model, and says what to tell the user. */
  async run(
    { name, args }: Extract<KimiCommandCall, { kind: "builtin" }>,
    { api, settings }: { readonly api: KimiApi; readonly settings: KimiSettings },
  ): Promise<string> {
    switch (name) {
      case "compact":
        await api.post(`${this.#path}:compact`, args === "" ? {} : { instruction: args });
        return "Kimi is summarising the conversation.";
      case "status":
        return this.#status(api, settings);
      case "usage":
        return this.#usage(api);
      case "mcp":
        return this.#mcpServers(api);
      case "tasks":
        return this.#tasks(api);
      case "help":
        return this.list.map((command) => `/${command.name}: ${command.description}`).join("\n");
    }
  }

  async #status(api: KimiApi, { model, mode, thinking }: KimiSettings): Promise<string> {
    const { title, metadata } = recordOf(await api.get(this.#path));
    return [
      `Session: ${this.#sessionId}`,
      ...(textOf(title) === "" ? [] : [`Title: ${textOf(title)}`]),
      `Model: ${model || "none"} (thinking: ${thinking})`,
      `Mode: ${mode}`,
      `Folder: ${textOf(recordOf(metadata)["cwd"])}`,
    ].join("\n");
  }

  async #usage(api: KimiApi): Promise<string> {
    const { context_tokens, max_context_tokens } = recordOf(await api.get(`${this.#path}/status`));
    const [used, size] = [numberOf(context_tokens), numberOf(max_context_tokens)];
    return size > 0
      ? `Context: ${used} of ${size} tokens (${Math.round((used / size) * 100)} %)`
      : `Context: ${used} tokens`;
  }

  async #mcpServers(api: KimiApi): Promise<string> {
    const path = `/api/v1/debug/session/${encodeURIComponent(this.#sessionId)}/agent/main/agentMcpService/list`;
    const servers = listOf(await api.post(path, [])).map(recordOf);
    if (servers.length === 0) return "This session has no MCP servers.";
    const lines = servers.map(({ name, transport, status, toolCount, error }) => {
      const why = textOf(error) === "" ? "" : `: ${textOf(error)}`;
      return `${textOf(name)} (${textOf(transport)}): ${textOf(status)}, ${numberOf(toolCount)} tools${why}`;
    });
    return lines.join("\n");
  }

  async #tasks(api: KimiApi): Promise<string> {
    const found = recordOf(await api.get(`${this.#path}/tasks`));
    const tasks = listOf(found["items"]).map(recordOf);
    if (tasks.length === 0) return "This session has no background tasks.";
    return tasks.map(({ description, status }) => `${textOf(description)}: ${textOf(status)}`).join("\n");
  }
}

/** Some skills are for the model alone, some for Kimi's own screens. */
function isForUsers({ type, scopes }: JsonRecord): boolean {
  return scopes === undefined && (type === undefined || type === "inline" || type === "prompt" || type === "flow");
}

/** As Kimi's own screens name them: what comes with Kimi, and parts of a skill, by their name, others after `skill:`. */
function commandOf({ name, source }: JsonRecord): string {
  return source === "builtin" ? textOf(name) : `skill:${textOf(name)}`;
}
