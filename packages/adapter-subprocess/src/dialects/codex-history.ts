import type { Vendor } from "@acp-steering/kit";
import { isRecord, type JsonRecord, listOf, numberOf, textOf } from "@acp-steering/kit/adapter";
import type { Agent } from "../dialect.js";
import { CodexCalls } from "./codex-calls.js";

type List = NonNullable<Vendor["list"]>;
type SessionInfo = Awaited<ReturnType<List>>["sessions"][number];

/** Codex' threads, the last used first. */
export async function listThreads({ cwd, cursor }: Parameters<List>[0], agent: Agent): ReturnType<List> {
  const { data, nextCursor } = await ask(agent, "thread/list", {
    ...(cwd && { cwd }),
    ...(cursor && { cursor }),
    sortKey: "updated_at",
  });
  return {
    sessions: listOf(data).filter(isRecord).map(toInfo),
    ...(typeof nextCursor === "string" && { nextCursor }),
  };
}

export async function deleteThread(threadId: string, agent: Agent): Promise<void> {
  await ask(agent, "thread/delete", { threadId });
}

/** Asks a server that lives for this question. */
export function ask(agent: Agent, method: string, params: JsonRecord): Promise<JsonRecord> {
  return agent.visit(process.cwd(), (channel) => {
    const calls = new CodexCalls(channel);
    return { listener: calls, answer: calls.introduce().then(() => calls.request(method, params)) };
  });
}

function toInfo({ id, cwd, name, preview, updatedAt }: JsonRecord): SessionInfo {
  const title = textOf(name) || textOf(preview);
  return {
    sessionId: textOf(id),
    cwd: textOf(cwd),
    updatedAt: new Date(numberOf(updatedAt) * 1_000).toISOString(),
    ...(title !== "" && { title }),
  };
}
