import type { Agent, Dialect, Opening } from "../dialect.js";
import { PiSession } from "./pi-session.js";
import { deleteSession, findSessionFile, listSessions } from "./pi-store.js";

/** Pi takes a path or an id; an id that belongs to another folder would make it ask a person. */
async function argumentsOf(opening: Opening, agent: Agent): Promise<readonly string[]> {
  if (opening.kind === "new") return [];
  const { file, id } = opening.conversation;
  const path = file ?? (await findSessionFile(id, agent, opening.cwd));
  return [opening.kind === "fork" ? "--fork" : "--session", path];
}

/**
 * The Pi coding agent in RPC mode (`pi --mode rpc`): `@mariozechner/pi-coding-agent` 0.73 and its successor
 * `@earendil-works/pi-coding-agent` 1.6. Their docs/rpc.md are the source.
 *
 * A steer takes effect at the next step: after the running tool calls, before the next model request, one steer a step
 * or all at once as the user's `steeringMode` says. The adapter leaves that setting alone, since Pi would save it for
 * every other use of Pi as well.
 */
export const piRpc: Dialect = {
  name: "pi-rpc",
  title: "Pi",
  install: "npm install -g @earendil-works/pi-coding-agent",
  usage: "pi --mode rpc",
  supports: { content: ["text", "image", "resource_link", "resource"], boundary: "nextStep" },
  promptCapabilities: { image: true, embeddedContext: true },
  history: { reopens: ["load", "resume", "fork"], list: listSessions, delete: deleteSession },
  arguments: argumentsOf,
  session: (channel, agent) => new PiSession(channel, agent),
};
