import { readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CODE } from "@acp-steering/core/protocol";
import type { Vendor } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { textOf } from "@acp-steering/kit/adapter";
import type { Agent } from "../dialect.js";
import { meetClaude } from "./claude-meeting.js";
import { readEntries, summaryOf } from "./claude-session-file.js";

type List = NonNullable<Vendor["list"]>;
type SessionInfo = Awaited<ReturnType<List>>["sessions"][number];

interface SessionFile {
  readonly path: string;
  readonly modified: Date;
}

/** How many sessions the client is given at once: each costs the reading of its file. */
const PAGE = 50;

/** Claude Code's sessions on disk, the last used first. */
export async function listSessions({ cwd, cursor }: Parameters<List>[0], agent: Agent): ReturnType<List> {
  const files = await sessionFiles(agent, cwd ?? undefined);
  const first = Number(cursor ?? 0) || 0;
  const sessions: SessionInfo[] = [];
  for (const file of files.slice(first, first + PAGE)) sessions.push(...(await describe(file)));
  const next = first + PAGE;
  const wanted = cwd ? sessions.filter((session) => session.cwd === cwd) : sessions;
  return { sessions: wanted, ...(next < files.length && { nextCursor: String(next) }) };
}

/**
 * The file of a session.
 * @throws VendorError -32002 where Claude Code has no such session
 */
export async function findSessionFile(sessionId: string, agent: Agent): Promise<string> {
  const file = (await sessionFiles(agent)).find(({ path }) => basename(path) === `${sessionId}.jsonl`);
  if (file) return file.path;
  throw new VendorError(
    `Claude Code has no session ${sessionId}. List the sessions that there are, or open a new one.`,
    { code: CODE.notFound, data: { sessionId } },
  );
}

/** A session's subagents and large results are in a folder of its name beside it. */
export async function deleteSession(sessionId: string, agent: Agent): Promise<void> {
  const file = await findSessionFile(sessionId, agent);
  await rm(file);
  await rm(join(dirname(file), sessionId), { recursive: true, force: true });
}

/** Where Claude Code keeps its sessions, asked once: its environment can change it. */
const folders = new WeakMap<Agent, Promise<string>>();

function projectsFolder(agent: Agent): Promise<string> {
  const known = folders.get(agent);
  if (known) return known;
  const folder = meetClaude(agent).then(({ user_output_styles_dir: styles }) =>
    join(dirname(textOf(styles)), "projects"),
  );
  folders.set(agent, folder);
  folder.catch(() => folders.delete(agent));
  return folder;
}

async function sessionFiles(agent: Agent, cwd?: string): Promise<SessionFile[]> {
  const folder = await projectsFolder(agent);
  const projects = cwd === undefined ? await readdir(folder).catch(() => []) : [projectName(cwd)];
  const paths = await Promise.all(projects.map((project) => filesIn(join(folder, project))));
  const files = await Promise.all(paths.flat().map(async (path) => ({ path, modified: (await stat(path)).mtime })));
  return files.sort((left, right) => right.modified.getTime() - left.modified.getTime());
}

/** How Claude Code names the folder for the sessions of a working folder. */
function projectName(cwd: string): string {
  return cwd.replaceAll(/[^a-zA-Z0-9]/g, "-");
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => name.endsWith(".jsonl")).map((name) => join(folder, name));
}

async function describe({ path, modified }: SessionFile): Promise<SessionInfo[]> {
  const { cwd, title } = summaryOf(await readEntries(path));
  // A session in which nothing was said has no folder yet.
  if (cwd === "") return [];
  const sessionId = basename(path, ".jsonl");
  return [{ sessionId, cwd, updatedAt: modified.toISOString(), ...(title !== "" && { title }) }];
}
