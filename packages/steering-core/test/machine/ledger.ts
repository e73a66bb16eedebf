/**
 * What somebody who stands beside the machine knows: which requests wait for an answer, what is at the agent and at the
 * driver, which timers are armed, what every steer of the open turn has been through. It is kept from events and effects
 * alone and never looks into the machine's state, so that the two can be held against each other.
 */
import { agentGone } from "../../src/errors.js";
import { isObject } from "../../src/parse.js";
import { CODE, META_KEY, type RpcError } from "../../src/protocol.js";
import type { Asker, DriverReport, LinkRef, RunOutcome } from "../../src/state.js";
import type { Effect, Event, Policy, TimerName } from "./told.js";

/** A request of a client that has no answer yet. */
export interface OpenRequest {
  readonly asker: Asker;
  readonly kind: "prompt" | "steer" | "revoke";
  /** Of a prompt: it waits for a turn of its own. */
  readonly queued: boolean;
  /** The steer that it sends or revokes. */
  readonly messageId: string;
}

/** A steer that is bound to the open turn. */
export interface KnownSteer {
  readonly messageId: string;
  readonly clientMessageId: string | undefined;
  readonly link: LinkRef;
  readonly injectable: boolean;
  /** `asking`: at the driver, without a verdict. */
  readonly handed: "no" | "asking" | "yes";
  /** The road that it was handed over by. */
  readonly road: "inbox" | "driver" | "continuation" | undefined;
  /** What the driver reported first. */
  readonly report: DriverReport | undefined;
  /** The driver or the agent turned it away in this run. */
  readonly fellIn: string | undefined;
  readonly final: "delivered" | "undelivered" | undefined;
  /** A client asked to have it back. */
  readonly revoked: boolean;
}

export interface KnownTurn {
  readonly id: string;
  readonly link: LinkRef;
  readonly owner: Asker | undefined;
  readonly joined: readonly Asker[];
  /** A client, or the end of its connection, cancelled it. */
  readonly cancelled: boolean;
  /** Its `turnEnded` receipt is out. */
  readonly ended: boolean;
  readonly steers: readonly KnownSteer[];
  /** The ids of its runs. */
  readonly runs: readonly string[];
  /** How its last run ended that was taken. */
  readonly outcome: RunOutcome | undefined;
  /** How often in a row the agent turned a continuation away, and with what code it did last. */
  readonly turnedAway: number;
  readonly lastCode: number | undefined;
}

interface KnownRun {
  readonly id: string;
  readonly turnId: string;
  readonly link: LinkRef;
  /** The steers of a continuation. */
  readonly carries: readonly string[];
  /** The agent did something since. */
  readonly acted: boolean;
  /** Nobody has told it to stop, or it did something since. */
  readonly stirred: boolean;
}

export interface ArmedTimer {
  readonly timer: TimerName;
  readonly turnId: string;
  readonly ms: number;
  /** The step that armed it. */
  readonly since: number;
  /** The run that was open when it was armed. */
  readonly run: string | undefined;
}

export interface Ledger {
  open: readonly OpenRequest[];
  turn: KnownTurn | undefined;
  run: KnownRun | undefined;
  timers: readonly ArmedTimer[];
  /** Open permission and elicitation requests of the turn. */
  holds: number;
  /** The agent worked on its own since the last turn ended. */
  unattended: boolean;
  /** How many closes are at the agent. */
  closing: number;
  closed: boolean;
  /** Connections whose client is gone, and those whose agent is. */
  lost: readonly LinkRef[];
  agentsLost: readonly LinkRef[];
}

export const EMPTY: Ledger = {
  open: [],
  turn: undefined,
  run: undefined,
  timers: [],
  holds: 0,
  unattended: false,
  closing: 0,
  closed: false,
  lost: [],
  agentsLost: [],
};

const NOT_TAKEN: readonly number[] = [CODE.invalidRequest, CODE.invalidParams, CODE.authRequired, CODE.notFound];

export const sameAsker = (one: Asker | undefined, other: Asker): boolean =>
  one?.link === other.link && one?.id === other.id;

export const steerOf = ({ turn }: Ledger, messageId: string): KnownSteer | undefined =>
  turn?.steers.find((steer) => steer.messageId === messageId);

