import type { Dialect } from "../dialect.js";
import { deleteThread, listThreads } from "./codex-history.js";
import { CodexSession } from "./codex-session.js";
import { codexSignIn } from "./codex-sign-in.js";

/**
 * Codex' own server (`codex app-server`, `@openai/codex` 0.166). The schema that it prints, `codex app-server
 * generate-json-schema`, is the source.
 *
 * A steer breaks off what the model says, and waits for a tool that runs, or for a model that has not begun to answer.
 * What was broken off has been shown, but is not in the model's context any more. The settings of a session are told to
 * Codex with its next turn.
 */
export const codexAppServer: Dialect = {
  name: "codex-app-server",
  title: "Codex",
  install: "npm install -g @openai/codex",
  usage: "codex app-server",
  // A backtrace would stand in the place of what Codex says when it does not start.
  environment: { RUST_BACKTRACE: "0" },
  supports: { content: ["text", "image", "resource_link", "resource"], boundary: "nextStep" },
  promptCapabilities: { image: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: false },
  additionalDirectories: true,
  history: { reopens: ["load", "resume", "fork"], list: listThreads, delete: deleteThread },
  signIn: codexSignIn,
  session: (channel) => new CodexSession(channel),
};
