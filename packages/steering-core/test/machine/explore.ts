/** Visits every world of a family, breadth first, to the point where nothing new comes. */
import type { Effect, Event } from "../../src/state.js";
import { eventsOf, type Family, isOwed, isQuiet, keyOf, pass, START, type World } from "./world.js";

export interface Explored {
  readonly worlds: number;
  readonly transitions: number;
  /** `phase event phase`, once each. */
  readonly edges: ReadonlySet<string>;
  /** Readable, with the way there; empty where all holds. */
  readonly faults: readonly string[];
}

/** Pairs of numbers that grow into the millions. */
class Pairs {
  private data = new Int32Array(1 << 16);
  length = 0;

  add(one: number, other: number): void {
    if (this.length * 2 === this.data.length) {
      const larger = new Int32Array(this.data.length * 2);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length * 2] = one;
    this.data[this.length * 2 + 1] = other;
    this.length += 1;
  }

  at(index: number): readonly [number, number] {
    return [this.data[index * 2] ?? 0, this.data[index * 2 + 1] ?? 0];
  }
}

const MAX_FAULTS = 5;

/** The way from the start to a world, as one line an event. */
function wayTo(index: number, parents: Pairs, family: Family): string[] {
  const choices: number[] = [];
  for (let at = index; at > 0; ) {
    const [parent, choice] = parents.at(at);
    choices.unshift(choice);
    at = parent;
  }
  const lines: string[] = [];
  let world: World = START;
  for (const choice of choices) {
    const event = eventsOf(world, family)[choice] as Event;
    const passed = pass(world, keyOf(world), event, family.policy);
    lines.push(`${world.state.phase}: ${describe(event, passed.effects)}`);
    world = passed.world;
  }
  return lines;
}

const describe = (event: Event, effects: readonly Effect[]): string =>
  `${JSON.stringify(event)} -> ${effects.map((effect) => JSON.stringify(effect)).join(" ")}`;

export function explore(family: Family): Explored {
  const numbers = new Map<string, number>();
  const parents = new Pairs();
  const owed = new Pairs();
  const edges = new Set<string>();
  const faults: string[] = [];
  const quiet: number[] = [];
  let transitions = 0;
  let frontier: (readonly [number, string, World])[] = [];

  const enter = (key: string, world: World, parent: number, choice: number, next: (typeof frontier)[number][]): number => {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    const number = numbers.size;
    numbers.set(key, number);
    parents.add(parent, choice);
    if (isQuiet(world)) quiet.push(number);
    next.push([number, key, world]);
    return number;
  };

  enter(keyOf(START), START, 0, 0, frontier);
  while (frontier.length > 0 && faults.length < MAX_FAULTS) {
    if (process.env["H6_MAX"] && numbers.size > Number(process.env["H6_MAX"])) { const hist: Record<string, number> = {}; for (const key of numbers.keys()) { const bucket = key.slice(0, 6); hist[bucket] = (hist[bucket] ?? 0) + 1; } console.log(hist); console.log([...numbers.keys()].filter((_, i) => i % Math.floor(numbers.size / 40) === 0).join("\n")); break; }
    const next: typeof frontier = [];
    for (const [number, key, world] of frontier) {
      const events = eventsOf(world, family);
      for (let choice = 0; choice < events.length; choice += 1) {
        const event = events[choice] as Event;
        const passed = pass(world, key, event, family.policy);
        transitions += 1;
        edges.add(`${world.state.phase} ${event.type} ${passed.world.state.phase}`);
        if (passed.broken.length > 0 && faults.length < MAX_FAULTS)
          faults.push([...passed.broken, ...wayTo(number, parents, family), `${world.state.phase}: ${describe(event, passed.effects)}`].join("\n  "));
        const target = enter(passed.key, passed.world, number, choice, next);
        if (isOwed(event) && target !== number) owed.add(target, number);
      }
    }
    frontier = next;
  }
  if (faults.length === 0)
    for (const stuck of wedged(numbers.size, owed, quiet).slice(0, MAX_FAULTS))
      faults.push(["G8: a world from which nothing that is owed leads to rest", ...wayTo(stuck, parents, family)].join("\n  "));
  return { worlds: numbers.size, transitions, edges, faults };
}

/** The worlds from which no chain of owed events leads to a quiet one. */
function wedged(worlds: number, owed: Pairs, quiet: readonly number[]): number[] {
  const first = new Int32Array(worlds).fill(-1);
  const following = new Int32Array(owed.length);
  for (let index = 0; index < owed.length; index += 1) {
    const [target] = owed.at(index);
    following[index] = first[target] ?? -1;
    first[target] = index;
  }
  const reaches = new Uint8Array(worlds);
  const open = [...quiet];
  for (const number of open) reaches[number] = 1;
  for (let target = open.pop(); target !== undefined; target = open.pop())
    for (let index = first[target] ?? -1; index >= 0; index = following[index] ?? -1) {
      const [, source] = owed.at(index);
      if (reaches[source]) continue;
      reaches[source] = 1;
      open.push(source);
    }
  return [...reaches.keys()].filter((number) => !reaches[number]);
}
