import { type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiConnection } from "./kimi-server.js";

/** What a session has beyond its folder. */
export interface SessionExtras {
  readonly mcpServers: JsonRecord;
  readonly additionalDirectories: readonly string[];
}

/** One session, as `session/list` names it. */
export interface ListedSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly updatedAt: string;
}

const PAGE_SIZE = 50;

/** The path of a session in Kimi's REST interface. */
export function sessionPath(sessionId: string): string {
  return `/api/v1/sessions/${encodeURIComponent(sessionId)}`;
}

/** Begins a session; gives its id. */
export async function createSession({ api }: KimiConnection, cwd: string, extras: SessionExtras): Promise<string> {
  if (!hasExtras(extras)) return textOf(recordOf(await api.post("/api/v1/sessions", { metadata: { cwd } }))["id"]);
  const { mcpServers, additionalDirectories } = extras;
  const wishes = { workDir: cwd, additionalDirs: additionalDirectories, mcpServers };
  return textOf(recordOf(await api.post("/api/v1/debug/sessionManager/create", [wishes]))["id"]);
}

/**
 * Has Kimi take a session into its memory.
 * @throws KimiRefusal where there is no such session
 */
export async function resumeSession({ api }: KimiConnection, sessionId: string, extras: SessionExtras): Promise<void> {
  // It knows of the session first: an unknown one is an error here, but not below.
  if (!hasExtras(extras)) {
    await api.get(`${sessionPath(sessionId)}/status`);
    return;
  }
  await api.get(sessionPath(sessionId));
  const { mcpServers, additionalDirectories } = extras;
  await api.post("/api/v1/debug/sessionManager/resume", [
    sessionId,
    { mcpServers, additionalDirs: additionalDirectories },
  ]);
}

/**
 * Ends what a session does in the background. Kimi keeps the session itself in its memory: a server that has closed one
 * tells nothing of it any more when it is resumed (seen with 2.1.0).
 */
export async function endTasks({ api }: KimiConnection, sessionId: string): Promise<void> {
  const path = `${sessionPath(sessionId)}/tasks`;
  const tasks = listOf(recordOf(await api.get(`${path}?status=running`))["items"]).map(recordOf);
  await Promise.allSettled(tasks.map(({ id }) => api.post(`${path}/${encodeURIComponent(textOf(id))}:cancel`)));
}

/** A new session with the messages of another; gives its id. */
export async function forkSession({ api }: KimiConnection, sessionId: string, extras: SessionExtras): Promise<string> {
  const forked = textOf(recordOf(await api.post(`${sessionPath(sessionId)}:fork`))["id"]);
  // Kimi gives MCP servers and folders to a session only as it takes it into its memory.
  if (hasExtras(extras)) await api.post("/api/v1/debug/sessionManager/close", [forked]);
  return forked;
}

export async function deleteSession({ api }: KimiConnection, sessionId: string): Promise<void> {
  await api.post(`${sessionPath(sessionId)}:delete`);
}

/** One page of the sessions, the newest first; `cursor` is the last id of the page before. */
export async function listSessions(
  { api }: KimiConnection,
  cursor: string | undefined,
): Promise<{ sessions: ListedSession[]; nextCursor: string | null }> {
  const before = cursor === undefined ? "" : `&before_id=${encodeURIComponent(cursor)}`;
  const page = recordOf(await api.get(`/api/v1/sessions?page_size=${PAGE_SIZE}${before}`));
  const items = listOf(page["items"]).map(recordOf);
  const last = textOf(items.at(-1)?.["id"]);
  return { sessions: items.map(toListed), nextCursor: page["has_more"] === true && last !== "" ? last : null };
}

function hasExtras({ mcpServers, additionalDirectories }: SessionExtras): boolean {
  return Object.keys(mcpServers).length > 0 || additionalDirectories.length > 0;
}

function toListed({ id, title, metadata, updated_at }: JsonRecord): ListedSession {
  return {
    sessionId: textOf(id),
    cwd: textOf(recordOf(metadata)["cwd"]),
    title: textOf(title) || null,
    updatedAt: textOf(updated_at),
  };
}
