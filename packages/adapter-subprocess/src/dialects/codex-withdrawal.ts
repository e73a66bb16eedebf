import { readFile } from "node:fs/promises";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { CodexCalls } from "./codex-calls.js";

/** Some of what the user said in a thread. */
export interface Withdrawal {
  /** The turn of Codex' in which the first of it stands. */
  readonly turnId: string;
  /** The names under which it was given to Codex. */
  readonly clientIds: readonly string[];
}

/**
 * Takes messages of the user's out of a thread: all from their turn on is taken back, and what the model had and gave
 * beside them is put there again. Codex has no request that takes one message back. What its own list shows of these
 * turns is lost with that; what the model knows of them is not.
 *
 * @throws CodexRefusal, or an Error when Codex' file of the thread is not as expected; the thread is unchanged then
 */
export async function withdraw(calls: CodexCalls, threadId: string, { turnId, clientIds }: Withdrawal): Promise<void> {
  const { thread } = await calls.request("thread/read", { threadId });
  const items = keptItems(await readFile(textOf(recordOf(thread)["path"]), "utf8"), turnId, clientIds);
  await calls.request("thread/revert", { threadId, beforeTurnId: turnId });
  if (items.length > 0) await calls.request("thread/inject_items", { threadId, items });
}

/**
 * What the model had and gave since a turn began, in Codex' own shape.
 *
 * @param rollout the text of Codex' file of the thread, a record a line
 * @param turnId the turn; what Codex itself says at its beginning is left out, since it says that again
 * @param withoutClientIds the messages that are left out
 */
export function keptItems(rollout: string, turnId: string, withoutClientIds: readonly string[]): JsonRecord[] {
  const records = rollout.split("\n").filter(Boolean).map(parse);
  const start = records.findIndex(
    ({ type, payload }) => type === "turn_context" && recordOf(payload)["turn_id"] === turnId,
  );
  if (start < 0) throw new Error(`Codex' file has no turn ${turnId}`);
  const kept: JsonRecord[] = [];
  for (const { type, payload } of records.slice(start)) {
    if (type === "response_item" && isRecord(payload)) kept.push(payload);
    // The name of a message comes in a record of its own, behind the message.
    else if (withoutClientIds.includes(clientIdOf(payload))) kept.splice(kept.findLastIndex(isUserMessage), 1);
  }
  return kept;
}

function parse(line: string): JsonRecord {
  return recordOf(JSON.parse(line));
}

function clientIdOf(payload: unknown): string {
  return textOf(recordOf(recordOf(payload)["item"])["client_id"]);
}

function isUserMessage({ type, role }: JsonRecord): boolean {
  return type === "message" && role === "user";
}
