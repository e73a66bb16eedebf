import { setTimeout as after } from "node:timers/promises";
import type { WireClient } from "@acp-steering/testkit";
import type { ModelServer, Reply } from "@acp-steering/testkit/model-server";
import type { Random } from "./random.js";
import { receipts } from "./stage.js";

/** How long a turn may take before it counts as stuck, in milliseconds: no measure of Kimi, an end of hanging. */
const STUCK_MS = 60_000;
/** How long nothing may follow an answered cancel, in milliseconds. */
const QUIET_MS = 120;
const ROUNDS_IN_A_SESSION = 20;

/** A steer of a round, and what became of it. */
interface SentSteer {
  readonly mark: string;
  readonly outcome: string;
  readonly messageId: unknown;
}

/** What one round did, and what was wrong with it. */
interface RoundResult {
  readonly stopReason: string;
  readonly steers: readonly SentSteer[];
  readonly problems: readonly string[];
}

export interface StressPlace {
  readonly client: WireClient;
  readonly model: ModelServer;
  /** What the model answers next; when it is empty, a word. */
  readonly plan: Reply[];
  readonly cwd: string;
  readonly random: Random;
}

/** Which rounds there were, for the record, and everything that was wrong. */
export interface StressReport {
  readonly problems: string[];
  readonly figures: Record<string, number>;
}

type Round = (place: StressPlace, sessionId: string, name: string) => Promise<RoundResult>;

/** Plays rounds in sessions of some rounds each; at the end of a session its conversation is read for what is in it. */
export async function playRounds(place: StressPlace, rounds: number, round: Round): Promise<StressReport> {
  const report: StressReport = { problems: [], figures: {} };
  const count = (what: string): void => {
    report.figures[what] = (report.figures[what] ?? 0) + 1;
  };
  for (let done = 0; done < rounds; ) {
    const sessionId = await place.client.newSession(place.cwd);
    const steers: SentSteer[] = [];
    for (let index = 0; index < ROUNDS_IN_A_SESSION && done < rounds; index += 1, done += 1) {
      const result = await round(place, sessionId, `round ${done}`);
      steers.push(...result.steers);
      report.problems.push(...result.problems);
      count(`turns ${result.stopReason}`);
      for (const { outcome } of result.steers) count(`steers ${outcome}`);
    }
    report.problems.push(...(await judgeSession(place, sessionId, steers, count)));
    await place.client.request("session/close", { sessionId });
  }
  return report;
}

async function judgeSession(
  place: StressPlace,
  sessionId: string,
  steers: readonly SentSteer[],
  count: (what: string) => void,
): Promise<string[]> {
  place.plan.length = 0;
  await answered(place.client.prompt(sessionId, "The last word.").answer);
  const conversation = place.model.requests.at(-1)?.messages.map(({ text }) => text) ?? [];
  const finals = receipts(place.client);
  return steers.flatMap(({ mark, outcome, messageId }) => {
    const times = conversation.join("\n").split(mark).length - 1;
    const reports = finals.filter((receipt) => receipt["messageId"] === messageId);
    const [final] = reports;
    if (outcome !== "injected") return times > 0 ? [`${mark} was answered ${outcome} and is in the conversation`] : [];
    count(`receipts ${String(final?.["state"])}${final?.["assumed"] === true ? ", assumed" : ""}`);
    return [
      ...(reports.length === 1 ? [] : [`${mark} got ${reports.length} final receipts`]),
      ...(times > 1 ? [`${mark} is in the conversation ${times} times`] : []),
      ...(final?.["state"] === "delivered" && times === 0 ? [`${mark} was reported delivered and is lost`] : []),
      ...(final?.["state"] === "undelivered" && times > 0 ? [`${mark} was reported undelivered and was read`] : []),
    ];
  });
}

let lastMark = 0;

/** Sends a steer with a word that stands nowhere else. */
async function sendSteer({ client }: StressPlace, sessionId: string): Promise<SentSteer> {
  const mark = `mark-${++lastMark}-end`;
  const { outcome, _meta } = await client.steer(sessionId, `Consider ${mark}.`);
  return { mark, outcome, messageId: _meta?.steering?.["messageId"] };
}

