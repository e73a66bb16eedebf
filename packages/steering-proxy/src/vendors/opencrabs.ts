import { agentName, asInPrompts, type Dialect } from "./dialect.js";

/** opencrabs takes a steer as a notification, which nothing answers. */
export const opencrabs: Dialect = {
  name: "opencrabs",
  delivery: "assumed",
  boundary: "nextStep",
  recognises: (result) => agentName(result) === "opencrabs",
  content: asInPrompts,
  connect: (agent) => ({
    steer: async ({ sessionId, prompt }) => {
      agent.notify("session/steer", { sessionId, prompt });
      return "accepted";
    },
  }),
};
