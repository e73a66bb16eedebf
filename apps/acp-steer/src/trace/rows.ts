import type { Span, TracedSteer, TracedTurn } from "./timeline.js";

/** What a row shows: spans as bars, moments as points. Both pictures, of the terminal and of the page, draw these. */
export interface Row {
  readonly kind: "waits" | "run" | "continued" | "says" | "thinks" | "tool" | "question" | "steer" | "cancel";
  readonly label: string;
  readonly bars: readonly Required<Span>[];
  readonly points: readonly {
    readonly at: number;
    readonly what: "asked" | "accepted" | "delivered" | "undelivered" | "cancel";
  }[];
  /** What stands behind the bars. */
  readonly note: string;
}

/** What takes no longer than this has not waited for anything. */
const LONGEST_HAND_OVER_MS = 20;

/** The first and the last moment of a turn. */
export function rangeOf(turn: TracedTurn): Required<Span> {
  const ends = [turn.end, ...turn.runs.map(({ end }) => end), ...turn.steers.map(lastOf)].filter(
    (at) => at !== undefined,
  );
  return { begin: turn.asked, end: Math.max(turn.begin, ...ends, turn.asked + 1) };
}

/** The rows of a turn, from its prompt to its end. */
export function rowsOf(turn: TracedTurn): Row[] {
  const { end } = rangeOf(turn);
  const closed = (spans: readonly Span[]): Required<Span>[] =>
    spans.map((span) => ({ begin: span.begin, end: span.end ?? end }));
  const bars = (kind: Row["kind"], label: string, spans: readonly Span[], note = ""): Row[] =>
    spans.length === 0 ? [] : [{ kind, label, bars: closed(spans), points: [], note }];
  const waits = turn.begin - turn.asked >= LONGEST_HAND_OVER_MS ? [{ begin: turn.asked, end: turn.begin }] : [];
  const [first, ...continued] = turn.runs;
  return [
    ...bars(
      "waits",
      "waits",
      waits,
      waits.map(({ begin, end: until }) => `${length(until - begin)} for the turn before`)[0],
    ),
    ...bars("run", "run", first ? [first] : []),
    ...continued.flatMap((run) => bars("continued", "continued", [run], "with what was left")),
    ...bars("thinks", "thinks", turn.thinks),
    ...bars("says", "says", turn.says),
    ...turn.tools.flatMap((tool) =>
      bars("tool", tool.label, [tool], [tool.status, lengthOf(tool)].filter(Boolean).join(", ")),
    ),
    ...turn.questions.flatMap((question) =>
      bars(
        "question",
        question.what,
        [question],
        [question.answer ?? "no answer", lengthOf(question)].filter(Boolean).join(", "),
      ),
    ),
    ...turn.steers.map((steer, index) => steerRow(steer, index + 1, end)),
    ...turn.cancels.map(
      (at): Row => ({ kind: "cancel", label: "cancel", bars: [], points: [{ at, what: "cancel" }], note: "" }),
    ),
  ];
}

function steerRow(steer: TracedSteer, number: number, end: number): Row {
  const { asked, answered, outcome, delivered, undelivered } = steer;
  const last = delivered ?? undelivered?.at ?? (outcome === "injected" ? end : (answered ?? asked));
  return {
    kind: "steer",
    label: steer.by === "command" ? `/steer ${number}` : `steer ${number}`,
    bars: [{ begin: asked, end: last }],
    points: [
      { at: asked, what: "asked" },
      ...(outcome === "injected" && answered !== undefined ? [{ at: answered, what: "accepted" } as const] : []),
      ...(delivered === undefined ? [] : [{ at: delivered, what: "delivered" } as const]),
      ...(undelivered === undefined ? [] : [{ at: undelivered.at, what: "undelivered" } as const]),
    ],
    note: steerNote(steer),
  };
}

function steerNote({ asked, answered, outcome, handedOver, delivered, assumed, undelivered }: TracedSteer): string {
  const parts = [answered === undefined ? "no answer" : `${outcome} after ${length(answered - asked)}`];
  if (handedOver !== undefined) parts.push(`at the agent after ${length(handedOver - asked)}`);
  if (delivered !== undefined) parts.push(`delivered after ${length(delivered - asked)}${assumed ? ", assumed" : ""}`);
  if (undelivered) parts.push(`not delivered: ${undelivered.reason}`);
  return parts.join(", ");
}

const lastOf = ({ answered, delivered, undelivered }: TracedSteer): number | undefined =>
  undelivered?.at ?? delivered ?? answered;

const lengthOf = ({ begin, end }: Span): string => (end === undefined ? "not ended" : length(end - begin));

/** A duration, for people. */
export const length = (milliseconds: number): string =>
  milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(2)} s`;