/** One steer, aimed at the end of the turn: a few milliseconds before it or after. */
export const boundaryRound: Round = async (place, sessionId, name) => {
  const { client, model, plan, random } = place;
  plan.splice(0, plan.length, { text: ["Almost", " done."], hold: name, holdAt: "beforeEnd" });
  const turn = client.prompt(sessionId, `Say it, ${name}.`);
  await model.held(name);
  const [steerAfter, endAfter] = random.chance(0.5) ? [0, random.upTo(12)] : [random.upTo(30), 0];
  const ended = after(endAfter).then(() => model.release(name));
  const steer = await after(steerAfter).then(() => sendSteer(place, sessionId));
  await ended;
  return judge(place, sessionId, name, turn, [steer]);
};

/** Texts, tools, approvals, steers and cancels as they come. */
export const randomRound: Round = async (place, sessionId, name) => {
  const { client, plan, random } = place;
  plan.splice(0, plan.length, ...replies(random));
  client.permission = permissionOf(random);
  const turn = client.prompt(sessionId, `Work, ${name}.`);
  const steers = Array.from({ length: random.upTo(3) }, async () => {
    await after(random.upTo(250));
    return sendSteer(place, sessionId);
  });
  const cancelled = random.chance(0.35)
    ? after(random.upTo(250)).then(() => client.cancel(sessionId))
    : Promise.resolve();
  const sent = await Promise.all(steers);
  await cancelled;
  return judge(place, sessionId, name, turn, sent);
};

function replies(random: Random): Reply[] {
  return Array.from({ length: 1 + random.upTo(3) }, (): Reply => {
    const delayMs = random.upTo(60);
    if (random.chance(0.4)) {
      const command = `sleep 0.0${random.upTo(9)}; echo x > y`;
      return { delayMs, toolCalls: [{ name: "Bash", arguments: { command } }] };
    }
    return { delayMs, text: ["A few", " words", " more."], chunkDelayMs: random.upTo(20) };
  });
}

function permissionOf(random: Random): WireClient["permission"] {
  return async (params) => {
    const { options } = params as { options: { optionId: string; kind: string }[] };
    const wanted = random.chance(0.7) ? "allow_once" : "reject_once";
    await after(random.upTo(40));
    const optionId = options.find(({ kind }) => kind === wanted)?.optionId;
    return { outcome: { outcome: "selected", optionId } };
  };
}

async function judge(
  { client, model }: StressPlace,
  sessionId: string,
  name: string,
  turn: ReturnType<WireClient["prompt"]>,
  steers: readonly SentSteer[],
): Promise<RoundResult> {
  const stopReason = await answered(turn.answer);
  const [requests, records] = [model.requests.length, client.log.length];
  if (stopReason === "cancelled") await after(QUIET_MS);
  const work = client.log
    .slice(records)
    .filter(({ direction, message }) => direction === "in" && message?.method === "session/update")
    .map(({ message }) => message?.params as { sessionId: string; update: { sessionUpdate: string } })
    .filter((params) => params.sessionId === sessionId && WORK.has(params.update.sessionUpdate));
  const problems = [
    ...(stopReason === "stuck" ? ["is stuck"] : []),
    ...(stopReason.startsWith("error") ? [`ended with ${stopReason}`] : []),
    ...(client.answersTo(turn.id).length > 1 ? ["was answered more than once"] : []),
    ...(model.requests.length > requests ? ["asked the model after the answered cancel"] : []),
    ...(work.length > 0 ? ["showed work after the answered cancel"] : []),
  ];
  return { stopReason, steers, problems: problems.map((problem) => `${name} ${problem}`) };
}

const WORK: ReadonlySet<string> = new Set([
  "agent_message_chunk",
  "agent_thought_chunk",
  "tool_call",
  "tool_call_update",
]);

async function answered(answer: Promise<{ stopReason: string }>): Promise<string> {
  const stuck = new AbortController();
  const result = await Promise.race([
    answer.then(
      (response) => response.stopReason,
      (error: Error) => `error: ${error.message}`,
    ),
    after(STUCK_MS, "stuck", { signal: stuck.signal }).catch(() => "stuck"),
  ]);
  stuck.abort();
  return result;
}
