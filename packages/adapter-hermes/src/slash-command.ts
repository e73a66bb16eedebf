import type { ContentBlock } from "@acp-steering/core";
import type { VendorSession } from "@acp-steering/kit";
import type { BridgeCommand } from "./bridge-protocol.js";

export interface SlashCommand {
  readonly name: string;
  readonly args: string;
}

/** One of Hermes' slash commands, where the prompt is nothing else. Any other `/word` is for the model. */
export function slashCommandOf(
  prompt: readonly ContentBlock[],
  commands: readonly BridgeCommand[],
): SlashCommand | undefined {
  const [block, ...others] = prompt;
  if (block?.type !== "text" || others.length > 0) return undefined;
  const [, name = "", args = ""] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(block.text.trim()) ?? [];
  return commands.some((command) => command.name === name) ? { name, args: args.trim() } : undefined;
}

/** Hermes' commands as ACP announces them. */
export function announcedCommands(commands: readonly BridgeCommand[]): NonNullable<VendorSession["commands"]> {
  return commands.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
}
