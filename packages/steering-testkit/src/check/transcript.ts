import { isTold, type ModelRequest } from "../model-server/index.js";
import type { WireRecord } from "../wire-record.js";
import type { TranscriptLine } from "./check-report.js";

const MAX_LINE = 4_000;
const MAX_LINES = 1_000;

/**
 * What went over the wire, and to the model meanwhile, in order; the middle of a very long one is left out.
 *
 * @param endedAt up to when requests to the model belong to it, in milliseconds since the epoch
 */
export function transcriptOf(
  records: readonly WireRecord[],
  requests: readonly ModelRequest[],
  endedAt: number,
): readonly TranscriptLine[] {
  const beganAt = records[0]?.at ?? 0;
  const meanwhile = requests.filter(({ at }) => at >= beganAt && at <= endedAt);
  const lines = [
    ...records.map(({ at, direction, raw }): TranscriptLine => ({ at: at - beganAt, direction, raw: cut(raw) })),
    ...meanwhile.map((request): TranscriptLine => {
      const raw = cut(JSON.stringify({ request: request.index, new: newMessages(request) }));
      return { at: request.at - beganAt, direction: "model", raw };
    }),
  ].sort((one, other) => one.at - other.at);
  return middleOut(lines);
}

/** What came beyond the history: everything after the last message of the model. */
function newMessages({ messages }: ModelRequest): readonly { readonly role: string; readonly text: string }[] {
  const from = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return messages
    .filter((_, index) => index >= from && isTold(messages, index))
    .map(({ role, text }) => ({ role, text }));
}

const cut = (raw: string): string =>
  raw.length <= MAX_LINE ? raw : `${raw.slice(0, MAX_LINE)} … (${raw.length} characters)`;

function middleOut(lines: readonly TranscriptLine[]): readonly TranscriptLine[] {
  if (lines.length <= MAX_LINES) return lines;
  const half = MAX_LINES / 2;
  const head = lines.slice(0, half);
  const gap: TranscriptLine = {
    at: head.at(-1)?.at ?? 0,
    direction: "in",
    raw: `… ${lines.length - MAX_LINES} lines left out`,
  };
  return [...head, gap, ...lines.slice(-half)];
}
