import type { JsonRecord } from "@acp-steering/kit/adapter";
import type { Opening, Place } from "../dialect.js";

type McpServer = Place["mcpServers"][number];

/** What Codex is told when a thread is begun, opened again or copied. */
export function threadParams(opening: Opening): JsonRecord {
  const { cwd, additionalDirectories } = opening;
  return {
    cwd,
    config: configOf(opening),
    ...(additionalDirectories.length > 0 && { runtimeWorkspaceRoots: [cwd, ...additionalDirectories] }),
    ...(opening.kind !== "new" && { threadId: opening.conversation.id, excludeTurns: true }),
  };
}

function configOf({ mcpServers }: Opening): JsonRecord {
  const servers = mcpServers.flatMap(toServer);
  return {
    // With a goal, Codex begins turns by itself when a prompt has been answered.
    "features.goals": false,
    ...(servers.length > 0 && { mcp_servers: Object.fromEntries(servers) }),
  };
}

function toServer(server: McpServer): [string, JsonRecord][] {
  const name = server.name.replaceAll(/[^\w-]/g, "_");
  if ("command" in server) {
    const { command, args, env } = server;
    return [[name, { command, args, env: pairsOf(env) }]];
  }
  return "url" in server ? [[name, { url: server.url, http_headers: pairsOf(server.headers) }]] : [];
}

function pairsOf(pairs: readonly { readonly name: string; readonly value: string }[]): JsonRecord {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
