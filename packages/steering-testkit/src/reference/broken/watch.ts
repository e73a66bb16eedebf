import type { ContentBlock, WireMessage } from "@acp-steering/core";
import { METHOD } from "@acp-steering/core/protocol";
import { type Json, objectAt, textAt } from "./json.js";

/**
 * What an agent is doing when a steer arrives.
 *
 * - `unasked`: its turn has begun, the model was not asked yet
 * - `asked`: the model was asked and has not said anything
 * - `speaking`: the model speaks
 * - `held`: the user is asked for permission
 * - `working`: a tool runs
 * - `finished`: the model has said its last word, the owner was not answered yet
 * - `idle`: no turn is open
 */
export type Moment = "unasked" | "asked" | "speaking" | "held" | "working" | "finished" | "idle";

/** A steer as it was seen on the wire. */
export interface SeenSteer {
  readonly params: Json;
  readonly prompt: readonly ContentBlock[];
  readonly texts: readonly string[];
  readonly moment: Moment;
  /** The number of its turn in the session. */
  readonly turn: number;
  /** The permission request that was open. */
  readonly question: Question | undefined;
  /** `_meta.steering.messageId` and `outcome` of its result, once there is one. */
  messageId?: unknown;
  outcome?: unknown;
}

/** A request of the agent for permission. */
export interface Question {
  readonly id: WireMessage["id"];
  /** The option that the client chose. */
  chosen?: string;
}

/** One session as it was seen on the wire. */
export class SeenSession {
  moment: Moment = "idle";
  turn = 0;
  openPrompts = 0;
  isClosed = false;
  /** The turn was cancelled. */
  isCancelled = false;
  question: Question | undefined;
  readonly steers: SeenSteer[] = [];

  /** The steers of the turn that runs, or ran last. */
  get turnSteers(): readonly SeenSteer[] {
    return this.steers.filter(({ turn }) => turn === this.turn);
  }
}

/** A request that was seen, and what it was about. */
export interface SeenRequest {
  readonly method: string;
  readonly params: Json;
  /** Where it names one, or, of a new session, once it is answered. */
  readonly session: SeenSession | undefined;
  readonly steer: SeenSteer | undefined;
  /** Of a prompt: another one was open when it came. */
  readonly cameBusy: boolean;
}

/** Sessions by id, seen over all connections of an agent. */
export class Watch {
  readonly sessions: Map<string, SeenSession> = new Map();

  at(sessionId: unknown): SeenSession | undefined {
    return this.sessions.get(String(sessionId));
  }

  /** The model is asked, or has answered. */
  note(sessionId: string, moment: Moment): void {
    const session = this.at(sessionId);
    if (session) session.moment = moment;
  }

  open(sessionId: unknown): SeenSession | undefined {
    if (typeof sessionId !== "string") return undefined;
    const session = this.at(sessionId) ?? new SeenSession();
    session.isClosed = false;
    this.sessions.set(sessionId, session);
    return session;
  }
}

/** What is seen on one connection. Each message is noted before anything is done about it. */
export class ConnectionWatch {
  readonly #watch: Watch;
  readonly #fromClient = new Map<WireMessage["id"], SeenRequest>();
  readonly #fromAgent = new Map<WireMessage["id"], SeenSession>();

  constructor(watch: Watch) {
    this.#watch = watch;
  }

  /** @returns the request, if it is one */
  noteClient(message: WireMessage): SeenRequest | undefined {
    if (message.method === undefined) {
      this.#noteChoice(message);
      return undefined;
    }
    const params = objectAt(message, "params");
    const session = this.#watch.at(params["sessionId"]);
    const cameBusy = message.method === METHOD.prompt && session !== undefined && session.openPrompts > 0;
    if (message.method === METHOD.prompt && session) beginPrompt(session);
    if (message.method === METHOD.cancel && session && session.openPrompts > 0) session.isCancelled = true;
    const steer = message.method === METHOD.steering && session ? noteSteer(session, params) : undefined;
    const request = { method: message.method, params, session, steer, cameBusy };
    if (message.id !== undefined) this.#fromClient.set(message.id, request);
    return request;
  }

  /** @returns the request of the client that it answers, if it does */
  noteAgent(message: WireMessage): SeenRequest | undefined {
    if (message.method !== undefined) {
      this.#noteWork(message);
      return undefined;
    }
    const request = this.#fromClient.get(message.id);
    this.#fromClient.delete(message.id);
    if (request) return this.#noteAnswer(request, message);
    return undefined;
  }

  #noteAnswer(request: SeenRequest, message: WireMessage): SeenRequest {
    const { method, params, session, steer } = request;
    if (method === METHOD.prompt && session) endPrompt(session);
    if (method === METHOD.closeSession && session && !message.error) session.isClosed = true;
    if (method === METHOD.newSession)
      return { ...request, session: this.#watch.open(objectAt(message, "result")["sessionId"]) };
    if (method === METHOD.loadSession && !message.error) this.#watch.open(params["sessionId"]);
    if (steer) {
      const result = objectAt(message, "result");
      steer.outcome = result["outcome"];
      steer.messageId = objectAt(result, "_meta", "steering")["messageId"];
    }
    return request;
  }

  #noteWork(message: WireMessage): void {
    const params = objectAt(message, "params");
    const session = this.#watch.at(params["sessionId"]);
    if (!session || session.openPrompts === 0) return;
    if (message.method === METHOD.permission) {
      session.question = { id: message.id };
      session.moment = "held";
      this.#fromAgent.set(message.id, session);
    }
    const { sessionUpdate, status } = objectAt(params, "update");
    if (message.method !== METHOD.update) return;
    if (sessionUpdate === "agent_message_chunk") session.moment = "speaking";
    if (status === "in_progress") session.moment = "working";
  }

  #noteChoice(message: WireMessage): void {
    const session = this.#fromAgent.get(message.id);
    if (!session?.question) return;
    this.#fromAgent.delete(message.id);
    session.question.chosen = textAt(message, "result", "outcome", "optionId");
    session.question = undefined;
  }
}

function beginPrompt(session: SeenSession): void {
  session.openPrompts += 1;
  if (session.openPrompts === 1) beginTurn(session);
}

/** A prompt has its answer, from the agent or in its place. */
export function endPrompt(session: SeenSession): void {
  session.openPrompts -= 1;
  session.moment = "idle";
  if (session.openPrompts > 0) beginTurn(session);
}

function beginTurn(session: SeenSession): void {
  session.turn += 1;
  session.moment = "unasked";
  session.isCancelled = false;
}

function noteSteer(session: SeenSession, params: Json): SeenSteer {
  const prompt = Array.isArray(params["prompt"]) ? (params["prompt"] as ContentBlock[]) : [];
  const texts = prompt.flatMap((block) =>
    typeof block === "object" && block && "text" in block ? [String(block.text)] : [],
  );
  const { moment, turn, question } = session;
  const steer = { params, prompt, texts, moment, turn, question };
  session.steers.push(steer);
  return steer;
}
