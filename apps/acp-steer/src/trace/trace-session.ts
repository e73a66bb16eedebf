import { METHOD } from "@acp-steering/core/protocol";
import { type JsonObject, objectAt, textAt } from "../record/recording.js";
import type { Span, TracedSteer, TracedTurn } from "./timeline.js";

/** What two pieces of one speech are apart at most, in milliseconds. */
const PAUSE_MS = 1_500;

/** One session, while its messages are read in order. */
export class TraceSession {
  readonly turns: TracedTurn[] = [];
  readonly #id: string;
  /** Prompts of the client without an answer, oldest first. */
  readonly #prompts = new Map<unknown, TracedTurn>();
  readonly #steers = new Map<unknown, TracedSteer>();
  readonly #runs = new Map<unknown, { readonly turn: TracedTurn; readonly span: Span }>();
  readonly #ours = new Set<unknown>();

  constructor(id: string) {
    this.#id = id;
  }

  /** A prompt of the client is a turn to come, until its answer comes without a run: then it was a command. */
  prompted(at: number, { id, params }: JsonObject): void {
    const text = promptText(params);
    this.#prompts.set(id, {
      sessionId: this.#id,
      number: 0,
      asked: at,
      begin: at,
      ...(text !== undefined && { text }),
      runs: [],
      says: [],
      thinks: [],
      tools: [],
      questions: [],
      steers: [],
      cancels: [],
    });
    this.#ours.add(id);
  }

  steered(at: number, { id, params }: JsonObject): void {
    const text = promptText(params);
    this.#steers.set(id, { asked: at, by: "steering", ...(text !== undefined && { text }) });
    this.#ours.add(id);
  }

  /** Any other request of the client, which passes to the agent as it is. */
  other({ id }: JsonObject): void {
    this.#ours.add(id);
  }

  cancelled(at: number): void {
    this.open?.cancels.push(at);
  }

  /** What goes to the agent: runs, and steers by a method of its own. */
  sent(at: number, { id, method, params }: JsonObject): void {
    const meta = objectAt(params, "_meta", "steering");
    const open = this.open;
    if (method !== METHOD.prompt) {
      // A request that the client did not send: the layer hands a steer over.
      if (id !== undefined && open && !this.#ours.has(id)) this.#handOver(at, open, open.steers.find(isWaiting));
      return;
    }
    if (open && (meta["continuation"] === true || (open.end === undefined && this.#isBusy(open)))) {
      const ids = Array.isArray(meta["messageIds"]) ? meta["messageIds"] : [];
      for (const steer of open.steers) if (ids.includes(steer.messageId)) this.#handOver(at, open, steer);
      if (meta["continuation"] === true) this.#begin(at, id, open);
      else this.#handOver(at, open, open.steers.find(isWaiting));
      return;
    }
    const next = [...this.#prompts.values()].find((turn) => turn.runs.length === 0);
    if (!next) return;
    next.begin = at;
    this.turns.push(Object.assign(next, { number: this.turns.length + 1 }));
    this.#begin(at, id, next);
  }

  /** What the agent answers: the end of a run. */
  ran(at: number, { id }: JsonObject): void {
    const run = this.#runs.get(id);
    if (run) run.span.end = at;
    this.#runs.delete(id);
  }

  /** What the client is answered. */
  answered(at: number, message: JsonObject): void {
    const { id } = message;
    const steer = this.#steers.get(id);
    if (steer) {
      this.#steers.delete(id);
      this.#steerAnswered(at, message, steer);
    }
    const turn = this.#prompts.get(id);
    if (!turn) return;
    this.#prompts.delete(id);
    if (turn.runs.length === 0) this.#commandAnswered(at, turn);
    else this.#ended(at, message, turn);
  }

  /** A receipt on its way to the client. */
  told(at: number, params: JsonObject): void {
    const { state, turnId, messageId } = params;
    const turn = this.turns.find((one) => one.turnId === turnId) ?? this.open;
    if (!turn) return;
    if (typeof turnId === "string") turn.turnId = turnId;
    const steer = turn.steers.find((one) => one.messageId === messageId && messageId !== undefined);
    if (!steer) return;
    if (state === "delivered") Object.assign(steer, { delivered: at, assumed: params["assumed"] === true });
    if (state === "undelivered") steer.undelivered = { at, reason: textAt(params, "reason") ?? "" };
  }

  /** An update of the agent. */
  updated(at: number, update: JsonObject): void {
    const turn = this.open;
    if (!turn) return;
    const kind = update["sessionUpdate"];
    if (kind === "agent_message_chunk") speak(turn.says, at);
    if (kind === "agent_thought_chunk") speak(turn.thinks, at);
    if (kind === "tool_call" || kind === "tool_call_update") tool(turn, at, update);
  }

  asked(at: number, { id, method }: JsonObject): void {
    const what = method === METHOD.permission ? "permission" : "question";
    const question = { begin: at, what };
    this.open?.questions.push(question);
    this.#questions.set(id, question);
  }

  replied(at: number, { id, result }: JsonObject): void {
    const question = this.#questions.get(id);
    this.#questions.delete(id);
    if (!question) return;
    const { optionId, outcome } = objectAt(result, "outcome");
    Object.assign(question, { end: at, answer: optionId ?? outcome ?? objectAt(result)["action"] });
  }

  readonly #questions = new Map<unknown, Span>();

  /** The turn that runs. */
  get open(): TracedTurn | undefined {
    const last = this.turns.at(-1);
    return last?.end === undefined ? last : undefined;
  }

  #isBusy(turn: TracedTurn): boolean {
    return turn.runs.some(({ end }) => end === undefined);
  }

  #begin(at: number, id: unknown, turn: TracedTurn): void {
    const span: Span = { begin: at };
    turn.runs.push(span);
    this.#runs.set(id, { turn, span });
  }

  #handOver(at: number, turn: TracedTurn, steer: TracedSteer | undefined): void {
    if (steer && turn.steers.includes(steer)) steer.handedOver ??= at;
  }

  #steerAnswered(at: number, { result, error }: JsonObject, steer: TracedSteer): void {
    const outcome = textAt(result, "outcome") ?? describeError(error);
    const { messageId, turnId } = objectAt(result, "_meta", "steering");
    Object.assign(steer, { answered: at, outcome, ...(typeof messageId === "string" && { messageId }) });
    const turn =
      this.turns.find((one) => one.turnId !== undefined && one.turnId === turnId) ?? this.open ?? this.turns.at(-1);
    if (turn && typeof turnId === "string") turn.turnId = turnId;
    turn?.steers.push(steer);
  }

  #commandAnswered(at: number, { asked, text }: TracedTurn): void {
    const steer: TracedSteer = {
      asked,
      by: "command",
      answered: at,
      outcome: "answered",
      ...(text !== undefined && { text }),
    };
    this.open?.steers.push(steer);
  }

  #ended(at: number, { result, error }: JsonObject, turn: TracedTurn): void {
    turn.end = at;
    turn.ending = textAt(result, "stopReason") ?? describeError(error);
    const report = error === undefined ? objectAt(result, "_meta", "steering") : objectAt(error, "data", "steering");
    const undelivered = Array.isArray(report["undelivered"]) ? report["undelivered"] : [];
    for (const steer of turn.steers) {
      if (steer.outcome !== "injected" || steer.delivered !== undefined || steer.undelivered) continue;
      const back = undelivered.find((one) => objectAt(one)["messageId"] === steer.messageId);
      if (back) steer.undelivered = { at, reason: textAt(back, "reason") ?? "" };
      else Object.assign(steer, { delivered: steer.handedOver ?? at });
    }
  }
}

