/**
 * One connection: every message of the client and of the agent goes in, what goes on comes out. Looks at no more of a
 * message than it needs, hands everything else on as it is.
 */
import { advertisement } from "./advertisement.js";
import { OUR_COMMANDS, withOurCommands } from "./commands.js";
import { type Echo, takeEcho } from "./echo.js";
import { agentGone, idInUse, sessionNotFound, unsupportedContent } from "./errors.js";
import { about, type Hub, type Link, type Session } from "./hub.js";
import {
  cancelledId,
  isObject,
  objectAt,
  promptBlocks,
  revokeProblem,
  type SteerMeta,
  slashCommand,
  steerProblem,
  stringAt,
  weightOf,
} from "./parse.js";
import {
  CODE,
  type ContentBlock,
  type ContentType,
  type JsonObject,
  META_KEY,
  METHOD,
  type RequestId,
  type RevokeRequest,
  type RpcError,
  type SteeringRequest,
  UPDATE,
  type WireMessage,
  WORK_UPDATE,
} from "./protocol.js";
import { type Id, REFUSALS } from "./refusals.js";
import type { Asker, QueuedPrompt, Steer } from "./state.js";
import { handedOverOf } from "./steers.js";
import { nothing } from "./streams.js";

/** Where messages of a connection go. */
export interface Outlets {
  toClient(message: WireMessage): void;
  toAgent(message: WireMessage): void;
  /** The client is gone and nothing of it is left at the agent. */
  endAgent(): void;
}

/** The layer on one connection. */
export interface Wire {
  /** One message of the client. */
  fromClient(message: WireMessage): void;
  /** One message of the agent. */
  fromAgent(message: WireMessage): void;
  /** The client is gone: its turns are cancelled, its queued prompts dropped. The agent goes when its runs have ended. */
  clientGone(): void;
  /** Nothing more comes from the agent: what it owes is answered, and sessions that nobody else uses are forgotten. */
  agentGone(): void;
}

/** What becomes of the agent's answer to a request of the client. */
type Answered = (message: WireMessage) => void;

interface Asked {
  readonly answered: Answered;
  /** The session whose run the request is. */
  readonly running?: Session;
}

const withUpdate = (message: WireMessage, update: JsonObject): WireMessage => ({
  ...message,
  params: { ...objectAt(message.params), update },
});

const isFenced = ({ run, phase }: Session): boolean =>
  run !== undefined && (phase === "cancelling" || phase === "fenced");

