import type { Turn } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, recordOf, textOf } from "@acp-steering/kit/adapter";
import type { KimiApi } from "./kimi-api.js";
import { KimiTool, planOf } from "./kimi-tools.js";
import type { ToolIds } from "./tool-ids.js";

type SessionUpdate = Parameters<Turn["update"]>[0];

const PAGE_SIZE = 100;

/** All messages of a session, the oldest first. */
export async function readHistory(api: KimiApi, path: string): Promise<JsonRecord[]> {
  const pages: JsonRecord[][] = [];
  for (let before = ""; ; ) {
    const query = `page_size=${PAGE_SIZE}${before === "" ? "" : `&before_id=${encodeURIComponent(before)}`}`;
    const page = recordOf(await api.get(`${path}/messages?${query}`));
    const items = listOf(page["items"]).filter(isRecord);
    pages.push(items);
    before = textOf(items.at(-1)?.["id"]);
    if (page["has_more"] !== true || before === "") break;
  }
  return pages.flat().reverse();
}

export interface ReplayOptions {
  readonly replay: (update: SessionUpdate) => void;
  readonly cwd: string;
  readonly toolIds: ToolIds;
}

/** Gives a session's messages to the client, as they were shown when they came. */
export function replayHistory(messages: readonly JsonRecord[], { replay, cwd, toolIds }: ReplayOptions): void {
  const tools = new Map<string, KimiTool>();
  for (const message of messages) {
    const id = textOf(message["id"]);
    for (const part of userParts(message))
      replay({ sessionUpdate: "user_message_chunk", messageId: id, content: part });
    if (message["role"] === "user") continue;
    for (const part of listOf(message["content"])) replayPart(recordOf(part), id);
  }

  function replayPart(part: JsonRecord, messageId: string): void {
    switch (part["type"]) {
      case "text":
        replay({ sessionUpdate: "agent_message_chunk", messageId, content: textContent(part["text"]) });
        break;
      case "thinking":
        replay({ sessionUpdate: "agent_thought_chunk", messageId, content: textContent(part["thinking"]) });
        break;
      case "tool_use":
        replayCall(part);
        break;
      case "tool_result": {
        const tool = tools.get(textOf(part["tool_call_id"]));
        if (tool) replay(tool.ended(part["output"], part["is_error"] === true));
        break;
      }
    }
  }

  function replayCall(part: JsonRecord): void {
    const name = textOf(part["tool_name"]);
    const plan =
      name === "TodoList" ? planOf({ kind: "todo_list", items: recordOf(part["input"])["todos"] }) : undefined;
    if (plan) return replay(plan);
    if (name === "AskUserQuestion") return;
    const callId = textOf(part["tool_call_id"]);
    const tool = new KimiTool(toolIds.next(callId), name, cwd);
    tools.set(callId, tool);
    replay({
      ...tool.card({ name, args: part["input"] }),
      sessionUpdate: "tool_call",
      title: name,
      status: "in_progress",
    });
  }
}

type Content = Extract<SessionUpdate, { sessionUpdate: "user_message_chunk" }>["content"];

function textContent(text: unknown): Content {
  return { type: "text", text: textOf(text) };
}

/** Kimi keeps its reminders to the model and what tasks tell it as messages of the user too; their origin says so. */
function userParts(message: JsonRecord): Content[] {
  if (message["role"] !== "user") return [];
  const origin = recordOf(recordOf(message["metadata"])["origin"]);
  if (origin["kind"] === "skill_activation") {
    if (origin["trigger"] !== "user-slash") return [];
    return [textContent(`/${textOf(origin["skillName"])} ${textOf(origin["skillArgs"])}`.trim())];
  }
  if (origin["kind"] !== undefined && origin["kind"] !== "user") return [];
  return listOf(message["content"]).flatMap((part) => userPart(recordOf(part)));
}

function userPart(part: JsonRecord): Content[] {
  if (part["type"] === "text") return part["text"] === "" ? [] : [textContent(part["text"])];
  if (part["type"] !== "image") return [];
  const { kind, media_type: mimeType, data } = recordOf(part["source"]);
  return kind === "base64"
    ? [{ type: "image", mimeType: textOf(mimeType), data: textOf(data) }]
    : [textContent("[image]")];
}
