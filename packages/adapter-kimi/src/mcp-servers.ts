import type { Vendor } from "@acp-steering/kit";
import type { JsonRecord } from "@acp-steering/kit/adapter";

type McpServers = Parameters<Vendor["open"]>[0]["mcpServers"];

/** MCP servers that the client gives a session, as Kimi's engine takes them. */
export function toKimiMcpServers(servers: McpServers): JsonRecord {
  return Object.fromEntries(servers.flatMap((server) => toKimiMcpServer(server)));
}

function toKimiMcpServer(server: McpServers[number]): [string, JsonRecord][] {
  if (!("type" in server)) {
    const { name, command, args, env } = server;
    // Kimi can run tools in several places; this process is the one called local.
    return [[name, { transport: "stdio", command, args, env: toRecord(env), runtime_id: "local" }]];
  }
  if (server.type !== "http" && server.type !== "sse") return [];
  const { name, url, headers } = server;
  return [[name, { transport: server.type, url, headers: toRecord(headers) }]];
}

function toRecord(pairs: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}