const isWaiting = (steer: TracedSteer): boolean =>
  steer.outcome === "injected" && steer.handedOver === undefined && steer.delivered === undefined;

function speak(spans: Span[], at: number): void {
  const last = spans.at(-1);
  if (last && at - (last.end ?? last.begin) < PAUSE_MS) last.end = at;
  else spans.push({ begin: at, end: at });
}

function tool(turn: TracedTurn, at: number, update: JsonObject): void {
  const id = textAt(update, "toolCallId") ?? "";
  const status = textAt(update, "status");
  let call = turn.tools.find((one) => one.id === id);
  if (!call) {
    call = { id, begin: at, label: textAt(update, "kind") ?? "tool" };
    turn.tools.push(call);
  }
  if (status !== undefined) call.status = status;
  if (status === "completed" || status === "failed") call.end = at;
}

function describeError(error: unknown): string {
  const { code, data } = objectAt({ error }, "error");
  const reason = textAt(data, "reason");
  return `error ${String(code)}${reason === undefined ? "" : ` ${reason}`}`;
}

/** The text of a prompt, where the recording has it. */
function promptText(params: unknown): string | undefined {
  const { prompt } = objectAt(params);
  if (!Array.isArray(prompt)) return undefined;
  const texts = prompt.map((block) => textAt(block, "text")).filter((text) => text !== undefined);
  return texts.some((text) => !/^\(\d+ characters\)$/.test(text)) ? texts.join(" ") : undefined;
}
