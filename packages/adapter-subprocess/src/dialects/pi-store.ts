import { readdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CODE } from "@acp-steering/core/protocol";
import type { Vendor } from "@acp-steering/kit";
import { VendorError } from "@acp-steering/kit";
import { type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { Agent, Channel, Listener } from "../dialect.js";
import { PiCommands } from "./pi-commands.js";
import { dismissDialog } from "./pi-dialogs.js";
import { plainText, readMessage, readState } from "./pi-records.js";
import { type PiSessionHeader, readEntries, readHeader } from "./pi-session-file.js";
import { asTyped } from "./pi-skills.js";

type List = NonNullable<Vendor["list"]>;
type SessionInfo = Awaited<ReturnType<List>>["sessions"][number];

interface SessionFile extends PiSessionHeader {
  readonly path: string;
  readonly modified: Date;
}

/** How many sessions the client is given at once: each costs the reading of its file. */
const PAGE = 50;
const TITLE_LENGTH = 100;

/** Pi's sessions on disk, the last used first. */
export async function listSessions({ cwd, cursor }: Parameters<List>[0], agent: Agent): ReturnType<List> {
  const files = (await sessionFiles(agent, cwd ?? undefined)).filter((file) => !cwd || file.cwd === cwd);
  const first = Number(cursor ?? 0) || 0;
  const page = files.slice(first, first + PAGE);
  const sessions: SessionInfo[] = [];
  for (const file of page) sessions.push(await describe(file));
  const next = first + PAGE;
  return { sessions, ...(next < files.length && { nextCursor: String(next) }) };
}

/**
 * The file of a session.
 * @throws VendorError -32002 where Pi has no such session
 */
export async function findSessionFile(sessionId: string, agent: Agent, cwd?: string): Promise<string> {
  const file = (await sessionFiles(agent, cwd)).find(({ id }) => id === sessionId);
  if (file) return file.path;
  throw new VendorError(`Pi has no session ${sessionId}. List the sessions that there are, or open a new one.`, {
    code: CODE.notFound,
    data: { sessionId },
  });
}

/** Pi itself knows a session as gone when its file is. */
export async function deleteSession(sessionId: string, agent: Agent): Promise<void> {
  await unlink(await findSessionFile(sessionId, agent));
}

/** Where Pi keeps the sessions of a folder, asked once: its settings, environment and flags can all change it. */
const folders = new WeakMap<Agent, Map<string, string>>();

/** Keeps what a child of a session has said of the place of its sessions. */
export function rememberSessionFolder(agent: Agent, cwd: string, sessionFile: string | undefined): void {
  if (sessionFile === undefined) return;
  const known = folders.get(agent) ?? new Map<string, string>();
  folders.set(agent, known.set(cwd, dirname(sessionFile)));
}

async function sessionFiles(agent: Agent, cwd: string | undefined): Promise<SessionFile[]> {
  const folder = await sessionFolder(agent, cwd);
  const files: SessionFile[] = [];
  for (const path of folder === undefined ? [] : await filesIn(await foldersBeside(folder))) {
    const header = await readHeader(path);
    if (header) files.push({ ...header, path, modified: (await stat(path)).mtime });
  }
  return files.sort((left, right) => right.modified.getTime() - left.modified.getTime());
}

async function sessionFolder(agent: Agent, cwd: string | undefined): Promise<string | undefined> {
  const known = folders.get(agent);
  const folder = cwd === undefined ? known?.values().next().value : known?.get(cwd);
  if (folder !== undefined) return folder;
  const place = cwd !== undefined && (await isFolder(cwd)) ? cwd : process.cwd();
  const { sessionFile } = readState(await agent.visit(place, askForState));
  rememberSessionFolder(agent, cwd ?? place, sessionFile);
  return sessionFile && dirname(sessionFile);
}

function askForState(channel: Channel): { listener: Listener; answer: Promise<unknown> } {
  const commands = new PiCommands(channel);
  const listener: Listener = {
    receive: (record: JsonRecord) => {
      if (record["type"] === "response") commands.receive(record);
      else dismissDialog(channel, record);
    },
    ended: (error) => commands.ended(error),
  };
  return { listener, answer: commands.send("get_state") };
}

/** Pi has a folder of sessions for each working folder, beside each other, unless the user set one for all. */
async function foldersBeside(folder: string): Promise<string[]> {
  if (!/^--.*--$/.test(basename(folder))) return [folder];
  const parent = dirname(folder);
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(parent, name));
}

async function filesIn(all: readonly string[]): Promise<string[]> {
  const names = await Promise.all(
    all.map(async (folder) => (await readdir(folder).catch(() => [])).map((name) => join(folder, name))),
  );
  return names.flat().filter((path) => path.endsWith(".jsonl"));
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false;
}

async function describe({ id, cwd, path, modified }: SessionFile): Promise<SessionInfo> {
  const title = titleOf(await readEntries(path));
  return { sessionId: id, cwd, updatedAt: modified.toISOString(), ...(title !== "" && { title }) };
}

/** The name that the user gave it, else its first words. */
function titleOf(entries: readonly JsonRecord[]): string {
  const named = entries.findLast(({ type }) => type === "session_info");
  const name = textOf(named?.["name"]).trim();
  if (name !== "") return name;
  const messages = entries.map((entry) => readMessage(recordOf(entry["message"])));
  const first = messages.find(({ role }) => role === "user");
  const words = first ? asTyped(plainText(first)).replaceAll(/\s+/g, " ").trim() : "";
  return words.length > TITLE_LENGTH ? `${words.slice(0, TITLE_LENGTH - 1)}…` : words;
}
