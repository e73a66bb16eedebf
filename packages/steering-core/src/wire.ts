/**
 * One connection: every message of the client and of the agent goes in, what goes on comes out. Looks at no more of a
 * message than it needs, hands everything else on as it is.
 */
import { agentGone, malformed, requestCancelled, sessionNotFound, unsupportedContent } from "./errors.js";
import type { Hub, Link, Session } from "./hub.js";
import { type ClientWishes, cancelledId, clientWishes, isObject, measure, objectAt, parseRevoke, parseSteer, promptBlocks, slashCommand, stringAt } from "./parse.js";
import {
  CODE,
  type ContentBlock,
  type ContentType,
  type JsonObject,
  META_KEY,
  METHOD,
  type RequestId,
  type RpcError,
  type SteeringAdvertisement,
  UPDATE,
  type WireMessage,
} from "./protocol.js";
import type { ArrivingSteer, Asker, RunOutcome } from "./state.js";

/** Where messages of a connection go. */
export interface Outlets {
  toClient(message: WireMessage): void;
  toAgent(message: WireMessage): void;
  /** The client is gone and nothing of it is left at the agent. */
  endAgent(): void;
}

/** What the layer says of itself that only the adapter knows. */
export interface Traits {
  readonly inbox: boolean;
  readonly slashCommands: boolean;
}

/** A request of the client that the agent has not answered. */
type Asked =
  | { readonly kind: "other" | "initialize" }
  | { readonly kind: "run"; readonly session: Session; readonly run: string }
  | { readonly kind: "attach"; readonly sessionId: string | undefined }
  | { readonly kind: "close"; readonly session: Session };

/** A permission or elicitation request of the agent that the client has not answered. */
interface Opened {
  readonly session: Session;
  readonly refusal: JsonObject;
  /** It holds steers back. */
  holding: boolean;
  /** The agent has its answer from us; the client's is not wanted any more. */
  swallow: boolean;
}

type Handler = (message: WireMessage) => void;

const OURS = [
  { name: "steer", description: "Tell the running turn something, without stopping it", input: { hint: "guidance for the running turn" } },
  { name: "queue", description: "Run a prompt after the running turn", input: { hint: "prompt for the next turn" } },
];
const FENCED: readonly unknown[] = [UPDATE.userMessage, UPDATE.agentMessage, UPDATE.agentThought, UPDATE.toolCall, UPDATE.toolCallUpdate, UPDATE.plan];
/** How a request of the agent is answered in place of the client once the turn is being cancelled. */
const REFUSALS: Readonly<Record<string, JsonObject>> = {
  [METHOD.permission]: { result: { outcome: { outcome: "cancelled" } } },
  [METHOD.elicitation]: { result: { action: "cancel" } },
  [METHOD.writeFile]: { error: requestCancelled },
  [METHOD.createTerminal]: { error: requestCancelled },
};

const isFenced = ({ state }: Session): boolean => state.run !== undefined && (state.phase === "cancelling" || state.phase === "fenced");

let links = 0;

/** The layer on one connection. */
export class Wire implements Link {
  readonly key: number = ++links;
  wishes: ClientWishes = { receipts: false, echo: false };
  /** The agent answered `initialize`; before that the layer only looks on. */
  private ready = false;
  /** The agent has a steering of its own. */
  private transparent = false;
  private agentContent: readonly ContentType[] = [];
  private readonly asked = new Map<RequestId, Asked>();
  /** Prompts of the client without an answer, and where they belong. */
  private readonly prompts = new Map<RequestId, Session>();
  private readonly opened = new Map<RequestId, Opened>();

  private readonly hub: Hub;
  private readonly outlets: Outlets;
  private readonly traits: Traits;

  constructor(hub: Hub, outlets: Outlets, traits: Traits) {
    this.hub = hub;
    this.outlets = outlets;
    this.traits = traits;
    hub.links.set(this.key, this);
  }

  toClient(message: Omit<WireMessage, "jsonrpc">): void {
    this.outlets.toClient({ jsonrpc: "2.0", ...message });
  }

  toAgent(message: Omit<WireMessage, "jsonrpc">): void {
    this.outlets.toAgent({ jsonrpc: "2.0", ...message });
  }

  expectRun(id: RequestId, session: Session, run: string): void {
    this.asked.set(id, { kind: "run", session, run });
  }

  settled(id: RequestId): void {
    this.prompts.delete(id);
  }

  // --- From the client --------------------------------------------------------------------------------------------------

