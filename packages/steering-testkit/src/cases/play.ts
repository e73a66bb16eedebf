import { METHOD } from "@acp-steering/core/protocol";
import type { ContentBlockLike, SentRequest, WireRecord } from "../wire-record.js";
import type { Finding } from "./case.js";
import { objectAt } from "./create-stage.js";
import type { ModelStep, OpenTurn, Stage } from "./stage.js";
import { carries } from "./step-queue.js";

const ANSWER_TAKEN = "the agent to take the model's answer";

/** How a request was answered: with a result or with an error. */
export interface Settled {
  readonly result: Readonly<Record<string, unknown>>;
  readonly code?: number | string;
  /** Of an error. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** A steer that a case has sent. */
export interface SentSteer extends SentRequest<Record<string, unknown>> {
  /** A word that stands in its text and nowhere else. */
  readonly mark: string;
  readonly settled: Promise<Settled>;
}

/** What a steer consists of; the default is a text with its mark. */
export interface SteerParts {
  readonly sessionId?: string;
  readonly prompt?: readonly ContentBlockLike[];
  /** `_meta.steering` of the request. */
  readonly meta?: Readonly<Record<string, unknown>>;
  readonly mark?: string;
}

/** How a turn ended, and what the model was asked in it. */
export interface TurnEnd extends Settled {
  readonly steps: readonly ModelStep[];
}

type Answering = (step: ModelStep) => unknown;

/** The answer of a request as a value, error or not. An agent that ends instead of answering is thrown. */
export async function settle(answer: Promise<unknown>): Promise<Settled> {
  try {
    return { result: (await answer) as Record<string, unknown>, data: {} };
  } catch (error) {
    const { code } = error as { code?: number | string };
    if (typeof code !== "number") throw error;
    return { result: {}, code, data: objectAt(error, "data") };
  }
}

/** The text of a steer with that mark. */
export const steerText = (mark: string): string => `Also say the word ${mark}.`;

/** The params of a steer. */
export function steerParams(stage: Stage, mark: string, parts: SteerParts = {}): Record<string, unknown> {
  const { sessionId = stage.sessionId, prompt = [{ type: "text", text: steerText(mark) }], meta } = parts;
  return { sessionId, prompt, ...(meta && { _meta: { steering: meta } }) };
}

/** Sends a steer. */
export function sendSteer(stage: Stage, parts: SteerParts = {}): SentSteer {
  const { mark = stage.mark() } = parts;
  const sent = stage.client.send<Record<string, unknown>>(METHOD.steering, steerParams(stage, mark, parts));
  return { ...sent, mark, settled: stage.until("the answer to a steer", settle(sent.answer)) };
}

/** Sends several requests, and notifications where `method` takes no answer, in one write. */
export function sendTogether(
  { client, until }: Stage,
  messages: readonly { readonly method: string; readonly params: unknown; readonly isNotification?: boolean }[],
): readonly (SentRequest<Record<string, unknown>> & { readonly settled: Promise<Settled> })[] {
  const from = client.log.length;
  const withIds = messages.map((message) => ({ ...message, id: `together-${crypto.randomUUID()}` }));
  client.sendRaw(
    withIds
      .map(({ id, method, params, isNotification }) =>
        JSON.stringify({ jsonrpc: "2.0", ...(isNotification !== true && { id }), method, params }),
      )
      .join("\n"),
  );
  return withIds.map(({ id, method, isNotification }) => {
    const answer = isNotification === true ? new Promise<never>(() => {}) : answerTo(client, id, from);
    const settled = settle(answer);
    settled.catch(() => {});
    return { id, answer, settled: isNotification === true ? settled : until(`the answer to ${method}`, settled) };
  });
}

async function answerTo(client: Stage["client"], id: string, from: number): Promise<Record<string, unknown>> {
  const { message } = await client.waitFor(
    (record) => record.direction === "in" && record.message?.id === id && record.message.method === undefined,
    from,
  );
  if (message?.error !== undefined) throw message.error;
  return message?.result as Record<string, unknown>;
}

/** The next request to the model in that turn; a turn that ends before it is a fault of the agent or of the case. */
export async function nextStep(stage: Stage, turn: OpenTurn, mark: string = turn.mark): Promise<ModelStep> {
  const step = await stepOrEnd(stage, turn, mark);
  if ("texts" in step) return step;
  throw new Error(`the turn ended before the model was asked: ${describe(step)}`);
}

/** The next request to the model that carries the mark, or the end of the turn where there is none. */
export async function stepOrEnd(stage: Stage, turn: OpenTurn, mark: string = turn.mark): Promise<ModelStep | Settled> {
  for (;;) {
    const next = await stepOfTurnOrStray(stage, turn, mark);
    if (!("texts" in next) || carries(next, mark)) return next;
    await endStep(stage, next);
  }
}

/** A stray is what belongs to no turn that anybody has asked for: an agent that is not answered there would do no more. */
async function stepOfTurnOrStray(stage: Stage, turn: OpenTurn, mark: string): Promise<ModelStep | Settled> {
  const { behind, openTurns, until } = stage;
  const isStray = (step: ModelStep): boolean => ![...openTurns].some((open) => carries(step, open.mark));
  const waiting = new AbortController();
  const step = behind.next((other) => carries(other, mark) || isStray(other), waiting.signal);
  step.catch(() => {});
  try {
    return await until(
      "the agent to ask its model, or to answer its prompt",
      Promise.race([step, settle(turn.answer)]),
    );
  } finally {
    waiting.abort(new Error("no longer waited for"));
  }
}

/** Answers what the model is asked without an owner, until nothing more comes; says how often it was asked. */
export async function letRun(stage: Stage, mark: string): Promise<number> {
  for (let asked = 0; ; asked += 1) {
    const waiting = new AbortController();
    const step = stage.behind.next(mark, waiting.signal).catch(() => undefined);
    await stage.until("an agent without an owner to come to rest", Promise.race([step, stage.quiet()]));
    waiting.abort();
    const found = await step;
    if (found === undefined) return asked;
    await endStep(stage, found);
  }
}

/** Answers what the model is asked until the turn is over. */
export async function drive(stage: Stage, turn: OpenTurn, answer: Answering = (step) => step.end()): Promise<TurnEnd> {
  const steps: ModelStep[] = [];
  for (;;) {
    const next = await stepOrEnd(stage, turn);
    if (!("texts" in next)) return { ...next, steps };
    steps.push(next);
    await stage.until(ANSWER_TAKEN, Promise.resolve(answer(next)));
  }
}

/** Plays a whole turn of a prompt that nobody steers. */
export const playTurn = (stage: Stage, sessionId?: string): Promise<TurnEnd> =>
  drive(stage, stage.prompt([], sessionId));

/** The model begins to speak; resolves when the agent has heard it. */
export async function speak(stage: Stage, step: ModelStep): Promise<void> {
  const { client } = stage;
  const from = client.log.length;
  step.say("Working on it. ");
  const heard = client.waitFor((record) => isSpeech(record), from);
  // An agent that shows nothing while its model speaks has heard it as well.
  await stage.until("the agent to hear its model", Promise.race([heard, step.abandoned, stage.quiet()]));
}

/** A turn whose model speaks. */
export interface Speaking {
  readonly turn: OpenTurn;
  readonly step: ModelStep;
}

/** A turn up to where its model speaks. */
export async function speaking(stage: Stage): Promise<Speaking> {
  const turn = stage.prompt();
  const step = await nextStep(stage, turn);
  await speak(stage, step);
  return { turn, step };
}

/** Ends the model's answer, and waits until the agent has taken it. */
export const endStep = (stage: Stage, step: ModelStep): Promise<void> => stage.until(ANSWER_TAKEN, step.end());

function isSpeech(record: WireRecord): boolean {
  return ["agent_message_chunk", "agent_thought_chunk"].includes(updateKind(record) ?? "");
}

const SHOWS_WORK = [
  "user_message_chunk",
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
  "plan",
];

/** The kind of an update that came in, if the record is one. */
export function updateKind({ direction, message }: WireRecord): string | undefined {
  if (direction !== "in" || message?.method !== METHOD.update) return undefined;
  const kind = objectAt(message.params, "update")["sessionUpdate"];
  return typeof kind === "string" ? kind : undefined;
}

/** Whether the record is an update that shows an agent at work in that session. */
export const showsWork = (record: WireRecord, sessionId: string): boolean =>
  SHOWS_WORK.includes(updateKind(record) ?? "") && sessionIdOf(record) === sessionId;

const sessionIdOf = ({ message }: WireRecord): unknown =>
  (message?.params as { readonly sessionId?: unknown } | undefined)?.sessionId;

/** The record of the one answer to a request that was answered. */
export function answerRecord({ client }: Stage, id: number | string): WireRecord {
  const [record] = client.answersTo(id);
  if (record === undefined) throw new Error(`request ${id} was not answered`);
  return record;
}

/** How often a text stands in what a request gives the model to read. */
export const occurrences = ({ texts }: ModelStep, text: string): number =>
  texts.reduce((sum, other) => sum + other.split(text).length - 1, 0);

/** Whether the model was shown the text so far. */
export const wasShown = ({ behind }: Stage, text: string): boolean => behind.steps(text).length > 0;

/** Whether one of these requests showed it. */
export const showed = (steps: readonly ModelStep[], text: string): boolean => steps.some((step) => carries(step, text));

/** What `_meta.steering` of a result says. */
export const steeringOf = ({ result }: Settled): Readonly<Record<string, unknown>> =>
  objectAt(objectAt(result, "_meta"), "steering");

export const isInjected = ({ result }: Settled): boolean => result["outcome"] === "injected";

/** A few words on an answer, for the text of a problem. */
export function describe({ result, code, data }: Settled): string {
  if (code !== undefined) return `error ${code}${data["reason"] === undefined ? "" : ` (${String(data["reason"])})`}`;
  return String(result["outcome"] ?? result["stopReason"] ?? JSON.stringify(result));
}

/** What is the matter, of pairs of a condition and the problem that it is. */
export const problems = (...found: readonly (false | undefined | string)[]): Finding => ({
  problems: found.filter((problem): problem is string => typeof problem === "string"),
});

export const notApplicable = (why: string): Finding => ({ notApplicable: why });

/** What came of a turn after its owner was answered: updates that show work, and requests to the model. */
export type Aftermath = () => { readonly updates: number; readonly steps: number };

/** Marks the moment of the owner's answer; to be called before it. */
export function watchEnd({ client, behind, since }: Stage, turn: OpenTurn): Aftermath {
  let end: { readonly order: number; readonly steps: readonly ModelStep[] } | undefined;
  const stop = client.onRecord(({ direction, message, order }) => {
    if (direction !== "in" || message?.id !== turn.id || message.method !== undefined) return;
    end = { order, steps: behind.steps(turn.mark) };
    stop();
  });
  return () => {
    if (end === undefined) return { updates: 0, steps: 0 };
    const { order, steps } = end;
    return {
      updates: since(order).filter((record) => showsWork(record, turn.sessionId)).length,
      steps: behind.steps(turn.mark).filter((step) => !steps.includes(step)).length,
    };
  };
}