export const requestOf = ({ open }: Ledger, asker: Asker): OpenRequest | undefined =>
  open.find((request) => sameAsker(request.asker, asker));

/** The continuation that these params ask for. */
export const continuationOf = (params: unknown): { turnId: string; messageIds: readonly string[] } | undefined => {
  const meta = isObject(params) && isObject(params["_meta"]) ? params["_meta"][META_KEY] : undefined;
  return isObject(meta) && meta["continuation"] === true
    ? (meta as { turnId: string; messageIds: readonly string[] } & typeof meta)
    : undefined;
};

/** A continuation was not taken: turned away with one of these codes before the agent did anything. */
const wasNotTaken = ({ carries, acted }: KnownRun, error: RpcError | undefined): boolean =>
  error !== undefined && carries.length > 0 && !acted && NOT_TAKEN.includes(error.code);

const changeTurn = (ledger: Ledger, changes: Partial<KnownTurn>): void => {
  if (ledger.turn) ledger.turn = { ...ledger.turn, ...changes };
};

const changeSteer = (ledger: Ledger, messageId: string, changes: Partial<KnownSteer>): void =>
  changeTurn(ledger, {
    steers: (ledger.turn?.steers ?? []).map((steer) =>
      steer.messageId === messageId ? { ...steer, ...changes } : steer,
    ),
  });

const bind = (ledger: Ledger, steer: Pick<KnownSteer, "messageId" | "clientMessageId" | "link" | "injectable">): void =>
  changeTurn(ledger, {
    steers: [
      ...(ledger.turn?.steers ?? []),
      {
        messageId: steer.messageId,
        clientMessageId: steer.clientMessageId,
        link: steer.link,
        injectable: steer.injectable,
        handed: "no",
        road: undefined,
        report: undefined,
        fellIn: undefined,
        final: undefined,
        revoked: false,
      },
    ],
  });

const unbind = (ledger: Ledger, messageId: string): void =>
  changeTurn(ledger, { steers: (ledger.turn?.steers ?? []).filter((steer) => steer.messageId !== messageId) });

const ask = (ledger: Ledger, request: Omit<OpenRequest, "queued">): void => {
  ledger.open = [...ledger.open, { ...request, queued: false }];
};

/** A verdict came, or its time is over. */
function conclude(ledger: Ledger, messageId: string, verdict: string): void {
  const steer = steerOf(ledger, messageId);
  if (steer?.handed !== "asking") return;
  const isDelivered = verdict === "delivered" || steer.report === "delivered";
  const kept = isDelivered || (verdict === "accepted" && steer.report !== "undelivered");
  changeSteer(ledger, messageId, kept ? { handed: "yes" } : { handed: "no", road: undefined, fellIn: ledger.run?.id });
}

/** A verdict that is missing at the end of the grace, or when the session closes, counts as `accepted`. */
function concludeOverdue(ledger: Ledger): void {
  for (const { messageId, handed } of ledger.turn?.steers ?? [])
    if (handed === "asking") conclude(ledger, messageId, "accepted");
}

/** Whether a prompt joins the open turn as a steer. */
const joins = (
  ledger: Ledger,
  { command, barred }: Extract<Event, { type: "promptArrived" }>,
  { whenBusy }: Policy,
): boolean => {
  if (!ledger.turn || ledger.turn.cancelled || ledger.closing > 0 || barred) return false;
  return command ? command.name === "steer" && command.text !== "" : whenBusy === "steer";
};

function noteRunAnswered(ledger: Ledger, { run: id, outcome }: Extract<Event, { type: "runAnswered" }>): void {
  const { run, turn } = ledger;
  if (run?.id !== id) return;
  ledger.run = undefined;
  if (run.turnId !== turn?.id) return;
  if (!wasNotTaken(run, outcome.error)) return changeTurn(ledger, { outcome, turnedAway: 0, lastCode: undefined });
  changeTurn(ledger, { turnedAway: turn.turnedAway + 1, lastCode: outcome.error?.code });
  for (const messageId of run.carries) changeSteer(ledger, messageId, { handed: "no", road: undefined, fellIn: id });
}

/** With the agent of a connection goes what it owes. */
function noteAgentLost(ledger: Ledger, link: LinkRef): void {
  ledger.agentsLost = [...ledger.agentsLost, link];
  if (ledger.run?.link === link) ledger.run = undefined;
  if (ledger.turn?.link !== link) return;
  concludeOverdue(ledger);
  changeTurn(ledger, { outcome: { error: agentGone }, turnedAway: 0, lastCode: undefined });
}

