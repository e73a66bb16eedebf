import type { ModelRequest, ReplyToolCall } from "../model-server/index.js";

/** How the scripted model says, in the words of one agent's tools, what it wants done. */
export interface Toolbox {
  list(): ReplyToolCall;
  read(file: string): ReplyToolCall;
  /** Both are the whole text of the file: one line, without its LF and without single quotes. */
  rewrite(file: string, oldLine: string, newLine: string): ReplyToolCall;
  run(command: string): ReplyToolCall;
}

/** Chooses the tools for an agent by what it offers the model; `undefined`: the model only talks. */
export type ToolboxFor = (request: ModelRequest) => Toolbox | undefined;

interface OfferedTool {
  readonly name: string;
  readonly properties: readonly string[];
}

const SHELL_NAMES = ["bash", "shell", "terminal", "run_command", "execute_command", "run_shell_command", "exec"];

/** Everything through the agent's shell tool, which nearly every coding agent has, under one name or another. */
export const shellToolbox: ToolboxFor = (request) => {
  const shell = offeredTools(request).find(
    ({ name, properties }) => SHELL_NAMES.includes(name.toLowerCase()) && properties.includes("command"),
  );
  if (shell === undefined) return undefined;
  const run = (command: string): ReplyToolCall => ({ name: shell.name, arguments: { command } });
  return {
    run,
    list: () => run("ls -R"),
    read: (file) => run(`cat ${file}`),
    rewrite: (file, _, newLine) => run(`echo '${newLine}' > ${file}`),
  };
};

/** The tools that a chat-completions request offers. */
export function offeredTools(request: ModelRequest): readonly OfferedTool[] {
  const { tools } = request.body as { tools?: unknown };
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: { function?: { name?: unknown; parameters?: { properties?: object } } }) => {
    const name = tool?.function?.name;
    if (typeof name !== "string") return [];
    return [{ name, properties: Object.keys(tool.function?.parameters?.properties ?? {}) }];
  });
}