  /** One message of the client. */
  fromClient(message: WireMessage): void {
    if (this.transparent || !isObject(message)) return this.outlets.toAgent(message);
    const { method, id } = message as WireMessage;
    if (method === undefined) return this.clientAnswered(message);
    const handler = this.ready ? this.clientHandlers[method] : undefined;
    if (handler && id !== undefined === this.requests.has(method)) return handler(message);
    if (handler && this.swallowed.has(method)) return;
    if (id !== undefined) this.asked.set(id, { kind: method === METHOD.initialize ? "initialize" : "other" });
    if (method === METHOD.initialize) this.wishes = clientWishes(message.params);
    this.outlets.toAgent(message);
  }

  private readonly clientHandlers: Readonly<Record<string, Handler | undefined>> = {
    [METHOD.steering]: (message) => this.steer(message),
    [METHOD.revoke]: (message) => this.revoke(message),
    [METHOD.prompt]: (message) => this.prompt(message),
    [METHOD.cancel]: (message) => this.cancel(message),
    [METHOD.cancelRequest]: (message) => this.cancelRequest(message),
    [METHOD.newSession]: (message) => this.attachLater(message),
    [METHOD.loadSession]: (message) => this.attachLater(message),
    [METHOD.resumeSession]: (message) => this.attachLater(message),
    [METHOD.forkSession]: (message) => this.attachLater(message, undefined),
    [METHOD.closeSession]: (message) => this.close(message),
    [METHOD.deleteSession]: (message) => this.close(message),
  };
  /** Of those, the ones that are requests; the rest are notifications. */
  private readonly requests: ReadonlySet<string> = new Set(
    Object.keys(this.clientHandlers).filter((method) => method !== METHOD.cancel && method !== METHOD.cancelRequest),
  );
  /** Requests of ours that mean nothing as a notification, and are nobody else's either. */
  private readonly swallowed: ReadonlySet<string> = new Set([METHOD.steering, METHOD.revoke]);

  private refuse(message: WireMessage, error: RpcError): void {
    this.toClient({ id: message.id as RequestId, error });
  }

  private asker(message: WireMessage): Asker {
    return { link: this.key, id: message.id as RequestId };
  }

  /** A session that this connection may steer. */
  private mine(sessionId: string): Session | undefined {
    const session = this.hub.sessions.get(sessionId);
    return session?.links.has(this) ? session : undefined;
  }

  private arriving(prompt: readonly ContentBlock[], bytes: number, clientMessageId?: string): ArrivingSteer {
    const taken = this.hub.driver?.supports.content ?? [];
    return { messageId: crypto.randomUUID(), clientMessageId, prompt, bytes, injectable: prompt.every(({ type }) => taken.includes(type)) };
  }

  /** What a steer may consist of: what the driver takes, and what the agent takes in a prompt. */
  private get content(): readonly ContentType[] {
    return [...new Set<ContentType>(["text", ...this.agentContent, ...(this.hub.driver?.supports.content ?? [])])];
  }

  private steer(message: WireMessage): void {
    const parsed = parseSteer(message.params);
    if (!parsed.ok) return this.refuse(message, malformed(METHOD.steering, parsed.path, parsed.problem));
    const { sessionId, prompt, bytes, idleBehavior = this.hub.policy.idleBehavior, expectedTurnId, clientMessageId } = parsed.value;
    const session = this.mine(sessionId);
    if (!session) return this.refuse(message, sessionNotFound(sessionId));
    const { content } = this;
    const foreign = prompt.findIndex(({ type }) => !content.includes(type));
    const block = prompt[foreign];
    if (block) return this.refuse(message, unsupportedContent(block.type, `prompt[${foreign}].type`, content));
    this.hub.dispatch(session, {
      type: "steerArrived",
      asker: this.asker(message),
      turnId: crypto.randomUUID(),
      steer: this.arriving(prompt, bytes, clientMessageId),
      idleBehavior: idleBehavior === "startNewTurn" && !this.wishes.receipts ? "promptRequired" : idleBehavior,
      expectedTurnId,
    });
  }

  private revoke(message: WireMessage): void {
    const parsed = parseRevoke(message.params);
    if (!parsed.ok) return this.refuse(message, malformed(METHOD.revoke, parsed.path, parsed.problem));
    const session = this.mine(parsed.value.sessionId);
    if (!session) return this.refuse(message, sessionNotFound(parsed.value.sessionId));
    this.hub.dispatch(session, { type: "revokeArrived", asker: this.asker(message), messageId: parsed.value.messageId });
  }

  private prompt(message: WireMessage): void {
    const id = message.id as RequestId;
    const sessionId = stringAt(message.params, "sessionId");
    const prompt = promptBlocks(message.params);
    if (sessionId === undefined || !prompt) return this.forward(message, { kind: "other" });
    if (this.asked.has(id) || this.prompts.has(id)) return this.refuse(message, { code: CODE.invalidRequest, message: "Request id is in use." });
    const session = this.hub.session(sessionId);
    this.prompts.set(id, session);
    const command = this.traits.slashCommands ? slashCommand(prompt) : undefined;
    this.hub.dispatch(session, {
      type: "promptArrived",
      asker: this.asker(message),
      turnId: crypto.randomUUID(),
      params: message.params as JsonObject,
      steer: this.arriving(prompt, measure(prompt).bytes),
      ...(command ? { command } : {}),
    });
  }

