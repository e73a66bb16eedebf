/**
 * All sessions of one steerable, and the hands of the machine: an event goes in, its effects are carried out, in order,
 * before anything else happens. Synchronous from message to effect, which is what makes `take()` and the end of a run atomic.
 */
import type { InjectCall, SteeringDriver, Verdict } from "./driver.js";
import type { Echo } from "./echo.js";
import { type ContentBlock, type JsonObject, METHOD, type RequestId, UPDATE, type WireMessage } from "./protocol.js";
import { idleState, step } from "./session.js";
import type {
  DriverReport,
  EffectName,
  Effects,
  EventName,
  Events,
  LinkRef,
  Policy,
  Run,
  RunOutcome,
  State,
  Steer,
} from "./state.js";
import { textPrompt } from "./turn.js";

/** One connection, as the hub needs it. */
export interface Link {
  /** What its client says at `clientCapabilities._meta.steering`; only `true` counts. */
  wishes: JsonObject;
  toClient(message: Omit<WireMessage, "jsonrpc">): void;
  toAgent(message: Omit<WireMessage, "jsonrpc">): void;
  /** Answers a request of the client that brought an event. */
  respond(id: RequestId, outcome: RunOutcome): void;
  /** Sends a prompt to the agent, whose answer ends the run. */
  startRun(session: Session, run: Run, params: JsonObject): void;
  releaseHolds(session: Session): void;
  /** Lets the agent go once nothing of a client that is gone is left there. */
  leaveWhenDone(): void;
}

