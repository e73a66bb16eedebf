/** Visits every world of a family, breadth first, to the point where nothing new comes. */
import type { Effect, Event } from "./told.js";
import { eventsOf, type Family, isOwed, isQuiet, keyOf, pass, startOf, type World } from "./world.js";

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
  let world = startOf(family);
  for (const choice of choices) {
    const event = eventsOf(world, family)[choice] as Event;
    const passed = pass(world, keyOf(world), event, family.policy);
    lines.push(lineOf(world, event, passed.effects));
    world = passed.world;
  }
  return lines;
}

const lineOf = ({ state }: World, event: Event, effects: readonly Effect[]): string =>
  `${state.phase}: ${JSON.stringify(event)} -> ${effects.map((effect) => JSON.stringify(effect)).join(" ")}`;

const report = (broken: readonly string[], way: readonly string[]): string =>
  [...broken, ...way.map((line) => `  ${line}`)].join("\n");

/** Worlds by number, with the way to each. */
class Atlas {
  private readonly numbers = new Map<string, number>();
  private readonly parents = new Pairs();
  /** Owed events, backwards: from where they lead to where they come from. */
  readonly owed = new Pairs();
  readonly quiet: number[] = [];

  get size(): number {
    return this.numbers.size;
  }

  /** The number of a world, and whether it is a new one. */
  enter(key: string, world: World, parent: number, choice: number): readonly [number, boolean] {
    const known = this.numbers.get(key);
    if (known !== undefined) return [known, false];
    const number = this.numbers.size;
    this.numbers.set(key, number);
    this.parents.add(parent, choice);
    if (isQuiet(world)) this.quiet.push(number);
    return [number, true];
  }

  wayTo(number: number, family: Family): string[] {
    return wayTo(number, this.parents, family);
  }
}

interface Place {
  readonly number: number;
  readonly key: string;
  readonly world: World;
}

/**
 * Visits all worlds of a family.
 *
 * @example
 * const { worlds, faults } = explore(family);
 * // faults: [] where every guarantee holds in every world
 */
export function explore(family: Family): Explored {
  const atlas = new Atlas();
  const edges = new Set<string>();
  const faults: string[] = [];
  let transitions = 0;
  const visit = ({ number, key, world }: Place): readonly Place[] => {
    if (faults.length >= MAX_FAULTS) return [];
    const found: Place[] = [];
    for (const [choice, event] of eventsOf(world, family).entries()) {
      const passed = pass(world, key, event, family.policy);
      transitions += 1;
      edges.add(`${world.state.phase} ${event.type} ${passed.world.state.phase}`);
      if (passed.broken.length > 0)
        faults.push(report(passed.broken, [...atlas.wayTo(number, family), lineOf(world, event, passed.effects)]));
      const [target, isNew] = atlas.enter(passed.key, passed.world, number, choice);
      if (isNew) found.push({ number: target, key: passed.key, world: passed.world });
      if (isOwed(event) && target !== number) atlas.owed.add(target, number);
    }
    return found;
  };
  const start = startOf(family);
  const key = keyOf(start);
  atlas.enter(key, start, 0, 0);
  for (let level: readonly Place[] = [{ number: 0, key, world: start }]; level.length > 0; )
    level = level.flatMap(visit);
  if (faults.length === 0)
    for (const number of restless(atlas).slice(0, MAX_FAULTS))
      faults.push(report(["G8: what is owed does not lead to rest from here"], atlas.wayTo(number, family)));
  return { worlds: atlas.size, transitions, edges, faults };
}

/**
 * The worlds from which a session may not come to rest, though agent, driver and time do what they owe, in whatever
 * order: those that lead round in a circle, or to a world where nothing is owed and somebody waits.
 */
function restless({ size, owed, quiet }: Atlas): number[] {
  const first = new Int32Array(size).fill(-1);
  const following = new Int32Array(owed.length);
  const left = new Int32Array(size);
  for (let index = 0; index < owed.length; index += 1) {
    const [target, source] = owed.at(index);
    following[index] = first[target] ?? -1;
    first[target] = index;
    left[source] = (left[source] ?? 0) + 1;
  }
  const comesToRest = new Uint8Array(size);
  const open = quiet.filter((number) => left[number] === 0);
  for (let target = open.pop(); target !== undefined; target = open.pop()) {
    comesToRest[target] = 1;
    for (let index = first[target] ?? -1; index >= 0; index = following[index] ?? -1) {
      const [, source] = owed.at(index);
      left[source] = (left[source] ?? 0) - 1;
      if (left[source] === 0) open.push(source);
    }
  }
  return [...comesToRest.keys()].filter((number) => !comesToRest[number]);
}
