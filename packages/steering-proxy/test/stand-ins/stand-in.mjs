// @ts-nocheck: it plays a peer on the wire, whose messages have no types.
// A small coding agent that is steered as one of the vendors' agents is: `node stand-in.mjs goose`. It asks the
// chat-completions model at OPENAI_BASE_URL.
import { DIALECTS } from "./dialects.mjs";
import { Session } from "./session.mjs";
import { refusal, serve } from "./wire.mjs";

const [name] = process.argv.slice(2);
const dialect = DIALECTS[name];
const sessions = new Map();

const sessionOf = ({ sessionId }) => {
  const session = sessions.get(sessionId);
  if (!session) throw refusal(-32002, "no such session", { sessionId });
  return session;
};

const steered = Object.entries(dialect.methods).map(([method, handler]) => [
  method,
  (params) => handler(sessionOf(params), params),
]);

serve({
  initialize: () => ({
    protocolVersion: 1,
    agentInfo: { name: dialect.name ?? `stand-in-${name}`, version: "1.0.0" },
    agentCapabilities: {
      promptCapabilities: { image: true, embeddedContext: true },
      sessionCapabilities: { close: {} },
      ...(dialect.capabilitiesMeta && { _meta: dialect.capabilitiesMeta }),
    },
    ...(dialect.meta && { _meta: dialect.meta }),
  }),
  "session/new": ({ cwd }) => {
    const session = new Session(cwd, dialect);
    sessions.set(session.id, session);
    if (dialect.commands)
      setImmediate(() =>
        session.update({ sessionUpdate: "available_commands_update", availableCommands: dialect.commands }),
      );
    return { sessionId: session.id };
  },
  "session/prompt": (params) => {
    const session = sessionOf(params);
    return session.run && dialect.command ? dialect.command(session, params.prompt) : session.prompt(params.prompt);
  },
  "session/cancel": (params) => sessions.get(params.sessionId)?.cancel(),
  "session/close": (params) => {
    sessionOf(params).cancel();
    sessions.delete(params.sessionId);
    return {};
  },
  ...Object.fromEntries(steered),
});
