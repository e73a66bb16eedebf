import type { ReplyToolCall } from "./reply.js";
import type { ModelRequest, ModelTool } from "./request.js";

const NAMES = [
  "bash",
  "shell",
  "shell_command",
  "terminal",
  "exec",
  "exec_command",
  "execute_command",
  "run_command",
  "run_shell_command",
];
const PARAMETERS = ["command", "cmd"];

/** What agents with a sandbox have a model say when a command is to run outside of it, which they ask the user about. */
const OUTSIDE_SANDBOX: Readonly<Record<string, unknown>> = {
  sandbox_permissions: "require_escalated",
  with_escalated_permissions: true,
};

const askingArguments = (names: readonly string[]): Readonly<Record<string, unknown>> => {
  const escalations = Object.entries(OUTSIDE_SANDBOX).filter(([name]) => names.includes(name));
  if (escalations.length === 0) return {};
  const isJustified = names.includes("justification");
  return { ...Object.fromEntries(escalations), ...(isJustified && { justification: "Shall this command be run?" }) };
};

const propertiesOf = ({ parameters }: ModelTool): Readonly<Record<string, { readonly type?: unknown }>> =>
  (parameters["properties"] ?? {}) as Readonly<Record<string, { readonly type?: unknown }>>;

/**
 * The call by which a model would run a command in the agent's own shell tool, under whatever name the agent offers it.
 *
 * @param request what the agent asked, with the tools that it offers
 * @param command a command line for `sh`
 * @param options `asking`: where the agent has a sandbox, ask for the command to be run outside of it, so that the agent
 *   asks its user
 * @returns the call, or `undefined` when no shell tool that is known by its name is offered
 * @example
 * ```ts
 * const script: Script = (request) => ({ toolCalls: [shellCall(request, "ls -R") ?? { name: "none", arguments: {} }] });
 * ```
 */
export const shellCall = (
  request: Pick<ModelRequest, "tools">,
  command: string,
  { asking = false }: { readonly asking?: boolean } = {},
): ReplyToolCall | undefined => {
  for (const tool of request.tools) {
    const properties = propertiesOf(tool);
    const parameter = PARAMETERS.find((name) => properties[name] !== undefined);
    if (parameter === undefined || !NAMES.includes(tool.name.toLowerCase())) continue;
    const isList = properties[parameter]?.type === "array";
    const more = asking ? askingArguments(Object.keys(properties)) : {};
    return { name: tool.name, arguments: { [parameter]: isList ? ["sh", "-c", command] : command, ...more } };
  }
  return undefined;
};