/** One session: its state, and what belongs to the state but cannot be data. */
export interface Session extends State {
  readonly id: string;
  /** Connections that may steer here. */
  readonly links: Set<Link>;
  hasCommands?: boolean;
  /** Steers of the open turn that were shown to somebody. */
  echoes: Echo[];
  injection?: AbortController;
  timers: { [timer: string]: unknown };
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

/** A message of ours about a session. */
export const about = ({ id }: Session, method: string, details?: object): Omit<WireMessage, "jsonrpc"> => ({
  method,
  params: { ...details, sessionId: id },
});

const show = (link: Link, session: Session, kind: string, blocks: readonly ContentBlock[], messageId: string): void => {
  for (const content of blocks)
    link.toClient(about(session, METHOD.update, { update: { sessionUpdate: kind, content, messageId } }));
};

/** What the adapter decided once. */
export interface Traits extends Policy {
  readonly driver: SteeringDriver | undefined;
  readonly inbox: boolean;
  readonly slashCommands: boolean;
}

/** The sessions of one steerable. */
export interface Hub {
  readonly traits: Traits;
  readonly clock: Clock;
  readonly sessions: Map<string, Session>;
  readonly links: Set<Link>;
  /** Connections whose client is gone and whose agent still works. */
  readonly leaving: Set<Link>;
  /** The session of that id, which begins to exist here if it was not known. */
  open(id: string): Session;
  /** Carries out one event. An event raised by its own effects follows it. */
  dispatch<Name extends EventName>(session: Session, name: Name, ...event: Events[Name]): void;
  /** The inbox; `[]` where it is asked for from inside a driver's `inject`. */
  take(sessionId: string): readonly Steer[];
  /** Drops a session that no connection may steer and where nothing runs. */
  forgetUnused(session: Session): void;
}

/** An agent that repeats a steer does it before it was given many more. */
const MAX_ECHOES = 32;

/** An effect as it is carried out: what its hand takes was checked where the machine asked for it. */
type Hand = (session: Session, ...details: unknown[]) => void;

/** What stands for a connection in the machine is the connection. */
const linkOf = (link: LinkRef): Link => link as Link;

type Hands = { readonly [Name in EffectName]: (session: Session, ...details: Effects[Name]) => void };

export const createHub = (traits: Traits, clock: Clock): Hub => {
  const sessions = new Map<string, Session>();
  const links = new Set<Link>();
  const leaving = new Set<Link>();
  const events: (readonly [Session, EventName, readonly unknown[]])[] = [];
  let working = false;
  let given: readonly Steer[] = [];

  const work = (session: Session, event: EventName, given: readonly unknown[]): void => {
    for (const [name, ...details] of step(session, event, ...(given as never)))
      (hands[name] as Hand)(session, ...details);
    if (!session.turn) session.echoes = [];
    for (const link of leaving) link.leaveWhenDone();
  };

  const dispatch: Hub["dispatch"] = (session, name, ...event) => {
    events.push([session, name, event]);
    if (working) return;
    working = true;
    for (let next = events.shift(); next; next = events.shift()) work(...next);
    working = false;
  };

  const inject = (session: Session, turnId: string, { messageId, prompt }: Steer): void => {
    const controller = new AbortController();
    session.injection = controller;
    const report = (said: DriverReport) => (): void => dispatch(session, "reportArrived", messageId, said);
    const conclude = (verdict: Verdict): void => dispatch(session, "verdictArrived", messageId, verdict);
    const call: InjectCall = {
      sessionId: session.id,
      turnId,
      messageId,
      prompt,
      signal: controller.signal,
      delivered: report("delivered"),
      undelivered: report("undelivered"),
    };
    new Promise<Verdict>((resolve) => resolve(traits.driver?.inject(call) as PromiseLike<Verdict>)).then(conclude, () =>
      conclude("unsupported"),
    );
  };

  const disarm = (session: Session): void => {
    for (const timer of Object.values(session.timers)) clock.clear(timer);
    session.timers = {};
  };

  const forget = (session: Session): void => {
    disarm(session);
    sessions.delete(session.id);
  };

  const hands: Hands = {
    respond: (_, { link, id }, outcome) => linkOf(link).respond(id, outcome),
    startRun: (session, run, params) => linkOf(run.link).startRun(session, run, params),
    inject,
    abortInjection: ({ injection }) => injection?.abort(),
    give: (_, steers) => {
      given = steers;
    },
    sendCancel: (session, link) => linkOf(link).toAgent(about(session, METHOD.cancel)),
    sendCancelRequest: (_, { link, wireId }) =>
      linkOf(link).toAgent({ method: METHOD.cancelRequest, params: { requestId: wireId } }),
    releaseHolds: (session) => {
      for (const link of links) link.releaseHolds(session);
    },
    receipt: (session, receipt, sender) => {
      for (const link of session.links)
        if (link.wishes["receipts"] === true && (sender ?? link) === link)
          link.toClient(about(session, METHOD.receipt, receipt));
    },
    echo: (session, messageId, prompt) => {
      const native = session.echoes.some((echo) => echo.messageId === messageId);
      if (!native) session.echoes = [...session.echoes.slice(-MAX_ECHOES), { messageId, left: [...prompt], native }];
      for (const link of session.links)
        if (link.wishes["echo"] === true && !(native && link === session.run?.link))
          show(link, session, UPDATE.userMessage, prompt, messageId);
    },
    say: (session, link, text) => {
      show(linkOf(link), session, UPDATE.agentMessage, textPrompt(text), crypto.randomUUID());
    },
    arm: (session, timer, ms) => {
      session.timers[timer] = clock.set(() => dispatch(session, "timerFired", timer), ms);
    },
    disarm,
    forget,
  };

  return {
    traits,
    clock,
    sessions,
    links,
    leaving,
    dispatch,
    open: (id) => {
      const session = sessions.get(id) ?? {
        ...idleState(traits),
        id,
        links: new Set(),
        echoes: [],
        timers: {},
      };
      sessions.set(id, session);
      return session;
    },
    take: (sessionId) => {
      const session = sessions.get(sessionId);
      given = [];
      if (session && !working) dispatch(session, "takeCalled");
      return given;
    },
    forgetUnused: (session) => {
      if (session.links.size === 0 && session.phase === "idle") forget(session);
    },
  };
};
