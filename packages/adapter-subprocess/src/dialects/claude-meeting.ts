import { homedir } from "node:os";
import type { JsonRecord } from "@acp-steering/kit/adapter";
import type { Agent, Channel, Visit } from "../dialect.js";
import { ClaudeControl } from "./claude-control.js";

/** The arguments with which Claude Code is driven by a program. */
export const DRIVEN: readonly string[] = [
  "--print",
  ...["--input-format", "stream-json"],
  ...["--output-format", "stream-json"],
  "--verbose",
  "--include-partial-messages",
  ...["--permission-prompt-tool", "stdio"],
];

/** What Claude Code says of itself, by a child that lives for this question. */
export function meetClaude(agent: Agent): Promise<JsonRecord> {
  const talk = (channel: Channel): Visit<JsonRecord> => {
    const control = new ClaudeControl(channel);
    return { listener: control, answer: control.request("initialize") };
  };
  return agent.visit(homedir(), talk, DRIVEN);
}
