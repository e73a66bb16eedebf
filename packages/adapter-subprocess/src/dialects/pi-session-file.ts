/** Pi's session files: a header, then entries that form a tree, each naming its parent. The last entry is the present. */

import { randomBytes } from "node:crypto";
import { appendFile, open, readFile } from "node:fs/promises";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";

/** The first line of a session file. */
export interface PiSessionHeader {
  readonly id: string;
  readonly cwd: string;
}

/** More than any header has. */
const HEADER_BYTES = 65_536;

/** @returns `undefined` where the file is not there or no session */
export async function readHeader(file: string): Promise<PiSessionHeader | undefined> {
  const [line = ""] = (await readBeginning(file)).split("\n", 1);
  const header = recordOf(parsed(line));
  const id = textOf(header["id"]);
  return header["type"] === "session" && id !== "" ? { id, cwd: textOf(header["cwd"]) } : undefined;
}

/** All entries in the order of the file; lines that are none are left out. */
export async function readEntries(file: string): Promise<JsonRecord[]> {
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines
    .map(parsed)
    .filter((entry) => isRecord(entry) && typeof entry["id"] === "string" && !isHeader(entry)) as JsonRecord[];
}

/** The entries from the beginning to the present, without the branches that were left. */
export function currentBranch(entries: readonly JsonRecord[]): JsonRecord[] {
  const unseen = new Map(entries.map((entry) => [entry["id"], entry]));
  const branch: JsonRecord[] = [];
  for (let id = entries.at(-1)?.["id"]; ; ) {
    const entry = unseen.get(id);
    if (!entry) break;
    unseen.delete(id);
    branch.push(entry);
    id = entry["parentId"];
  }
  return branch.reverse();
}

/**
 * Leaves the last user messages of a session behind, in Pi's own way: an entry without meaning that hangs on the entry
 * before them is the present when Pi loads the file the next time. Only while Pi does not write to it.
 *
 * @throws Error when there are not as many
 */
export async function leaveUserMessages(file: string, count: number): Promise<void> {
  const branch = currentBranch(await readEntries(file));
  const first = branch.filter(isUserMessage).at(-count);
  if (!first) throw new Error("Pi's session file does not have the messages that Pi spoke of");
  const entry = {
    type: "custom",
    customType: "acp-steering",
    id: randomBytes(4).toString("hex"),
    parentId: first["parentId"],
    timestamp: new Date().toISOString(),
  };
  await appendFile(file, `${JSON.stringify(entry)}\n`);
}

function isUserMessage(entry: JsonRecord): boolean {
  return entry["type"] === "message" && recordOf(entry["message"])["role"] === "user";
}

function isHeader(entry: JsonRecord): boolean {
  return entry["type"] === "session";
}

async function readBeginning(file: string): Promise<string> {
  try {
    const handle = await open(file);
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