  private cancel(message: WireMessage): void {
    const session = this.hub.sessions.get(stringAt(message.params, "sessionId") ?? "");
    if (session) this.hub.dispatch(session, { type: "cancelArrived", link: this.key });
    else this.outlets.toAgent(message);
  }

  private cancelRequest(message: WireMessage): void {
    const id = cancelledId(message.params);
    const session = id === undefined ? undefined : this.prompts.get(id);
    if (session) this.hub.dispatch(session, { type: "promptCancelled", asker: { link: this.key, id: id as RequestId } });
    else if (id === undefined || this.asked.has(id)) this.outlets.toAgent(message);
  }

  private forward(message: WireMessage, asked: Asked): void {
    this.asked.set(message.id as RequestId, asked);
    this.outlets.toAgent(message);
  }

  private attachLater(message: WireMessage, sessionId: string | undefined = stringAt(message.params, "sessionId")): void {
    const known = sessionId === undefined ? undefined : this.hub.sessions.get(sessionId);
    if (known) known.replays += 1;
    this.forward(message, { kind: "attach", sessionId });
  }

  private close(message: WireMessage): void {
    const session = this.hub.sessions.get(stringAt(message.params, "sessionId") ?? "");
    if (!session) return this.forward(message, { kind: "other" });
    this.forward(message, { kind: "close", session });
    this.hub.dispatch(session, { type: "closeArrived" });
  }

  private clientAnswered(message: WireMessage): void {
    const opened = this.opened.get(message.id ?? null);
    if (!opened) return this.outlets.toAgent(message);
    this.opened.delete(message.id ?? null);
    if (opened.swallow) return;
    this.outlets.toAgent(message);
    if (opened.holding) this.hub.dispatch(opened.session, { type: "holdChanged", by: -1 });
  }

  // --- From the agent ---------------------------------------------------------------------------------------------------

  /** One message of the agent. */
  fromAgent(message: WireMessage): void {
    if (this.transparent || !isObject(message)) return this.outlets.toClient(message);
    const { method, id } = message as WireMessage;
    if (method === METHOD.update) return this.update(message);
    if (method === undefined) return this.agentAnswered(message);
    if (id !== undefined) return this.agentAsked(message, method, id);
    const opened = method === METHOD.cancelRequest ? this.opened.get(cancelledId(message.params) ?? null) : undefined;
    this.outlets.toClient(message);
    if (!opened?.holding) return;
    opened.holding = false;
    this.hub.dispatch(opened.session, { type: "holdChanged", by: -1 });
  }

  private update(message: WireMessage): void {
    const { sessionId, update } = message.params as { sessionId: string; update: unknown };
    const session = this.hub.sessions.get(sessionId);
    const kind = isObject(update) ? update["sessionUpdate"] : undefined;
    if (kind === UPDATE.commands && this.traits.slashCommands) return this.commands(message, session, update as JsonObject);
    if (session && session.replays === 0 && FENCED.includes(kind)) {
      const fenced = isFenced(session);
      this.seeAgentAct(session);
      if (fenced) return;
    }
    this.outlets.toClient(message);
  }

  private seeAgentAct(session: Session): void {
    if (session.watched) this.hub.dispatch(session, { type: "agentActed" });
  }

  private commands(message: WireMessage, session: Session | undefined, update: JsonObject): void {
    if (session) session.hasCommands = true;
    const theirs = Array.isArray(update["availableCommands"]) ? update["availableCommands"] : [];
    const ours = OURS.map(({ name }) => name);
    const others = theirs.filter((command: unknown) => !ours.includes(String(objectAt(command)["name"])));
    const params = message.params as JsonObject;
    this.outlets.toClient({ ...message, params: { ...params, update: { ...update, availableCommands: [...OURS, ...others] } } });
  }

  private agentAsked(message: WireMessage, method: string, id: RequestId): void {
    const session = this.hub.sessions.get(stringAt(message.params, "sessionId") ?? "");
    const refusal = REFUSALS[method];
    if (session) {
      const fenced = isFenced(session);
      this.seeAgentAct(session);
      if (refusal && fenced) return this.toAgent({ id, ...refusal });
      if (refusal && "result" in refusal && session.state.phase === "running") {
        this.opened.set(id, { session, refusal, holding: true, swallow: false });
        this.hub.dispatch(session, { type: "holdChanged", by: 1 });
      }
    }
    this.outlets.toClient(message);
  }

