/** Claude Code's session files: entries that form a tree, each naming its parent, among others that are no messages. */

import { readFile } from "node:fs/promises";
import { isRecord, type JsonRecord, recordOf, textOf } from "@acp-steering/kit/adapter";
import { textIn } from "./claude-content.js";

const TITLE_LENGTH = 100;

/** All entries in the order of the file; lines that are none are left out. */
export async function readEntries(file: string): Promise<JsonRecord[]> {
  return (await readFile(file, "utf8")).split("\n").flatMap(parsed);
}

/** The entries from the beginning to the present, without the branches that were left. A compaction goes on behind it. */
export function currentBranch(entries: readonly JsonRecord[]): JsonRecord[] {
  const unseen = new Map(entries.filter(isOfConversation).map((entry) => [entry["uuid"], entry]));
  const branch: JsonRecord[] = [];
  for (let id = [...unseen.keys()].at(-1); ; ) {
    const entry = unseen.get(id);
    if (!entry) break;
    unseen.delete(id);
    branch.push(entry);
    id = entry["parentUuid"] ?? entry["logicalParentUuid"];
  }
  return branch.reverse();
}

/** What the user typed as a message, without what Claude Code put there in the user's name. */
export function typedText({ message, isMeta, isCompactSummary }: JsonRecord): string {
  const text = textIn(recordOf(message)["content"]);
  const [, command] = /^<command-name>(.*?)<\/command-name>/.exec(text) ?? [];
  const [, args] = /<command-args>(.*?)<\/command-args>/s.exec(text) ?? [];
  if (command !== undefined) return `${command} ${args ?? ""}`.trim();
  return isMeta === true || isCompactSummary === true || OWN_WORDS.test(text) ? "" : text;
}

/** The folder that a session was held in, and the name that the user or a model gave it, else its first words. */
export function summaryOf(entries: readonly JsonRecord[]): { cwd: string; title: string } {
  const cwd = textOf(entries.find(({ cwd: folder }) => typeof folder === "string")?.["cwd"]);
  const named = ["customTitle", "aiTitle"]
    .map((name) => textOf(entries.findLast((entry) => typeof entry[name] === "string")?.[name]))
    .find((title) => title !== "");
  return { cwd, title: named ?? firstWords(entries) };
}

/** What Claude Code itself says in messages of the user's. */
const OWN_WORDS = /^(\[Request interrupted by user|<local-command-|<system-reminder>|<task-notification>)/;

function firstWords(entries: readonly JsonRecord[]): string {
  const typed = entries.filter(({ type, isSidechain }) => type === "user" && isSidechain !== true).map(typedText);
  const words = (typed.find((text) => text !== "") ?? "").replaceAll(/\s+/g, " ").trim();
  return words.length > TITLE_LENGTH ? `${words.slice(0, TITLE_LENGTH - 1)}…` : words;
}

function isOfConversation({ uuid, isSidechain }: JsonRecord): boolean {
  return typeof uuid === "string" && isSidechain !== true;
}

function parsed(line: string): JsonRecord[] {
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) ? [entry] : [];
  } catch {
    return [];
  }
}
