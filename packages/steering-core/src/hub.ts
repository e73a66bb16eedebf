/**
 * All sessions of one steerable, and the hands of the machine: an event goes in, its effects are carried out, in order,
 * before anything else happens. Synchronous from message to effect, which is what makes `take()` and the end of a run atomic.
 */
import type { SteeringDriver, Verdict } from "./driver.js";
import { type ContentBlock, METHOD, type RequestId, UPDATE, type WireMessage } from "./protocol.js";
import { awaitsAgent, IDLE, step } from "./session.js";
import type { EffectName, Effects, Event, Policy, State, Steer, TimerName } from "./state.js";
import type { ClientWishes } from "./parse.js";

/** One connection, as the hub needs it. */
export interface Link {
  readonly key: number;
  readonly wishes: ClientWishes;
  toClient(message: Omit<WireMessage, "jsonrpc">): void;
  toAgent(message: Omit<WireMessage, "jsonrpc">): void;
  /** Remembers that the agent's answer to this request ends the run. */
  expectRun(id: RequestId, session: Session, run: string): void;
  /** The request of the client has its answer. */
  settled(id: RequestId): void;
  releaseHolds(session: Session): void;
  /** Lets the agent go once nothing of a client that is gone is left there. */
  leaveWhenDone(): void;
}

/** One session: its state, and what belongs to the state but cannot be data. */
export interface Session {
  readonly id: string;
  state: State;
  /** Connections that may steer here. */
  readonly links: Set<Link>;
  /** The agent's next update matters to the machine. */
  watched: boolean;
  hasCommands: boolean;
  replays: number;
  runId: RequestId;
  injection: AbortController | undefined;
  timers: Map<string, unknown> | undefined;
}

/** What runs later. Replaced in tests, so that they decide when a timer fires. */
export interface Clock {
  set(run: () => void, ms: number): unknown;
  clear(timer: unknown): void;
}

/** Timers never keep a process alive that has nothing else to do. */
export const systemClock: Clock = {
  set: (run, ms) => {
    const timer: unknown = setTimeout(run, ms);
    (timer as { unref?: () => void }).unref?.();
    return timer;
  },
  clear: (timer) => clearTimeout(timer as number),
};

const VERDICTS: readonly unknown[] = ["delivered", "accepted", "tooLate", "unsupported"] satisfies Verdict[];

function show(link: Link, { id }: Session, kind: string, blocks: readonly ContentBlock[], messageId: string): void {
  for (const content of blocks)
    link.toClient({ method: METHOD.update, params: { sessionId: id, update: { sessionUpdate: kind, content, messageId } } });
}

/** The sessions of one steerable. */
export class Hub {
  readonly sessions: Map<string, Session> = new Map();
  readonly links: Map<number, Link> = new Map();
  /** Connections whose client is gone and whose agent still works. */
  readonly leaving: Set<Link> = new Set();
  /** Our request ids can never be a client's. */
  private readonly prefix = `steering-${crypto.randomUUID()}/`;
  private readonly pending: (readonly [Session, Event])[] = [];
  private working = false;
  private given: readonly Steer[] = [];
  readonly policy: Policy;
  readonly driver: SteeringDriver | undefined;
  readonly clock: Clock;

  constructor(policy: Policy, driver: SteeringDriver | undefined, clock: Clock) {
    this.policy = policy;
    this.driver = driver;
    this.clock = clock;
  }

  /** The session of that id, which begins to exist here if it was not known. */
  session(id: string): Session {
    let session = this.sessions.get(id);
    if (!session) {
      session = { id, state: IDLE, links: new Set(), watched: true, hasCommands: false, replays: 0, runId: null, injection: undefined, timers: undefined };
      this.sessions.set(id, session);
    }
    return session;
  }

  /** Carries out one event. An event raised by its own effects follows it. */
  dispatch(session: Session, event: Event): void {
    this.pending.push([session, event]);
    if (this.working) return;
    this.working = true;
    for (let next = this.pending.shift(); next; next = this.pending.shift()) this.work(...next);
    this.working = false;
  }

  private work(session: Session, event: Event): void {
    const [state, effects] = step(session.state, event, this.policy);
    session.state = state;
    session.watched = awaitsAgent(state);
    for (const [name, ...details] of effects)
      (this.hands[name] as (session: Session, ...details: readonly unknown[]) => void)(session, ...details);
    for (const link of this.leaving) link.leaveWhenDone();
  }

