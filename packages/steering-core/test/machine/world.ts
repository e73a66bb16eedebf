/**
 * A world: one session and all that surrounds it. Which events may come next, what a step makes of it, and when two
 * worlds are the same.
 */

import { startsWithSlash } from "../../src/parse.js";
import { CODE, type ContentBlock, STOP } from "../../src/protocol.js";
import { idleState } from "../../src/session.js";
import type { Asker, RunOutcome, State, Steer } from "../../src/state.js";
import { GUARANTEES } from "./guarantees.js";
import {
  dueTimers,
  EMPTY,
  type KnownSteer,
  type KnownTurn,
  type Ledger,
  liveTimers,
  noteEffect,
  noteEnd,
  noteEvent,
} from "./ledger.js";
import type { Moment, Passage } from "./moment.js";
import { type Effect, type Event, type Policy, stepOf } from "./told.js";

/** What a steer consists of: something for every road, something the driver does not take, a slash command of the agent. */
type Content = "plain" | "foreign" | "slash";

/** The worlds of one policy that are visited: what clients, agent, driver and time may do in them. */
export interface Family {
  readonly name: string;
  readonly policy: Policy;
  /** Prompts without an answer at one time. As many as one likes one after the other. */
  readonly prompts: number;
  /** Steers in one turn. */
  readonly steers: number;
  readonly links: readonly number[];
  readonly contents: readonly Content[];
  readonly idleBehaviors: readonly ("promptRequired" | "startNewTurn" | "reject")[];
  /** `/steer` and `/queue`, and a `clientMessageId` on every steer, so that it can be repeated. */
  readonly commands: boolean;
  readonly repeats: boolean;
  /** The agent asks for permissions; a client revokes; a session is closed; a connection ends. */
  readonly holds: boolean;
  readonly revokes: boolean;
  /** How many at one time. */
  readonly closes: number;
  readonly drops: boolean;
  readonly outcomes: readonly RunOutcome[];
  /** How many there are, and how many steps lead from one to another. */
  readonly worlds: number;
  readonly transitions: number;
}

export interface World {
  readonly state: State;
  readonly ledger: Ledger;
  /** The next number for an id. */
  readonly serial: number;
}

export const startOf = ({ policy }: Family): World => ({ state: idleState(policy), ledger: EMPTY, serial: 1 });

/** The machine changes the state that it is given; a world stays as it is. */
const copyOf = (state: State): State => ({
  ...state,
  effects: [],
  run: state.run && { ...state.run },
  turn: state.turn && {
    ...state.turn,
    report: {
      ...state.turn.report,
      runs: [...state.turn.report.runs],
      undelivered: [...state.turn.report.undelivered],
    },
    bound: state.turn.bound.map((steer) => ({ ...steer })),
    settled: [...state.turn.settled],
  },
});

export const ENDED: RunOutcome = { result: { stopReason: STOP.endTurn } };
export const STOPPED: RunOutcome = { result: { stopReason: STOP.cancelled } };
export const REFUSED: RunOutcome = { result: { stopReason: STOP.refused } };
export const failed = (code: number): RunOutcome => ({ error: { code, message: "no" } });

const PROMPTS: Readonly<Record<Content, readonly ContentBlock[]>> = {
  plain: [{ type: "text", text: "go on" }],
  foreign: [{ type: "image", data: "", mimeType: "image/png" }],
  slash: [{ type: "text", text: "/compact" }],
};

const steerWith = (serial: number, content: Content, { policy, repeats }: Family, { link }: Asker): Steer => ({
  link,
  outcome: "injected",
  fate: "waiting",
  revokers: [],
  messageId: `m${serial}`,
  clientMessageId: repeats ? `c${serial}` : undefined,
  prompt: PROMPTS[content],
  weight: 1,
  injectable: policy.hasDriver && content !== "foreign",
});

const isFull = (turn: KnownTurn | undefined, { steers }: Family): boolean =>
  turn !== undefined && turn.steers.filter(({ final }) => final === undefined).length >= steers;

function promptEvents({ ledger: { open, turn }, serial }: World, family: Family, asker: Asker): Event[] {
  if (open.filter(({ kind }) => kind === "prompt").length >= family.prompts) return [];
  const full = isFull(turn, family);
  const steer = steerWith(serial, "plain", family, asker);
  const prompt = { type: "promptArrived", asker, turnId: `t${serial}`, params: {}, steer, barred: undefined } as const;
  const events: Event[] = [];
  if (!full || family.policy.whenBusy !== "steer") events.push({ ...prompt, command: undefined });
  if (!family.commands) return events;
  const steerCommand = { ...prompt, command: { name: "steer", text: "left" } } as const;
  const barred = { code: CODE.notFound, message: "no" };
  events.push({ ...prompt, command: { name: "steer", text: "" } });
  events.push({ ...prompt, command: { name: "queue", text: "later" } });
  events.push({ ...steerCommand, barred }, { ...prompt, command: undefined, barred });
  return full ? events : [...events, steerCommand];
}

