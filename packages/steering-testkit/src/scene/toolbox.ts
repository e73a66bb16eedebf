import type { ModelRequest, ReplyToolCall } from "../model-server/index.js";

/** How the scripted model says, in the words of one agent's tools, what it wants done. */
export interface Toolbox {
  list(): ReplyToolCall;
  read(file: string): ReplyToolCall;
  replace(file: string, oldText: string, newText: string): ReplyToolCall;
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
    replace: (file, oldText, newText) => run(replaceCommand(file, oldText, newText)),
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

// Node is there wherever this runs, and its arguments need no escaping beyond the quotes that the story never uses.
function replaceCommand(file: string, oldText: string, newText: string): string {
  const program = `const fs=require("fs");const [f,a,b]=process.argv.slice(1);fs.writeFileSync(f,fs.readFileSync(f,"utf8").replaceAll(a,b))`;
  return `node -e '${program}' '${file}' '${oldText}' '${newText}'`;
}
