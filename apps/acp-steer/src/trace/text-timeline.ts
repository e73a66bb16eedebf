import type { Style } from "../style.js";
import { length, type Row, rangeOf, rowsOf } from "./rows.js";
import type { Span, Timeline, TracedTurn } from "./timeline.js";

const LABEL_WIDTH = 12;
const NOTE_WIDTH = 46;
const MAX_CHART_WIDTH = 100;

type Color = (text: string) => string;

const BAR: Readonly<Record<Row["kind"], string>> = {
  waits: "·",
  run: "━",
  continued: "━",
  says: "░",
  thinks: "·",
  tool: "█",
  question: "┅",
  steer: "─",
  cancel: " ",
};

const POINT = { asked: "○", accepted: "◎", delivered: "●", undelivered: "✕", cancel: "■" } as const;

/** The turns of a recording, one under the other, each as wide as the terminal. */
export function textTimeline({ command, started, turns, unreadable }: Timeline, style: Style): string {
  const { colors } = style;
  const steers = turns.reduce((sum, turn) => sum + turn.steers.length, 0);
  const head = `${colors.bold(command.join(" "))}, ${started}: ${count(turns.length, "turn")}, ${count(steers, "steer")}`;
  const rest = unreadable === 0 ? "" : `\n${count(unreadable, "line")} that held no message\n`;
  const legend = `${POINT.asked} sent  ${POINT.accepted} accepted  ${POINT.delivered} delivered  ${POINT.undelivered} not delivered  ${POINT.cancel} cancel`;
  return `${head}\n${turns.map((turn) => turnText(turn, style)).join("")}${rest}\n${colors.dim(legend)}\n`;
}

function turnText(turn: TracedTurn, { colors, width }: Style): string {
  const range = rangeOf(turn);
  const chart = Math.min(MAX_CHART_WIDTH, Math.max(20, width - LABEL_WIDTH - NOTE_WIDTH - 4));
  const title = `session ${turn.sessionId}, turn ${turn.number}: ${length(range.end - turn.begin)}, ${turn.ending ?? "not ended"}`;
  const text = turn.text === undefined ? "" : `  ${colors.dim(oneLine(turn.text, width - 2))}\n`;
  const lines = rowsOf(turn).map((row) => rowText(row, range, chart, colorOf(row.kind, colors)));
  const said = turn.steers.flatMap((steer, index) =>
    steer.text === undefined ? [] : [`  ${colors.dim(`steer ${index + 1}: ${oneLine(steer.text, width - 12)}`)}\n`],
  );
  return `\n${colors.bold(title)}\n${text}${axis(range, chart)}${lines.join("")}${said.join("")}`;
}

function rowText({ kind, label, bars, points, note }: Row, range: Required<Span>, chart: number, color: Color): string {
  const cells = new Array<string>(chart).fill(" ");
  const cellOf = (at: number): number =>
    Math.min(chart - 1, Math.max(0, Math.floor(((at - range.begin) / (range.end - range.begin)) * chart)));
  for (const bar of bars) cells.fill(BAR[kind], cellOf(bar.begin), cellOf(bar.end) + 1);
  for (const { at, what } of points) cells[cellOf(at)] = POINT[what];
  return `  ${label.slice(0, LABEL_WIDTH - 1).padEnd(LABEL_WIDTH)}${color(cells.join(""))}  ${note}`
    .trimEnd()
    .concat("\n");
}

function axis({ begin, end }: Required<Span>, chart: number): string {
  const [middle, last] = [length((end - begin) / 2), length(end - begin)];
  const half = Math.floor(chart / 2);
  return `  ${" ".repeat(LABEL_WIDTH)}${`0`.padEnd(half)}${middle.padEnd(chart - half - last.length)}${last}\n`;
}

function colorOf(kind: Row["kind"], colors: Style["colors"]): Color {
  const { blue, cyan, dim, green, magenta, red, yellow } = colors;
  return {
    waits: dim,
    run: blue,
    continued: cyan,
    says: dim,
    thinks: dim,
    tool: yellow,
    question: magenta,
    steer: green,
    cancel: red,
  }[kind];
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

function oneLine(text: string, width: number): string {
  const line = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1))}…`;
}