function steerEvents({ ledger: { turn }, serial }: World, family: Family, asker: Asker): Event[] {
  const base = {
    type: "steerArrived",
    asker,
    turnId: `t${serial}`,
    expectedTurnId: undefined,
    unsupported: undefined,
  } as const;
  const idleBehavior = family.policy.idleBehavior;
  const events: Event[] = [];
  if (!isFull(turn, family))
    for (const content of family.contents)
      events.push({ ...base, steer: steerWith(serial, content, family, asker), idleBehavior });
  if (!turn)
    for (const behavior of family.idleBehaviors)
      events.push({ ...base, steer: steerWith(serial, "plain", family, asker), idleBehavior: behavior });
  const plain = steerWith(serial, "plain", family, asker);
  events.push({ ...base, steer: plain, idleBehavior, expectedTurnId: "another" });
  events.push({ ...base, steer: plain, idleBehavior, unsupported: { code: CODE.invalidParams, message: "no" } });
  for (const { clientMessageId } of family.repeats ? (turn?.steers ?? []) : [])
    events.push({ ...base, steer: { ...steerWith(serial, "plain", family, asker), clientMessageId }, idleBehavior });
  return events;
}

function revokeEvents({ state, ledger: { turn, open } }: World, asker: Asker): Event[] {
  if (open.some(({ kind }) => kind === "revoke")) return [];
  const known = turn?.steers ?? state.past.slice(-1);
  return [...known.map(({ messageId }) => messageId), "unknown"].map((messageId) => ({
    type: "revokeArrived",
    asker,
    messageId,
  }));
}

function clientEvents(world: World, family: Family, link: number): Event[] {
  const { ledger, serial } = world;
  const asker = { link, id: serial };
  const events = [...promptEvents(world, family, asker), ...steerEvents(world, family, asker)];
  if (family.revokes) events.push(...revokeEvents(world, asker));
  events.push({ type: "cancelArrived", link });
  for (const open of ledger.open)
    if (open.kind === "prompt" && open.asker.link === link) events.push({ type: "promptCancelled", asker: open.asker });
  if (family.drops) events.push({ type: "linkLost", link });
  return events;
}

function agentEvents({ ledger: { run, turn, holds, closing } }: World, family: Family): Event[] {
  const events: Event[] = [
    { type: "agentActed" },
    { type: "takeCalled" },
    { type: "runAnswered", run: "old", outcome: ENDED },
  ];
  if (run) for (const outcome of family.outcomes) events.push({ type: "runAnswered", run: run.id, outcome });
  if (family.holds && holds > 0) events.push({ type: "holdChanged", by: -1 });
  if (family.holds && holds === 0 && run && turn?.id === run.turnId && !turn.cancelled)
    events.push({ type: "holdChanged", by: 1 });
  if (closing > 0) events.push({ type: "closeAnswered", ok: true }, { type: "closeAnswered", ok: false });
  return events;
}

const isAtDriver = ({ road, final, report, handed }: KnownSteer): boolean =>
  road === "driver" && final === undefined && (handed === "asking" || report === undefined);

function driverEvents({ ledger: { turn } }: World, { policy }: Family): Event[] {
  if (!policy.hasDriver) return [];
  const events: Event[] = [];
  for (const steer of turn?.steers ?? []) {
    const { messageId } = steer;
    if (steer.handed === "asking")
      for (const verdict of ["delivered", "accepted", "tooLate", "unsupported"] as const)
        events.push({ type: "verdictArrived", messageId, verdict });
    else events.push({ type: "verdictArrived", messageId, verdict: "tooLate" });
    events.push({ type: "reportArrived", messageId, report: "undelivered" });
    if (isAtDriver(steer)) events.push({ type: "reportArrived", messageId, report: "delivered" });
  }
  return events;
}