/** The open run belongs to a turn that was cancelled, or that its owner was told the end of. */
const isStopping = ({ turn, run }: Ledger): boolean => turn === undefined || turn.id !== run?.turnId || turn.cancelled;

/** The first cancel of a turn is sent to its run, whatever the run was told before. */
function noteCancel(ledger: Ledger): void {
  if (ledger.turn?.cancelled === false && ledger.run) ledger.run = { ...ledger.run, stirred: true };
  changeTurn(ledger, { cancelled: true });
}

/** What an event alone says, before the machine has seen it. */
export function noteEvent(ledger: Ledger, event: Event, policy: Policy): void {
  switch (event.type) {
    case "promptArrived": {
      const { asker, steer } = event;
      ask(ledger, { asker, kind: "prompt", messageId: steer.messageId });
      if (joins(ledger, event, policy)) {
        const injectable = event.command ? policy.hasDriver : steer.injectable;
        bind(ledger, { ...steer, injectable, link: asker.link });
        if (!event.command) changeTurn(ledger, { joined: [...(ledger.turn?.joined ?? []), asker] });
      }
      return;
    }
    case "steerArrived":
      return ask(ledger, { asker: event.asker, kind: "steer", messageId: event.steer.messageId });
    case "revokeArrived":
      ask(ledger, { asker: event.asker, kind: "revoke", messageId: event.messageId });
      if (steerOf(ledger, event.messageId)?.link === event.asker.link)
        changeSteer(ledger, event.messageId, { revoked: true });
      return;
    case "cancelArrived":
      return noteCancel(ledger);
    case "promptCancelled":
      if (sameAsker(ledger.turn?.owner, event.asker)) noteCancel(ledger);
      return;
    case "runAnswered":
      return noteRunAnswered(ledger, event);
    case "verdictArrived":
      return conclude(ledger, event.messageId, event.verdict);
    case "reportArrived": {
      const steer = steerOf(ledger, event.messageId);
      if (steer?.road !== "driver" || steer.report || steer.final) return;
      changeSteer(ledger, event.messageId, { report: event.report });
      if (steer.handed === "yes" && event.report === "undelivered")
        changeSteer(ledger, event.messageId, { handed: "no", road: undefined, fellIn: ledger.run?.id });
      return;
    }
    case "agentActed":
      if (ledger.run) ledger.run = { ...ledger.run, acted: true, stirred: ledger.run.stirred || isStopping(ledger) };
      else if (!ledger.turn) ledger.unattended = true;
      return;
    case "holdChanged":
      ledger.holds += event.by;
      return;
    case "timerFired":
      ledger.timers = ledger.timers.filter(
        ({ timer, turnId }) => timer !== event.timer || turnId !== (event.turnId ?? ""),
      );
      if (event.timer === "settling" || event.timer === "cancelling") concludeOverdue(ledger);
      return;
    case "closeArrived":
      ledger.closing += 1;
      return;
    case "closeAnswered":
      ledger.closing -= 1;
      if (!event.ok) return;
      concludeOverdue(ledger);
      noteCancel(ledger);
      Object.assign(ledger, { closed: true, run: undefined });
      return;
    case "linkLost":
      ledger.lost = [...ledger.lost, event.link];
      ledger.open = ledger.open.filter(({ asker, queued }) => !queued || asker.link !== event.link);
      if (ledger.turn?.link === event.link) noteCancel(ledger);
      return;
    case "agentLost":
      return noteAgentLost(ledger, event.link);
    case "takeCalled":
      return;
  }
}

function noteStarted(
  ledger: Ledger,
  [, id, link, asker, params]: Extract<Effect, readonly ["startRun", ...unknown[]]>,
): void {
  const carries = continuationOf(params)?.messageIds ?? [];
  ledger.run = { id, link, turnId: ledger.turn?.id ?? "", carries, acted: false, stirred: true };
  for (const messageId of carries)
    changeSteer(ledger, messageId, { handed: "yes", road: "continuation", report: undefined });
  changeTurn(ledger, { runs: [...(ledger.turn?.runs ?? []), id] });
  if (!ledger.turn?.outcome) changeTurn(ledger, { link, owner: asker });
  if (asker)
    ledger.open = ledger.open.map((open) => (sameAsker(open.asker, asker) ? { ...open, queued: false } : open));
}

