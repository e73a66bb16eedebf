import { length, type Row, rangeOf, rowsOf } from "./rows.js";
import type { Span, Timeline, TracedTurn } from "./timeline.js";

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #6b7785; --paper: #fff; --line: #dfe4ea;
  --run: #3b6fd4; --continued: #1f9db4; --says: #b9c6d8; --thinks: #d9cfe9; --tool: #d99a2b; --question: #a45ad0;
  --steer: #2b9a5b; --cancel: #cc3d3d; --waits: #cfd6de; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #93a0af; --paper: #14181e; --line: #2b333d;
  --says: #46566b; --thinks: #514564; --waits: #38414c; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 76rem; padding: 0 1rem; }
h1 { font-size: 1.2rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .25rem; } p { margin: .25rem 0; color: var(--soft); }
.turn { display: grid; grid-template-columns: 7rem 1fr 20rem; gap: .25rem .75rem; align-items: center; }
.label { text-align: right; } .note { color: var(--soft); font-size: .85rem; }
.lane { position: relative; height: 1.1rem; border-left: 1px solid var(--line); border-right: 1px solid var(--line); }
.bar { position: absolute; top: .2rem; height: .7rem; min-width: 2px; border-radius: 2px; background: var(--color); }
.steer .bar { top: .5rem; height: .15rem; }
.point { position: absolute; top: .15rem; width: .7rem; height: .7rem; margin-left: -.4rem; border-radius: 50%; border: 2px solid var(--color); background: var(--paper); }
.point.delivered { background: var(--color); } .point.undelivered, .point.cancel { border-color: var(--cancel); border-radius: 2px; }
.axis { display: flex; justify-content: space-between; font-size: .8rem; color: var(--soft); }
@media (max-width: 50rem) { .turn { grid-template-columns: 5rem 1fr; } .note { grid-column: 2; } }
`;

/** The same as one page that needs nothing else: no script, no font, no address. */
export function htmlTimeline({ command, started, turns }: Timeline): string {
  const title = `${command.join(" ")}, ${started}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
<h1>${escaped(title)}</h1>
<p>○ sent and accepted, ● delivered, a red square: not delivered, or cancelled. Hover for times.</p>
${turns.map(turnHtml).join("\n")}
</html>
`;
}

function turnHtml(turn: TracedTurn): string {
  const range = rangeOf(turn);
  const duration = length(range.end - turn.begin);
  const title = `Session ${turn.sessionId}, turn ${turn.number}: ${duration}, ${turn.ending ?? "not ended"}`;
  const texts = [turn.text, ...turn.steers.map(({ text }, index) => text && `steer ${index + 1}: ${text}`)];
  return `<section>
<h2>${escaped(title)}</h2>
${texts.map((text) => (text ? `<p>${escaped(text)}</p>` : "")).join("")}
<div class="turn"><span></span><div class="axis"><span>0</span><span>${length((range.end - range.begin) / 2)}</span><span>${length(range.end - range.begin)}</span></div><span></span>
${rowsOf(turn)
  .map((row) => rowHtml(row, range))
  .join("\n")}
</div>
</section>`;
}

function rowHtml({ kind, label, bars, points, note }: Row, range: Required<Span>): string {
  const percent = (at: number): string => `${(((at - range.begin) / (range.end - range.begin)) * 100).toFixed(3)}%`;
  const width = ({ begin, end }: Required<Span>): string =>
    `${(((end - begin) / (range.end - range.begin)) * 100).toFixed(3)}%`;
  const since = (at: number): string => length(at - range.begin);
  const drawn = [
    ...bars.map(
      (bar) =>
        `<span class="bar" style="left:${percent(bar.begin)};width:${width(bar)}" title="${since(bar.begin)} to ${since(bar.end)}"></span>`,
    ),
    ...points.map(
      ({ at, what }) =>
        `<span class="point ${what}" style="left:${percent(at)}" title="${what} at ${since(at)}"></span>`,
    ),
  ];
  return `<span class="label">${escaped(label)}</span><div class="lane ${kind}" style="--color:var(--${kind})">${drawn.join("")}</div><span class="note">${escaped(note)}</span>`;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