/** Everything that may happen next. */
export function eventsOf(world: World, family: Family): readonly Event[] {
  const { ledger } = world;
  if (ledger.closed) return family.links.flatMap((link) => clientEvents(world, { ...family, drops: false }, link));
  const events = [...agentEvents(world, family), ...driverEvents(world, family)];
  for (const { timer, turnId } of dueTimers(ledger)) events.push({ type: "timerFired", timer, turnId });
  for (const link of family.links) {
    if (!ledger.lost.includes(link) && !ledger.agentsLost.includes(link))
      events.push(...clientEvents(world, family, link));
    if (family.drops && !ledger.agentsLost.includes(link)) events.push({ type: "agentLost", link });
  }
  if (ledger.closing < family.closes) events.push({ type: "closeArrived" });
  return events;
}

/** Whether an event needs nobody but the agent, the driver and time: what a session can count on. */
export const isOwed = (event: Event): boolean =>
  event.type === "timerFired" ||
  event.type === "runAnswered" ||
  event.type === "verdictArrived" ||
  event.type === "closeAnswered" ||
  (event.type === "holdChanged" && event.by === -1);

/** What is left when nobody owes anything any more. */
export const isQuiet = ({ ledger: { turn, run, open, timers } }: World): boolean =>
  turn === undefined && run === undefined && open.length === 0 && timers.length === 0;

export interface Passed {
  readonly world: World;
  readonly effects: readonly Effect[];
  /** The guarantees that do not hold. */
  readonly broken: readonly string[];
  readonly key: string;
}

const AT_EFFECT = GUARANTEES.filter(({ atEffect }) => atEffect);
const AFTER_STEP = GUARANTEES.filter(({ afterStep }) => afterStep);

/** One step of the machine, entered in the books, held against every guarantee. */
export function pass(world: World, key: string, event: Event, policy: Policy): Passed {
  const state = copyOf(world.state);
  const effects = stepOf(state, event);
  const ledger = { ...world.ledger };
  const broken: string[] = [];
  noteEvent(ledger, event, policy);
  for (const effect of effects) {
    const moment: Moment = { ledger, effect, event, policy };
    for (const { says, atEffect } of AT_EFFECT) if (atEffect?.(moment) === false) broken.push(says);
    noteEffect(ledger, effect, event, world.serial);
  }
  noteEnd(ledger, event);
  const next: World = { state, ledger, serial: world.serial + 1 };
  const nextKey = keyOf(next);
  const passage: Passage = { before: world, after: next, event, effects, policy, unchanged: key === nextKey };
  for (const { says, afterStep } of AFTER_STEP) if (afterStep?.(passage) === false) broken.push(says);
  return { world: next, effects, broken, key: nextKey };
}

const linkOf = (asker: Asker | undefined): string => (asker ? String(asker.link) : "-");

/** Yes and no as one letter. */
function flags(...values: readonly (boolean | undefined)[]): string {
  let bits = 64;
  for (const value of values) bits = bits * 2 + (value ? 1 : 0);
  return String.fromCharCode(bits);
}

/**
 * What tells two worlds apart. Names stand for themselves by their place; texts, past turns, counts that only grow and
 * what is held equal to something else by a guarantee cannot matter for what happens next.
 */
export function keyOf({ state, ledger }: World): string {
  const { phase, turn, run, queue, closing, unattended } = state;
  const { closed, holds, lost, agentsLost } = ledger;
  let key = `${phase}${flags(unattended, closed, ledger.unattended)}${closing}${ledger.closing}${holds}`;
  if (run) key += `${run.link}${flags(run.lively, ledger.run?.stirred, ledger.run?.turnId === turn?.id)}`;
  key += `|${lost.join("")}|${agentsLost.join("")}|`;
  for (const { timer } of liveTimers(ledger)) key += `${timer},`;
  for (const { asker } of queue) key += asker.link;
  return turn ? `${key}|${turnKey(turn, ledger)}` : key;
}

function turnKey(turn: NonNullable<State["turn"]>, { turn: known, run }: Ledger): string {
  const { owner, joined, bound, refusals, refusal, holds, outcome, cancelReason } = turn;
  let key = `${turn.link}${linkOf(owner)}${joined.map(linkOf).join("")};`;
  for (const { fate, link, injectable, prompt, report, revokers } of bound)
    key += `${fate}${link}${flags(injectable, startsWithSlash(prompt))}${report?.[0]}${revokers.map(linkOf).join("")}`;
  for (const { final, handed, road, report: said, fellIn } of known?.steers ?? [])
    if (!final)
      key += `${handed[0]}${road?.[0]}${said?.[0]}${flags(run !== undefined && handed === "no" && fellIn === run.id)}`;
  key += `${refusals}${refusal?.code}${holds}`;
  if (known?.cancelled) return `${key}${cancelReason}`;
  return `${key}${outcome?.error?.code ?? outcome?.result?.["stopReason"]}${known?.turnedAway}${known?.lastCode}`;
}