const EMPTY_TURN: Omit<KnownTurn, "id" | "link"> = {
  owner: undefined,
  joined: [],
  cancelled: false,
  ended: false,
  steers: [],
  runs: [],
  outcome: undefined,
  turnedAway: 0,
  lastCode: undefined,
};

function noteAnswered(ledger: Ledger, asker: Asker, event: Event): void {
  ledger.open = ledger.open.filter((request) => !sameAsker(request.asker, asker));
  if ((event.type === "promptArrived" || event.type === "agentLost") && !ledger.turn?.ended) {
    changeTurn(ledger, { joined: (ledger.turn?.joined ?? []).filter((joined) => !sameAsker(joined, asker)) });
  }
}

/** What an effect says. */
export function noteEffect(ledger: Ledger, effect: Effect, event: Event, since: number): void {
  switch (effect[0]) {
    case "answer": {
      const [, asker, result] = effect;
      noteAnswered(ledger, asker, event);
      if (event.type !== "steerArrived" || result["outcome"] !== "injected") return;
      const known = ledger.turn?.steers.some(
        ({ clientMessageId, link }) =>
          clientMessageId !== undefined && clientMessageId === event.steer.clientMessageId && link === asker.link,
      );
      if (!known) bind(ledger, { ...event.steer, link: asker.link });
      return;
    }
    case "refuse":
      noteAnswered(ledger, effect[1], event);
      if (event.type === "promptArrived") unbind(ledger, event.steer.messageId);
      return;
    case "startRun":
      return noteStarted(ledger, effect);
    case "inject":
      return changeSteer(ledger, effect[2].messageId, { handed: "asking", road: "driver", report: undefined });
    case "give":
      for (const { messageId } of effect[1])
        changeSteer(ledger, messageId, { handed: "yes", road: "inbox", report: undefined });
      return;
    case "sendCancel":
      if (ledger.run) ledger.run = { ...ledger.run, stirred: false };
      return;
    case "releaseHolds":
      ledger.holds = 0;
      return;
    case "receipt": {
      const { state, turnId, messageId } = effect[1];
      if (state === "turnStarted")
        Object.assign(ledger, { turn: { ...EMPTY_TURN, id: turnId, link: 0 }, unattended: false });
      else if (state === "turnEnded") changeTurn(ledger, { ended: true });
      else changeSteer(ledger, messageId ?? "", { final: state });
      return;
    }
    case "arm": {
      const [, timer, ms, turnId = ""] = effect;
      const others = ledger.timers.filter((armed) => armed.timer !== timer || armed.turnId !== turnId);
      ledger.timers = [...others, { timer, turnId, ms, since, run: ledger.run?.id }];
      return;
    }
    case "disarm":
      ledger.timers = [];
      return;
    default:
      return;
  }
}

const CANCELS: readonly TimerName[] = ["sendCancel", "sendCancelRequest"];

/** The timers whose firing can still do something, in order; those that cancel a run can not once it was answered. */
export const liveTimers = ({ timers, run }: Ledger): readonly ArmedTimer[] =>
  timers.filter(({ timer }) => timer !== "stuck" && (run !== undefined || !CANCELS.includes(timer)));

/** The timers that may be the next to fire: none that was armed no later, for no longer, is still armed. */
export function dueTimers(ledger: Ledger): readonly ArmedTimer[] {
  const live = liveTimers(ledger);
  return ledger.timers.filter(
    ({ since, ms }) =>
      !live.some((other) => other.since <= since && other.ms <= ms && other.since + other.ms < since + ms),
  );
}

/** What is clear only once everything that follows from an event has been done. */
export function noteEnd(ledger: Ledger, event: Event): void {
  if (ledger.turn?.ended) ledger.turn = undefined;
  if (event.type !== "promptArrived") return;
  const mine = [ledger.turn?.owner, ...(ledger.turn?.joined ?? [])];
  if (mine.some((asker) => sameAsker(asker, event.asker))) return;
  ledger.open = ledger.open.map((open) => (sameAsker(open.asker, event.asker) ? { ...open, queued: true } : open));
}