  releaseHolds(session: Session): void {
    for (const [id, opened] of this.opened) {
      if (opened.session !== session || opened.swallow) continue;
      opened.holding = false;
      opened.swallow = true;
      this.toClient({ method: METHOD.cancelRequest, params: { requestId: id } });
      this.toAgent({ id, ...opened.refusal });
    }
  }

  private agentAnswered(message: WireMessage): void {
    const id = message.id ?? null;
    const asked = this.asked.get(id);
    this.asked.delete(id);
    if (!asked) {
      if (id === null) this.outlets.toClient(message);
      return;
    }
    switch (asked.kind) {
      case "run":
        return this.runAnswered(message, asked.session, asked.run);
      case "initialize":
        return this.initialized(message);
      case "attach":
        return this.attached(message, asked.sessionId);
      case "close":
        this.hub.dispatch(asked.session, { type: "closeAnswered", ok: !message.error || message.error.code === CODE.notFound });
        return this.outlets.toClient(message);
      case "other":
        return this.outlets.toClient(message);
    }
  }

  private runAnswered(message: WireMessage, session: Session, run: string): void {
    const outcome: RunOutcome = message.error ? { error: message.error } : { result: isObject(message.result) ? message.result : {} };
    if (!outcome.error && this.hub.sessions.get(session.id) === session) session.links.add(this);
    this.hub.dispatch(session, { type: "runAnswered", run, outcome });
    this.forgetUnused(session);
  }

  /** A session that no connection may steer and where nothing runs is not kept. */
  private forgetUnused(session: Session): void {
    if (session.links.size === 0 && session.state.phase === "idle") this.hub.forget(session);
  }

  private attached(message: WireMessage, sessionId = stringAt(message.result, "sessionId")): void {
    const known = sessionId === undefined ? undefined : this.hub.sessions.get(sessionId);
    if (known && known.replays > 0) known.replays -= 1;
    this.outlets.toClient(message);
    if (message.error || sessionId === undefined) return;
    const session = this.hub.session(sessionId);
    session.links.add(this);
    if (this.traits.slashCommands) this.hub.clock.set(() => this.offerCommands(session), 0);
  }

  /** Where the agent announces no commands of its own, ours are announced by us. */
  private offerCommands(session: Session): void {
    if (session.hasCommands || !session.links.has(this)) return;
    session.hasCommands = true;
    this.toClient({ method: METHOD.update, params: { sessionId: session.id, update: { sessionUpdate: UPDATE.commands, availableCommands: OURS } } });
  }

  private initialized(message: WireMessage): void {
    if (message.error || !isObject(message.result)) return this.outlets.toClient(message);
    const { result } = message;
    const meta = objectAt(result, "_meta");
    const capabilities = objectAt(result, "agentCapabilities", "promptCapabilities");
    const { driver, policy } = this.hub;
    this.ready = true;
    this.transparent = META_KEY in meta && !driver;
    if (this.transparent) return this.outlets.toClient(message);
    this.agentContent = [
      "resource_link",
      ...(capabilities["image"] === true ? (["image"] as const) : []),
      ...(capabilities["audio"] === true ? (["audio"] as const) : []),
      ...(capabilities["embeddedContext"] === true ? (["resource"] as const) : []),
    ];
    const steering: SteeringAdvertisement = {
      supported: true,
      version: 1,
      idlePromptRequired: true,
      idleBehavior: policy.idleBehavior,
      delivery: "confirmed",
      emulated: !driver && !this.traits.inbox,
      receipts: true,
      revoke: true,
      content: this.content,
    };
    this.outlets.toClient({ ...message, result: { ...result, _meta: { ...meta, [META_KEY]: steering } } });
  }

  // --- The end of the connection ----------------------------------------------------------------------------------------

  /** The client is gone: its turns are cancelled, its queued prompts dropped. The agent goes when its runs have ended. */
  clientGone(): void {
    this.hub.leaving.add(this);
    for (const session of [...this.hub.sessions.values()]) this.hub.dispatch(session, { type: "linkLost", link: this.key });
    this.leaveWhenDone();
  }

  leaveWhenDone(): void {
    for (const asked of this.asked.values()) if (asked.kind === "run" && asked.session.state.phase === "cancelling") return;
    if (this.hub.leaving.delete(this)) this.outlets.endAgent();
  }

  /** Nothing more comes from the agent: what it owes is answered, and sessions that nobody else uses are forgotten. */
  agentGone(): void {
    for (const [id, asked] of [...this.asked]) {
      this.asked.delete(id);
      if (asked.kind === "run") this.hub.dispatch(asked.session, { type: "runAnswered", run: asked.run, outcome: { error: agentGone } });
      else this.toClient({ id, error: agentGone });
    }
    this.hub.leaving.delete(this);
    this.hub.links.delete(this.key);
    for (const session of [...this.hub.sessions.values()]) {
      session.links.delete(this);
      this.forgetUnused(session);
    }
  }
}
