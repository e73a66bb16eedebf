import { type ModelRequest, type ReplyToolCall, shellCall } from "../model-server/index.js";

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

/** Everything through the agent's shell tool, which nearly every coding agent has, under one name or another. */
export const shellToolbox: ToolboxFor = (request) => {
  if (shellCall(request, "true") === undefined) return undefined;
  const run = (command: string): ReplyToolCall => shellCall(request, command) as ReplyToolCall;
  return {
    run,
    list: () => run("ls -R"),
    read: (file) => run(`cat ${file}`),
    rewrite: (file, _, newLine) => run(`echo '${newLine}' > ${file}`),
  };
};
