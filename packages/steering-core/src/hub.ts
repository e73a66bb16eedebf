/**
 * All sessions of one steerable, and the hands of the machine: an event goes in, its effects are carried out, in order,
 * before anything else happens. Synchronous from message to effect, which is what makes `take()` and the end of a run atomic.
 */
import type { InjectCall, SteeringDriver, Verdict } from "./driver.js";
import type { Echo } from "./echo.js";
import type { ClientWishes } from "./parse.js";
import { type ContentBlock, METHOD, type RequestId, UPDATE, type WireMessage } from "./protocol.js";
import { awaitsAgent, IDLE, step } from "./session.js";
import type { Asker, EffectName, Effects, Event, Policy, State, Steer } from "./state.js";

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
  runId: RequestId;
  /** Steers of the open turn that were shown to somebody. */
  echoes: Echo[];
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
    link.toClient({
      method: METHOD.update,
      params: { sessionId: id, update: { sessionUpdate: kind, content, messageId } },
    });
}

/** The sessions of one steerable. */
export interface Hub {
  readonly policy: Policy;
  readonly driver: SteeringDriver | undefined;
  readonly clock: Clock;
  readonly sessions: Map<string, Session>;
  readonly links: Map<number, Link>;
  /** Connections whose client is gone and whose agent still works. */
  readonly leaving: Set<Link>;
  /** The session of that id, which begins to exist here if it was not known. */
  open(id: string): Session;
  /** Carries out one event. An event raised by its own effects follows it. */
  dispatch(session: Session, event: Event): void;
  /** The inbox; `[]` where it is asked for from inside a driver's `inject`. */
  take(sessionId: string): readonly Steer[];
  /** Drops a session that no connection may steer and where nothing runs. */
  forgetUnused(session: Session): void;
}

const NO_ECHOES: Echo[] = [];
/** An agent that repeats a steer does it before it was given many more. */
const MAX_ECHOES = 32;

/** An effect as it is carried out: which hand takes what was checked where the machine asked for it. */
type Untyped = readonly [EffectName, unknown?, unknown?, unknown?, unknown?];
type Hand = (session: Session, ...details: unknown[]) => void;

type Hands = { readonly [Name in EffectName]: (session: Session, ...details: Effects[Name]) => void };

