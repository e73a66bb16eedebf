import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiConnection } from "./kimi-server.js";

const TIMEOUT_MS = 1_000;

/**
 * The process that runs a turn of this session in another Kimi server of the same home, as Kimi's own web view has one.
 * Kimi notes its servers in its home, and all of one home have the same token.
 */
export async function runsElsewhere(
  connection: KimiConnection,
  home: string,
  sessionId: string,
): Promise<number | undefined> {
  for (const { host, port, pid } of await instancesIn(home)) {
    if (port === connection.port) continue;
    const session = await connection
      .neighbour(textOf(host), Number(port))
      .get(`/api/v1/sessions/${encodeURIComponent(sessionId)}`, TIMEOUT_MS)
      // Most likely it has ended without a word.
      .catch(() => undefined);
    if (recordOf(session)["busy"] === true) return Number(pid);
  }
  return undefined;
}

async function instancesIn(home: string): Promise<JsonRecord[]> {
  const folder = join(home, "server", "instances");
  const names = await readdir(folder).catch(() => []);
  const files = names.filter((name) => name.endsWith(".json")).map((name) => readInstance(join(folder, name)));
  return (await Promise.all(files)).filter(isRecord);
}

async function readInstance(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}
