import { METHOD } from "@acp-steering/core/protocol";
import {
  isObject,
  type JsonObject,
  objectAt,
  type RecordedMessage,
  type RecordingHead,
  textAt,
} from "../record/recording.js";
import type { Timeline } from "./timeline.js";
import { TraceSession } from "./trace-session.js";

/** Reads a recording in the order in which it was written. */
export async function traceOf(entries: AsyncIterable<RecordingHead | RecordedMessage>): Promise<Timeline> {
  const sessions = new Map<string, TraceSession>();
  let head: RecordingHead | undefined;
  let unreadable = 0;
  const sessionOf = (id: string): TraceSession => {
    const session = sessions.get(id) ?? new TraceSession(id);
    sessions.set(id, session);
    return session;
  };
  for await (const entry of entries) {
    if ("recording" in entry) head = entry;
    else if (entry.message === undefined) unreadable += 1;
    else read(entry.at, entry.flow, entry.message, sessionOf, [...sessions.values()]);
  }
  const turns = [...sessions.values()]
    .flatMap((session) => session.turns)
    .sort((one, other) => one.begin - other.begin);
  return { command: head?.command ?? [], started: head?.started ?? "", turns, unreadable };
}

function read(
  at: number,
  flow: RecordedMessage["flow"],
  message: JsonObject,
  sessionOf: (id: string) => TraceSession,
  sessions: readonly TraceSession[],
): void {
  const { method, params } = message;
  const sessionId = textAt(params, "sessionId");
  const session = sessionId === undefined ? undefined : sessionOf(sessionId);
  if (method === undefined) {
    for (const one of sessions) {
      if (flow === "toClient") one.answered(at, message);
      if (flow === "fromAgent") one.ran(at, message);
      if (flow === "fromClient") one.replied(at, message);
    }
    return;
  }
  if (!session) return;
  if (flow === "fromClient") fromClient(at, message, session);
  if (flow === "toAgent") session.sent(at, message);
  if (flow === "toClient") toClient(at, message, session);
}

function fromClient(at: number, message: JsonObject, session: TraceSession): void {
  if (message["method"] === METHOD.prompt) session.prompted(at, message);
  else if (message["method"] === METHOD.steering) session.steered(at, message);
  else if (message["method"] === METHOD.cancel) session.cancelled(at);
  else session.other(message);
}

function toClient(at: number, message: JsonObject, session: TraceSession): void {
  const { method, params } = message;
  if (method === METHOD.update) session.updated(at, objectAt(params, "update"));
  else if (method === METHOD.receipt && isObject(params)) session.told(at, params);
  else if (method === METHOD.permission || method === METHOD.elicitation) session.asked(at, message);
}
