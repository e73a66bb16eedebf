import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { ToolEndEvent } from "./bridge-protocol.js";
import { resultValue } from "./result-value.js";

/** The most of a result that an editor is shown, in characters. */
export const RESULT_CHARACTERS = 8_000;

/** A result as an editor shows it: Markdown, long ones cut with a note of how much is missing. */
export function resultText({ name, result, length }: Pick<ToolEndEvent, "name" | "result" | "length">): string {
  const value = resultValue(result);
  const whole = length > result.length;
  const shown = isRecord(value) && !whole ? presented(name, value) : fenced(result, whole ? length : result.length);
  return shown;
}

const PRESENTERS: ReadonlyMap<string, (value: JsonRecord) => string> = new Map([
  ["terminal", commandOutput],
  ["execute_code", commandOutput],
  ["process", commandOutput],
  ["read_file", fileText],
  ["search_files", searchMatches],
  ["web_search", webResults],
]);

function presented(name: string, value: JsonRecord): string {
  const error = textOf(value["error"]);
  const text = PRESENTERS.get(name)?.(value) ?? "";
  if (text !== "") return error === "" ? text : `${text}\n\n${error}`;
  return error === "" ? fenced(JSON.stringify(value, null, 2)) : error;
}

function commandOutput(value: JsonRecord): string {
  const output = textOf(value["output"]);
  const exitCode = value["exit_code"];
  const ended = typeof exitCode === "number" && exitCode !== 0 ? `Exit code ${exitCode}` : "";
  return [output === "" ? "" : fenced(output), ended].filter(Boolean).join("\n\n");
}

/** Hermes numbers the lines of a file for its model: `12|text`. An editor has line numbers of its own. */
function fileText(value: JsonRecord): string {
  const content = textOf(value["content"]);
  return content === "" ? "" : fenced(content.replaceAll(/^ *\d+\|/gm, ""));
}

function searchMatches(value: JsonRecord): string {
  const dense = textOf(value["matches_text"]);
  if (dense !== "") return fenced(dense);
  const lines = [
    ...listOf(value["files"]).map(textOf),
    ...listOf(value["matches"]).map(recordOf).map(matchLine),
    ...Object.entries(recordOf(value["counts"])).map(([path, count]) => `${path}: ${String(count)}`),
  ];
  return lines.length > 0 ? fenced(lines.join("\n")) : "Nothing found";
}

function matchLine({ path, line, content }: JsonRecord): string {
  return `${textOf(path)}:${String(line)}: ${textOf(content)}`;
}

function webResults(value: JsonRecord): string {
  return listOf(recordOf(value["data"])["web"])
    .map(recordOf)
    .map(({ title, url }) => `- [${textOf(title)}](${textOf(url)})`)
    .join("\n");
}

/** @param length of the whole text, where `text` has been cut already */
function fenced(text: string, length: number = text.length): string {
  if (text.trim() === "") return "";
  const shown = text.slice(0, RESULT_CHARACTERS);
  const note = length > shown.length ? `\n\n${length - shown.length} of ${length} characters are not shown.` : "";
  // A fence that the text itself cannot close.
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${shown.replace(/\n$/, "")}\n${fence}${note}`;
}
