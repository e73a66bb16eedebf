import type { Turn } from "@acp-steering/kit";

/** One `session/update` of ACP. */
export type SessionUpdate = Parameters<Turn["update"]>[0];

export type ToolContent = NonNullable<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>["content"]>[number];