export function createHub(policy: Policy, driver: SteeringDriver | undefined, clock: Clock): Hub {
  const sessions = new Map<string, Session>();
  const links = new Map<number, Link>();
  const leaving = new Set<Link>();
  /** Our request ids can never be a client's. */
  const prefix = `steering-${crypto.randomUUID()}/`;
  const events: (readonly [Session, Event])[] = [];
  let working = false;
  let given: readonly Steer[] = [];

  const work = (session: Session, event: Event): void => {
    const [state, effects] = step(session.state, event, policy);
    session.state = state;
    session.watched = awaitsAgent(state);
    for (const [name, one, two, three, four] of effects as readonly Untyped[])
      (hands[name] as Hand)(session, one, two, three, four);
    if (!state.turn) session.echoes = NO_ECHOES;
    for (const link of leaving) link.leaveWhenDone();
  };

  const dispatch = (session: Session, event: Event): void => {
    events.push([session, event]);
    if (working) return;
    working = true;
    for (let next = events.shift(); next; next = events.shift()) work(...next);
    working = false;
  };

  const respond = ({ link: key, id }: Asker, outcome: Pick<WireMessage, "result" | "error">): void => {
    const link = links.get(key);
    link?.settled(id);
    link?.toClient({ id, ...outcome });
  };

  const inject = (session: Session, turnId: string, { messageId, prompt }: Steer): void => {
    const controller = new AbortController();
    session.injection = controller;
    const report = (said: "delivered" | "undelivered") => (): void =>
      dispatch(session, { type: "reportArrived", messageId, report: said });
    const conclude = (verdict: unknown): void => {
      const known = VERDICTS.includes(verdict) ? (verdict as Verdict) : "unsupported";
      dispatch(session, { type: "verdictArrived", messageId, verdict: known });
    };
    const call: InjectCall = {
      sessionId: session.id,
      turnId,
      messageId,
      prompt,
      signal: controller.signal,
      delivered: report("delivered"),
      undelivered: report("undelivered"),
    };
    new Promise((resolve) => resolve(driver?.inject(call))).then(conclude, () => conclude("unsupported"));
  };

  const disarm = (session: Session): void => {
    for (const timer of session.timers?.values() ?? []) clock.clear(timer);
    session.timers = undefined;
  };

  const forget = (session: Session): void => {
    disarm(session);
    sessions.delete(session.id);
  };

  const hands: Hands = {
    answer: (_, asker, result) => respond(asker, { result }),
    refuse: (_, asker, error) => respond(asker, { error }),
    startRun: (session, run, key, asker, params) => {
      const link = links.get(key);
      const id = asker ? asker.id : prefix + run;
      session.runId = id;
      link?.expectRun(id, session, run);
      link?.toAgent({ id, method: METHOD.prompt, params: { ...params, sessionId: session.id } });
    },
    inject,
    abortInjection: ({ injection }) => injection?.abort(),
    give: (_, steers) => {
      given = steers;
    },
    sendCancel: ({ id }, key) => links.get(key)?.toAgent({ method: METHOD.cancel, params: { sessionId: id } }),
    sendCancelRequest: ({ runId }, key) =>
      links.get(key)?.toAgent({ method: METHOD.cancelRequest, params: { requestId: runId } }),
    releaseHolds: (session) => {
      for (const link of links.values()) link.releaseHolds(session);
    },
    receipt: (session, receipt, key) => {
      for (const link of session.links)
        if (link.wishes.receipts && (key === undefined || key === link.key))
          link.toClient({ method: METHOD.receipt, params: { sessionId: session.id, ...receipt } });
    },
    echo: (session, { prompt, messageId }) => {
      const watchers = [...session.links].filter(({ wishes }) => wishes.echo);
      if (watchers.length === 0) return;
      const native = session.echoes.some((echo) => echo.messageId === messageId);
      if (!native) session.echoes = [...session.echoes.slice(-MAX_ECHOES), { messageId, left: [...prompt], native }];
      for (const link of watchers)
        if (!native || link.key !== session.state.run?.link) show(link, session, UPDATE.userMessage, prompt, messageId);
    },
    say: (session, key, text) => {
      // Said in answer to a message of this connection, so it is here.
      show(links.get(key) as Link, session, UPDATE.agentMessage, [{ type: "text", text }], crypto.randomUUID());
    },
    arm: (session, timer, ms, turnId = "") => {
      const timers = session.timers ?? new Map<string, unknown>();
      const name = timer + turnId;
      session.timers = timers;
      clock.clear(timers.get(name));
      const fire = (): void => {
        timers.delete(name);
        dispatch(session, { type: "timerFired", timer, turnId });
      };
      timers.set(name, clock.set(fire, ms));
    },
    disarm,
    forget,
  };

  return {
    policy,
    driver,
    clock,
    sessions,
    links,
    leaving,
    dispatch,
    open: (id) => {
      let session = sessions.get(id);
      if (!session) {
        session = {
          id,
          state: IDLE,
          links: new Set(),
          watched: true,
          hasCommands: false,
          runId: null,
          echoes: NO_ECHOES,
          injection: undefined,
          timers: undefined,
        };
        sessions.set(id, session);
      }
      return session;
    },
    take: (sessionId) => {
      const session = sessions.get(sessionId);
      given = [];
      if (session && !working) dispatch(session, { type: "takeCalled" });
      return given;
    },
    forgetUnused: (session) => {
      if (session.links.size === 0 && session.state.phase === "idle") forget(session);
    },
  };
}
