import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, Dialect, ReplyPart } from "./dialect.js";
import type { Exchange } from "./exchange.js";
import type { Holds } from "./holds.js";
import type { Reply } from "./reply.js";
import { isProse, partsOf } from "./reply-parts.js";
import type { ModelRequest } from "./request.js";

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

const holdAt = async (point: "start" | "afterText", performance: Performance): Promise<void> => {
  const { reply, holds, request, exchange } = performance;
  if (reply.hold === undefined || (reply.holdAt ?? "start") !== point) return;
  await holds.hold(reply.hold, request, exchange.signal);
};

/** What is sent before a cut: all of it, but of the last tool call only its beginning. */
const beforeCut = (parts: readonly ReplyPart[]): readonly ReplyPart[] =>
  parts.at(-1)?.kind === "toolArguments" ? parts.slice(0, -1) : parts;

const playStream = async (answer: Answer, performance: Performance): Promise<void> => {
  const { exchange, dialect, reply } = performance;
  const writer = dialect.stream(answer);
  const send = async (parts: readonly ReplyPart[]): Promise<void> => {
    for (const part of parts) {
      await pause(part === answer.parts[0] ? 0 : reply.chunkDelayMs, exchange.signal);
      await exchange.write(writer.part(part));
    }
  };
  const parts = reply.cut === true ? beforeCut(answer.parts) : answer.parts;
  exchange.openStream();
  await exchange.write(writer.open());
  await send(parts.filter(isProse));
  await holdAt("afterText", performance);
  await send(parts.filter((part) => !isProse(part)));
  if (reply.cut === true) return exchange.cut();
  await exchange.write(writer.end());
  await exchange.end();
};

const playWhole = async (answer: Answer, performance: Performance): Promise<void> => {
  const { exchange, dialect, reply } = performance;
  await holdAt("afterText", performance);
  const body = dialect.whole(answer);
  await (reply.cut === true ? exchange.cutJson(body) : exchange.sendJson(200, body));
};

/** Gives one reply, in time; rejects when the connection ends first. */
export const playReply = async (performance: Performance): Promise<void> => {
  const { exchange, dialect, request, reply } = performance;
  await holdAt("start", performance);
  await pause(reply.delayMs, exchange.signal);
  if (reply.error !== undefined) return exchange.sendJson(reply.error.status, dialect.error(reply.error));
  const answer: Answer = { request, reply, parts: partsOf(reply, request.index) };
  await (request.stream ? playStream : playWhole)(answer, performance);
};