/** Puts the layer between the two sides of a connection. */
export const createWire = (hub: Hub, outlets: Outlets): Wire => {
  const { sessions, dispatch } = hub;
  const { driver, slashCommands, idleBehavior: policy } = hub.traits;
  /** The agent answered `initialize`; before that the layer only looks on. */
  let ready = false;
  /** The agent has a steering of its own. */
  let transparent = false;
  let gone = false;
  /** What a steer may consist of: what the driver takes, and what the agent takes in a prompt. */
  let content: readonly ContentType[] = [];
  /** Requests at the agent, the client's and ours. */
  const asked = new Map<Id, Asked>();
  /** Sessions whose history this connection is being shown; what is replayed counts for nothing. */
  const replays: Session[] = [];
  /** Prompts of the client without an answer, and where they belong. */
  const prompts = new Map<Id, Session>();

  const toClient = (message: Omit<WireMessage, "jsonrpc">): void => outlets.toClient({ jsonrpc: "2.0", ...message });
  const toAgent = (message: Omit<WireMessage, "jsonrpc">): void => outlets.toAgent({ jsonrpc: "2.0", ...message });
  const sessionAt = (value: unknown): Session | undefined => sessions.get(objectAt(value)["sessionId"] as string);
  const refuse = (message: WireMessage, error: RpcError): void => toClient({ id: message.id as RequestId, error });
  const askerOf = (message: WireMessage): Asker => ({ link, id: message.id as RequestId });

  /** Permission and elicitation requests of the agent that the client has not answered. */
  const holds = new Map<Id, { readonly session: Session; readonly refusal: JsonObject }>();
  /** Those that were answered in place of the client; its own answer does not pass. */
  const released = new Set<Id>();
  const endHold = (id: Id): void => {
    const hold = holds.get(id);
    holds.delete(id);
    if (hold) dispatch(hold.session, "holdChanged", -1);
  };

  const link: Link = {
    wishes: {},
    toClient,
    toAgent,
    respond: (id, outcome) => {
      prompts.delete(id);
      toClient({ id, ...(outcome as Pick<WireMessage, "result" | "error">) });
    },
    startRun: (session, run, params) => {
      const id = run.wireId;
      const answered: Answered = ({ result, error }) => {
        if (!error && sessions.get(session.id) === session) session.links.add(link);
        dispatch(session, "runAnswered", run.id, error ? { error } : { result: objectAt(result) });
        hub.forgetUnused(session);
      };
      asked.set(id, { answered, running: session });
      toAgent({ id, ...about(session, METHOD.prompt, params) });
    },
    releaseHolds: (session) => {
      for (const [id, hold] of holds) {
        if (hold.session !== session) continue;
        holds.delete(id);
        released.add(id);
        toClient({ method: METHOD.cancelRequest, params: { requestId: id } });
        toAgent({ id: id as RequestId, ...hold.refusal });
      }
    },
    leaveWhenDone: () => {
      for (const { running } of asked.values()) if (running?.phase === "cancelling") return;
      hub.leaving.delete(link);
      outlets.endAgent();
    },
  };
  hub.links.add(link);

  // --- From the client ------------------------------------------------------------------------------------------------

  const forward = (message: WireMessage, answered: Answered = outlets.toClient): void => {
    if (message.id !== undefined) asked.set(message.id, { answered });
    outlets.toAgent(message);
  };

  /** A message of the user as the prompt and as the steer that it may become. */
  const arriving = (
    asker: Asker,
    prompt: readonly ContentBlock[],
    params: JsonObject,
    clientMessageId?: string,
  ): [QueuedPrompt, Steer] => [
    { asker, turnId: crypto.randomUUID(), params, prompt },
    {
      messageId: crypto.randomUUID(),
      clientMessageId,
      prompt,
      weight: weightOf(prompt),
      injectable: prompt.every(({ type }) => driver?.supports.content.includes(type)),
      link,
      outcome: "injected",
      fate: "waiting",
      revokers: [],
    },
  ];

  const barrier = (session: Session | undefined, sessionId: string): RpcError | undefined =>
    session?.links.has(link) ? undefined : sessionNotFound(sessionId);

  /** A request of ours: answered here, unless its params are well and this connection may steer its session. */
  const own =
    <Params extends { readonly sessionId: string }>(
      problemOf: (params: unknown) => RpcError | undefined,
      act: (session: Session, params: Params, asker: Asker) => void,
    ): Answered =>
    (message) => {
      const params = message.params as Params;
      const session = sessionAt(params);
      const error = problemOf(params) ?? barrier(session, params.sessionId);
      if (error) refuse(message, error);
      else act(session as Session, params, askerOf(message));
    };

  const steer = own<SteeringRequest>(steerProblem, (session, params, asker) => {
    const { prompt } = params;
    const { idleBehavior, expectedTurnId, clientMessageId } = objectAt(params, "_meta", META_KEY) as SteerMeta;
    const index = prompt.findIndex(({ type }) => !content.includes(type));
    const foreign = prompt[index];
    const wanted = idleBehavior ?? policy;
    dispatch(
      session,
      "steerArrived",
      ...arriving(asker, prompt, { prompt }, clientMessageId ?? undefined),
      foreign && unsupportedContent(foreign.type, `prompt[${index}].type`, content),
      wanted === "startNewTurn" && link.wishes["receipts"] !== true ? "promptRequired" : wanted,
      expectedTurnId ?? undefined,
    );
  });

  const revoke = own<RevokeRequest>(revokeProblem, (session, { messageId }, asker) =>
    dispatch(session, "revokeArrived", asker, messageId),
  );

  const prompt = (message: WireMessage): void => {
    const asker = askerOf(message);
    const sessionId = stringAt(message.params, "sessionId");
    const blocks = promptBlocks(message.params);
    if (sessionId === undefined || !blocks) return forward(message);
    const session = hub.open(sessionId);
    prompts.set(asker.id, session);
    dispatch(
      session,
      "promptArrived",
      ...arriving(asker, blocks, message.params as JsonObject),
      slashCommands ? slashCommand(blocks) : undefined,
      barrier(session, sessionId),
    );
  };

  const cancel = (message: WireMessage): void => {
    const session = sessionAt(message.params);
    if (session) dispatch(session, "cancelArrived", link);
    else outlets.toAgent(message);
  };

  const cancelRequest = (message: WireMessage): void => {
    const id = cancelledId(message.params);
    const session = prompts.get(id);
    if (session) dispatch(session, "promptCancelled", { link, id: id as RequestId });
    else if (asked.has(id)) outlets.toAgent(message);
  };

  const attach = (message: WireMessage): void => {
    const known = message.method === METHOD.forkSession ? undefined : sessionAt(message.params);
    if (known) replays.push(known);
    forward(message, (response) => {
      if (known) replays.splice(replays.indexOf(known), 1);
      outlets.toClient(response);
      const sessionId = stringAt(response.result, "sessionId") ?? stringAt(message.params, "sessionId");
      if (response.error || sessionId === undefined) return;
      const session = hub.open(sessionId);
      session.links.add(link);
      if (slashCommands) hub.clock.set(() => offerCommands(session), 0);
    });
  };

  /** Where the agent announces no commands of its own, ours are announced by us. */
  const offerCommands = (session: Session): void => {
    if (session.hasCommands || !session.links.has(link)) return;
    const update = { sessionUpdate: UPDATE.commands, availableCommands: OUR_COMMANDS };
    toClient(about(session, METHOD.update, { update }));
  };

  const close = (message: WireMessage): void => {
    const closing = sessionAt(message.params);
    forward(message, (response) => {
      const session = sessionAt(message.params);
      const ok = !response.error || response.error.code === CODE.notFound;
      if (session) dispatch(session, "closeAnswered", ok);
      outlets.toClient(response);
    });
    if (closing) dispatch(closing, "closeArrived");
  };

  const initialize = (message: WireMessage): void => {
    link.wishes = objectAt(message.params, "clientCapabilities", "_meta", META_KEY);
    forward(message, (response) => {
      const { result } = response;
      if (!isObject(result)) return outlets.toClient(response);
      const meta = objectAt(result, "_meta");
      ready = true;
      transparent = META_KEY in meta && !driver;
      if (transparent) return outlets.toClient(response);
      const steering = advertisement(result, hub.traits);
      content = steering.content;
      outlets.toClient({ ...response, result: { ...result, _meta: { ...meta, [META_KEY]: steering } } });
    });
  };

  const requests = new Map<string, Answered>([
    [METHOD.steering, steer],
    [METHOD.revoke, revoke],
    [METHOD.prompt, prompt],
    [METHOD.newSession, attach],
    [METHOD.loadSession, attach],
    [METHOD.resumeSession, attach],
    [METHOD.forkSession, attach],
    [METHOD.closeSession, close],
    [METHOD.deleteSession, close],
  ]);
  const notifications = new Map<string, Answered>([
    [METHOD.cancel, cancel],
    [METHOD.cancelRequest, cancelRequest],
    [METHOD.steering, nothing],
    [METHOD.revoke, nothing],
  ]);

  const clientAnswered = (message: WireMessage): void => {
    if (!released.delete(message.id)) outlets.toAgent(message);
    endHold(message.id);
  };

  // --- From the agent -------------------------------------------------------------------------------------------------

  const seeAgentAct = (session: Session): void => {
    if (session.phase !== "running" || session.turn?.bound.length) dispatch(session, "agentActed");
  };

  const echoOf = (session: Session, { content }: JsonObject): Echo | undefined => {
    return session.turn && takeEcho(session.echoes, handedOverOf(session), content);
  };

  const updated = (message: WireMessage): void => {
    const { sessionId, update } = objectAt(message.params);
    const kind = isObject(update) ? update["sessionUpdate"] : undefined;
    const session = sessions.get(sessionId as string);
    if (slashCommands && kind === UPDATE.commands) {
      if (session) session.hasCommands = true;
      return toClient(withUpdate(message, withOurCommands(update as JsonObject)));
    }
    if (!session || replays.includes(session) || !WORK_UPDATE.test(kind as string)) return outlets.toClient(message);
    if (isFenced(session)) return seeAgentAct(session);
    const echo = kind === UPDATE.userMessage ? echoOf(session, update as JsonObject) : undefined;
    const shown = echo ? withUpdate(message, { ...(update as JsonObject), messageId: echo.messageId }) : message;
    // What the agent shows first stands before what the layer shows because of it.
    if (echo?.native) outlets.toClient(shown);
    seeAgentAct(session);
    if (!echo || (!echo.native && link.wishes["echo"] !== true)) outlets.toClient(shown);
  };

  const agentAsked = (message: WireMessage, method: string): void => {
    const session = sessionAt(message.params) ?? asked.get(cancelledId(message.params))?.running;
    const refusal = REFUSALS.get(method);
    const id = message.id as RequestId;
    if (session) {
      seeAgentAct(session);
      if (refusal && isFenced(session)) return toAgent({ id, ...refusal });
      if (refusal?.["result"] && session.phase === "running") {
        holds.set(id, { session, refusal });
        dispatch(session, "holdChanged", 1);
      }
    }
    outlets.toClient(message);
  };

  const agentNotified = (message: WireMessage, method: string): void => {
    outlets.toClient(message);
    if (method === METHOD.cancelRequest) endHold(cancelledId(message.params));
  };

  /** An answer that nobody waits for does not pass: every request of the client has exactly one. */
  const agentAnswered = (message: WireMessage): void => {
    const known = asked.get(message.id);
    asked.delete(message.id);
    if (known) known.answered(message);
    else if (message.id === null) outlets.toClient(message);
  };

  return {
    fromClient: (message) => {
      if (transparent || !isObject(message)) return outlets.toAgent(message);
      const { method, id } = message as WireMessage;
      if (gone) return id === undefined || method === undefined ? undefined : refuse(message, agentGone);
      if (method === undefined) return clientAnswered(message);
      if (asked.has(id) || prompts.has(id)) return refuse(message, idInUse);
      if (method === METHOD.initialize && id !== undefined) return initialize(message);
      const handlers = id === undefined ? notifications : requests;
      ((ready && handlers.get(method)) || forward)(message);
    },
    fromAgent: (message) => {
      if (transparent || !isObject(message)) return outlets.toClient(message);
      const { method, id } = message as WireMessage;
      if (method === METHOD.update) return updated(message);
      if (method === undefined) return agentAnswered(message);
      if (id === undefined) return agentNotified(message, method);
      agentAsked(message, method);
    },
    clientGone: () => {
      for (const session of sessions.values()) dispatch(session, "linkLost", link);
      hub.leaving.add(link);
      link.leaveWhenDone();
    },
    agentGone: () => {
      gone = true;
      for (const session of sessions.values()) {
        dispatch(session, "agentLost", link);
        session.links.delete(link);
        hub.forgetUnused(session);
      }
      for (const [id, { answered }] of asked) answered({ jsonrpc: "2.0", id: id as RequestId, error: agentGone });
      asked.clear();
      hub.leaving.delete(link);
      hub.links.delete(link);
    },
  };
};
