/** The diagram of the session machine, drawn from the steps that were seen. */
import type { Phase } from "../../src/state.js";

const ORDER: Readonly<Record<Phase, number>> = {
  idle: 0,
  resting: 1,
  running: 2,
  settling: 3,
  pausing: 4,
  cancelling: 5,
  fenced: 6,
  closed: 7,
};
const PHASES = Object.keys(ORDER);

const BEGIN = "<!-- states -->";
const END = "<!-- /states -->";

function eventOf(edge: string, from: string, to: string): readonly string[] {
  const [before, event, after] = edge.split(" ");
  return event !== undefined && before === from && after === to ? [event] : [];
}

/**
 * Mermaid source, one arrow for each pair of phases that a step leads between, with all the events that do it.
 *
 * @param edges `phase event phase`, as `explore` collects them
 */
export function diagramOf(edges: ReadonlySet<string>): string {
  const lines = ["stateDiagram-v2", "  [*] --> idle"];
  for (const from of PHASES)
    for (const to of PHASES) {
      const events = [...edges].flatMap((edge) => eventOf(edge, from, to)).sort();
      if (from !== to && events.length > 0) lines.push(`  ${from} --> ${to}: ${events.join(", ")}`);
    }
  return [...lines, "  closed --> [*]"].join("\n");
}

/** The text with the diagram in its place. */
export function withDiagram(text: string, diagram: string): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error(`No "${BEGIN}" and "${END}" to put the diagram between.`);
  return `${text.slice(0, begin + BEGIN.length)}\n\n\`\`\`mermaid\n${diagram}\n\`\`\`\n\n${text.slice(end)}`;
}
