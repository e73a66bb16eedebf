import { randomUUID } from "node:crypto";
import type { JsonRecord } from "@acp-steering/kit/adapter";
import type { Agent, Opening, Place } from "../dialect.js";
import { DRIVEN } from "./claude-meeting.js";
import { findSessionFile } from "./claude-store.js";

const names = new WeakMap<Opening, string>();

/** The id of the session that an opening leads to. A new one gets its id from us. */
export function sessionIdOf(opening: Opening): string {
  if (opening.kind === "load" || opening.kind === "resume") return opening.conversation.id;
  const sessionId = names.get(opening) ?? randomUUID();
  names.set(opening, sessionId);
  return sessionId;
}

/** @throws VendorError -32002 where Claude Code has no such session */
export async function argumentsOf(opening: Opening, agent: Agent): Promise<readonly string[]> {
  const folders = opening.additionalDirectories.flatMap((folder) => ["--add-dir", folder]);
  return [...DRIVEN, ...(await conversationArguments(opening, agent)), ...folders];
}

async function conversationArguments(opening: Opening, agent: Agent): Promise<readonly string[]> {
  if (opening.kind === "new") return ["--session-id", sessionIdOf(opening)];
  const { id, upTo } = opening.conversation;
  await findSessionFile(id, agent);
  const named = opening.kind === "fork" ? ["--fork-session", "--session-id", sessionIdOf(opening)] : [];
  return ["--resume", id, ...(upTo === undefined ? [] : ["--resume-session-at", upTo]), ...named];
}

/** The client's MCP servers, as Claude Code is given them once it runs: arguments are no place for their secrets. */
export function serversOf({ mcpServers }: Place): JsonRecord {
  return Object.fromEntries(mcpServers.flatMap(toServer));
}

function toServer(server: Place["mcpServers"][number]): [string, JsonRecord][] {
  if ("command" in server) {
    const { name, command, args, env } = server;
    return [[name, { type: "stdio", command, args, env: pairsOf(env) }]];
  }
  if (!("url" in server)) return [];
  return [[server.name, { type: server.type, url: server.url, headers: pairsOf(server.headers) }]];
}

function pairsOf(pairs: readonly { readonly name: string; readonly value: string }[]): JsonRecord {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
