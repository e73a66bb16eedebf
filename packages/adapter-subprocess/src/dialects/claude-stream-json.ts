import type { Dialect } from "../dialect.js";
import { argumentsOf } from "./claude-opening.js";
import { ClaudeSession } from "./claude-session.js";
import { claudeSignIn } from "./claude-sign-in.js";
import { deleteSession, listSessions } from "./claude-store.js";

/**
 * Claude Code, driven by a program (`claude --print` with `stream-json` both ways): 2.1. The types of
 * `@anthropic-ai/claude-agent-sdk` and what it says when it runs are the source.
 *
 * A steer breaks off what the model says; while a tool runs it waits for that. Claude Code tells of each message when it
 * has it, when it stands before the model, and when it is done with it.
 */
export const claudeStreamJson: Dialect = {
  name: "claude-stream-json",
  title: "Claude Code",
  install: "npm install -g @anthropic-ai/claude-code",
  usage: "claude",
  // What runs in the background begins a turn when it ends, which nobody has asked for.
  environment: { CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1" },
  supports: { content: ["text", "image", "resource_link", "resource"], boundary: "now" },
  promptCapabilities: { image: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  additionalDirectories: true,
  history: { reopens: ["load", "resume", "fork"], list: listSessions, delete: deleteSession },
  signIn: claudeSignIn,
  arguments: argumentsOf,
  session: (channel, agent) => new ClaudeSession(channel, agent),
};
