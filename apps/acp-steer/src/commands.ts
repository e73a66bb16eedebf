import type { CommandEntry } from "./command.js";

/** All commands, in the order in which the help shows them. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "check",
    summary: "what the steering of an agent is worth: a table of requirements",
    load: async () => (await import("./check/check-command.js")).checkCommand,
  },
  {
    name: "wrap",
    summary: "an agent that can be steered, of any ACP agent",
    load: async () => (await import("./wrap/wrap-command.js")).wrapCommand,
  },
  {
    name: "trace",
    summary: "a turn as a timeline, of what wrap --record wrote",
    load: async () => (await import("./trace/trace-command.js")).traceCommand,
  },
];