  /** The inbox; `[]` where it is asked for from inside a driver's `inject`. */
  take(sessionId: string): readonly Steer[] {
    const session = this.sessions.get(sessionId);
    if (!session || this.working) return [];
    this.given = [];
    this.dispatch(session, { type: "takeCalled" });
    return this.given;
  }

  forget(session: Session): void {
    this.disarm(session);
    this.sessions.delete(session.id);
  }

  private readonly hands: { readonly [Name in EffectName]: (session: Session, ...details: Effects[Name]) => void } = {
    answer: (_, { link, id }, result) => this.respond(link, { id, result }),
    refuse: (_, { link, id }, error) => this.respond(link, { id, error }),
    startRun: (session, run, key, asker, params) => {
      const link = this.links.get(key);
      session.runId = asker ? asker.id : this.prefix + run;
      link?.expectRun(session.runId, session, run);
      link?.toAgent({ id: session.runId, method: METHOD.prompt, params: { ...params, sessionId: session.id } });
    },
    inject: (session, turnId, steer) => this.inject(session, turnId, steer),
    abortInjection: ({ injection }) => injection?.abort(),
    give: (_, steers) => {
      this.given = steers;
    },
    sendCancel: ({ id }, link) => this.links.get(link)?.toAgent({ method: METHOD.cancel, params: { sessionId: id } }),
    sendCancelRequest: ({ runId }, link) =>
      this.links.get(link)?.toAgent({ method: METHOD.cancelRequest, params: { requestId: runId } }),
    releaseHolds: (session) => {
      for (const link of this.links.values()) link.releaseHolds(session);
    },
    receipt: (session, receipt, key) => {
      for (const link of session.links)
        if (link.wishes.receipts && (key === undefined || key === link.key))
          link.toClient({ method: METHOD.receipt, params: { sessionId: session.id, ...receipt } });
    },
    echo: (session, { prompt, messageId }) => {
      for (const link of session.links)
        if (link.wishes.echo) show(link, session, UPDATE.userMessage, prompt, messageId);
    },
    say: (session, key, text) => {
      const link = this.links.get(key);
      if (link) show(link, session, UPDATE.agentMessage, [{ type: "text", text }], crypto.randomUUID());
    },
    arm: (session, timer, ms, turnId = "") => this.arm(session, timer, ms, turnId),
    disarm: (session) => this.disarm(session),
    forget: (session) => this.forget(session),
  };

  private respond(key: number, message: Omit<WireMessage, "jsonrpc"> & { readonly id: RequestId }): void {
    const link = this.links.get(key);
    link?.settled(message.id);
    link?.toClient(message);
  }

  private inject(session: Session, turnId: string, { messageId, prompt }: Steer): void {
    const controller = new AbortController();
    session.injection = controller;
    const report = (said: "delivered" | "undelivered"): void => this.dispatch(session, { type: "reportArrived", messageId, report: said });
    const call = {
      sessionId: session.id,
      turnId,
      messageId,
      prompt,
      signal: controller.signal,
      delivered: () => report("delivered"),
      undelivered: () => report("undelivered"),
    };
    const conclude = (verdict: unknown): void => {
      if (session.injection === controller) session.injection = undefined;
      const known = VERDICTS.includes(verdict) ? (verdict as Verdict) : "unsupported";
      this.dispatch(session, { type: "verdictArrived", messageId, verdict: known });
    };
    new Promise<Verdict>((resolve) => resolve((this.driver as SteeringDriver).inject(call))).then(conclude, () => conclude("unsupported"));
  }

  private arm(session: Session, timer: TimerName, ms: number, turnId: string): void {
    const timers = session.timers ?? new Map<string, unknown>();
    session.timers = timers;
    const name = `${timer} ${turnId}`;
    const fire = (): void => {
      timers.delete(name);
      this.dispatch(session, { type: "timerFired", timer, turnId });
    };
    this.clock.clear(timers.get(name));
    timers.set(name, this.clock.set(fire, ms));
  }

  private disarm(session: Session): void {
    for (const timer of session.timers?.values() ?? []) this.clock.clear(timer);
    session.timers = undefined;
  }
}
