import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Dialect, ReplyPart, StreamWriter } from "./dialect.js";
import type { Exchange } from "./exchange.js";
import type { Holds } from "./holds.js";
import type { HoldPoint, Reply, ReplyError } from "./reply.js";
import { isProse, partsOf } from "./reply-parts.js";
import type { ModelRequest } from "./request.js";
import { malformedLike } from "./sse.js";

interface Performance {
  readonly exchange: Exchange;
  readonly dialect: Dialect;
  readonly request: ModelRequest;
  readonly reply: Reply;
  readonly holds: Holds;
}

const pause = async (milliseconds: number | undefined, signal: AbortSignal): Promise<void> => {
  if (milliseconds !== undefined && milliseconds > 0) await sleep(milliseconds, undefined, { signal });
};

const holdAt = async (points: readonly HoldPoint[], performance: Performance): Promise<void> => {
  const { reply, holds, request, exchange } = performance;
  if (reply.hold === undefined || !points.includes(reply.holdAt ?? "start")) return;
  await holds.hold(reply.hold, request, exchange.signal);
};

const IN_CONTENT: readonly HoldPoint[] = ["afterFirstChunk", "afterText", "beforeLastChunk", "beforeEnd"];

/** How many parts are sent before a hold in the content; all of them where there is none. */
const partsBefore = (point: HoldPoint | undefined, parts: readonly ReplyPart[]): number => {
  switch (point) {
    case "afterFirstChunk":
      return Math.min(1, parts.length);
    case "afterText":
      return parts.filter(isProse).length;
    case "beforeLastChunk":
      return Math.max(0, parts.length - 1);
    default:
      return parts.length;
  }
};

/** What is sent before a cut: all of it, but of the last tool call only its beginning. */
const beforeCut = (parts: readonly ReplyPart[]): readonly ReplyPart[] =>
  parts.at(-1)?.kind === "toolArguments" ? parts.slice(0, -1) : parts;

const playEnd = async (writer: StreamWriter, { exchange, reply }: Performance): Promise<void> => {
  if (reply.cut === true) return exchange.cut();
  await exchange.write(reply.streamError === undefined ? writer.end() : writer.fail(reply.streamError));
  await exchange.end();
};

const playStream = async (answer: Answer, performance: Performance): Promise<void> => {
  const { exchange, reply } = performance;
  const writer = performance.dialect.stream(answer);
  const parts = reply.cut === true ? beforeCut(answer.parts) : answer.parts;
  const send = async (from: number, to: number): Promise<void> => {
    for (const [offset, part] of parts.slice(from, to).entries()) {
      const isFirst = from + offset === 0;
      await pause(isFirst ? 0 : reply.chunkDelayMs, exchange.signal);
      const events = writer.part(part);
      await exchange.write(events);
      if (isFirst && reply.malformed === true) await exchange.write(malformedLike(events));
    }
  };
  exchange.openStream();
  await holdAt(["afterHeaders"], performance);
  await exchange.write(writer.open());
  const count = partsBefore(reply.holdAt, parts);
  await send(0, count);
  await holdAt(IN_CONTENT, performance);
  await send(count, parts.length);
  await playEnd(writer, performance);
};

const playError = async ({ exchange, dialect }: Performance, error: ReplyError): Promise<void> => {
  const { status, retryAfterSeconds } = error;
  const headers = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  await exchange.sendJson(status, dialect.error(error), headers);
};

const playWhole = async (answer: Answer, performance: Performance): Promise<void> => {
  const { exchange, dialect, reply } = performance;
  if (reply.holdAt === "afterHeaders") exchange.openJson();
  await holdAt(["afterHeaders", ...IN_CONTENT], performance);
  if (reply.streamError !== undefined) return playError(performance, reply.streamError);
  const body = dialect.whole(answer);
  if (reply.cut === true) return exchange.cutJson(body);
  await (reply.malformed === true ? exchange.sendHalfJson(body) : exchange.sendJson(200, body));
};

/** Gives one reply, in time; rejects when the connection ends first. */
export const playReply = async (performance: Performance): Promise<void> => {
  const { exchange, request, reply } = performance;
  await holdAt(["start"], performance);
  await pause(reply.delayMs, exchange.signal);
  if (reply.cut === "start") return exchange.destroy();
  if (reply.error !== undefined) return playError(performance, reply.error);
  const answer: Answer = { request, reply, parts: partsOf(reply, request.index) };
  await (request.stream ? playStream : playWhole)(answer, performance);
};
