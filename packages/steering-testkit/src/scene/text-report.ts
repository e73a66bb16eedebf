import pc from "picocolors";
import type { Check, Report, SceneEvent } from "./scene-event.js";
import { timelineOf } from "./timeline.js";

type Colors = ReturnType<typeof pc.createColors>;
type MessageEvent = Extract<SceneEvent, { type: "message" }>;

/** Where a {@link textReport} writes, and how. */
export interface TextReportOptions {
  /** Receives one line at a time, without its LF. */
  readonly writeLine: (line: string) => void;
  readonly color: boolean;
  /** Longer lines are cut, in characters. */
  readonly width: number;
}

interface Layout {
  readonly lanes: Readonly<Record<string, string>>;
  readonly timeWidth: number;
  readonly timeUnit: string;
  readonly nameWidth: number;
}

const WIDE: Layout = {
  lanes: {
    "client agent": "client ──▶ agent          ",
    "agent client": "client ◀── agent          ",
    "agent model": "           agent ──▶ model",
    "model agent": "           agent ◀── model",
  },
  timeWidth: 6,
  timeUnit: " ms",
  nameWidth: 26,
};
// What a terminal of 80 columns has room for.
const NARROW: Layout = {
  lanes: {
    "client agent": "client → agent",
    "agent client": "agent → client",
    "agent model": "agent → model ",
    "model agent": "model → agent ",
  },
  timeWidth: 5,
  timeUnit: "",
  nameWidth: 25,
};
const NARROW_BELOW = 120;
const TITLE_WIDTH = 66;
const MIN_DETAIL_WIDTH = 20;
const MARKS: Readonly<Record<Check["verdict"], string>> = { true: "✓", false: "✗", unverified: "?" };

/** Shows a scene to a person: one aligned line for each message, then the timeline and what was checked. */
export function textReport({ writeLine, color, width }: TextReportOptions): Report {
  const colors = pc.createColors(color);
  const checks: Check[] = [];
  let unfinished: MessageEvent | undefined;

  const flush = (): void => {
    if (unfinished !== undefined) writeLine(messageLine(unfinished, colors, width));
    unfinished = undefined;
  };
  return (event) => {
    const joined = joinChunks(unfinished, event);
    if (joined !== undefined) {
      unfinished = joined;
      return;
    }
    flush();
    if (event.type === "message" && event.chunk === true) unfinished = event;
    else if (event.type === "message") writeLine(messageLine(event, colors, width));
    else if (event.type === "cast") for (const line of castLines(event)) writeLine(colors.dim(line));
    else if (event.type === "step") for (const line of ["", colors.bold(event.title), ""]) writeLine(line);
    else if (event.type === "check") checks.push(event);
    else for (const line of summaryLines(event, checks, colors, width)) writeLine(line);
  };
}

// Agents stream a word at a time; a line for each would hide what happens.
function joinChunks(unfinished: MessageEvent | undefined, event: SceneEvent): MessageEvent | undefined {
  if (unfinished === undefined || event.type !== "message" || event.chunk !== true) return undefined;
  if (unfinished.name !== event.name || unfinished.from !== event.from) return undefined;
  return { ...unfinished, text: unfinished.text + event.text };
}

function messageLine(event: MessageEvent, colors: Colors, width: number): string {
  const { lanes, timeWidth, timeUnit, nameWidth } = width < NARROW_BELOW ? NARROW : WIDE;
  const time = `${String(event.at).padStart(timeWidth)}${timeUnit}`;
  const lane = lanes[`${event.from} ${event.to}`] ?? "";
  const name = event.name.padEnd(nameWidth);
  const text = cut(oneLine(event.text), width - `${time}  ${lane}  ${name}  `.length);
  const say = event.about === "steer" ? (shown: string): string => colors.bold(colors.yellow(shown)) : plain;
  return `${colors.dim(time)}  ${laneColor(event, colors)(lane)}  ${say(name)}  ${say(text)}`.trimEnd();
}

function laneColor({ from, to }: MessageEvent, colors: Colors): (text: string) => string {
  if (from === "model" || to === "model") return colors.magenta;
  return from === "client" ? colors.cyan : colors.green;
}

const castLines = ({ agent, model }: Extract<SceneEvent, { type: "cast" }>): readonly string[] => [
  "client  a small ACP client, in this process",
  `agent   ${agent}`,
  `model   scripted, at ${model}`,
];

function summaryLines(
  { passed, facts }: Extract<SceneEvent, { type: "summary" }>,
  checks: readonly Check[],
  colors: Colors,
  width: number,
): readonly string[] {
  const failed = checks.filter(({ verdict }) => verdict === "false").length;
  const unverified = checks.filter(({ verdict }) => verdict === "unverified").length;
  const verdict = passed
    ? colors.green(`All ${checks.length} are true.`)
    : colors.red(`Not true: ${failed}. Could not be verified: ${unverified}.`);
  return [
    "",
    colors.bold("What happened"),
    "",
    ...timelineOf(facts).map((line) => `  ${highlightSteer(line, colors)}`),
    "",
    colors.bold("What was checked"),
    "",
    ...checks.map((check) => checkLine(check, colors, width)),
    "",
    colors.bold(verdict),
  ];
}

function checkLine({ verdict, title, detail }: Check, colors: Colors, width: number): string {
  const color = { true: colors.green, false: colors.red, unverified: colors.yellow }[verdict];
  const shownTitle = color(`${MARKS[verdict]} ${title.padEnd(TITLE_WIDTH)}`);
  const detailWidth = width - TITLE_WIDTH - 6;
  return detailWidth < MIN_DETAIL_WIDTH
    ? `  ${shownTitle}`.trimEnd()
    : `  ${shownTitle}  ${colors.dim(cut(oneLine(detail), detailWidth))}`;
}

const highlightSteer = (line: string, colors: Colors): string =>
  line.replace(/◆|╰ steer.*|\[\d+\]/g, (part) => colors.bold(colors.yellow(part)));
const plain = (text: string): string => text;
const oneLine = (text: string): string => text.trim().replace(/\s*\n\s*/g, " ⏎ ");
const cut = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
