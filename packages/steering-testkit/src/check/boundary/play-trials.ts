import { performance } from "node:perf_hooks";
import { METHOD } from "@acp-steering/core/protocol";
import type { OwnedStage } from "../../cases/create-stage.js";
import type { ModelBehind } from "../../cases/model-behind.js";
import { drive } from "../../cases/play.js";
import type { ModelRequest } from "../../model-server/index.js";
import type { WireRecord } from "../../wire-record.js";
import type { TranscriptLine } from "../check-report.js";
import { leaveSession, openStage, type Setting, within } from "../setting.js";
import { transcriptOf } from "../transcript.js";
import { Aim } from "./aim.js";
import { type JudgedTrial, judgeTrials, type Sighting } from "./judge.js";
import { type BrokenTrial, findingsOf } from "./tally.js";
import { playTrial, type Trial } from "./trial.js";

/** Everything that came of the trials, with the transcripts of those that a requirement fails by. */
export interface PlayedTrials {
  readonly judged: readonly JudgedTrial[];
  readonly broken: readonly BrokenTrial[];
  readonly durationMs: number;
  readonly transcripts: ReadonlyMap<number, readonly TranscriptLine[]>;
}

/** A context that grows with every trial would slow the agent down and, in the end, be compacted. */
const TRIALS_IN_A_SESSION = 25;
const BROKEN_IN_A_ROW = 3;
/** Between two trials: what comes later is seen in the next one. */
const SETTLE_MS = 20;

/** Steers so many times at the end of a turn. Never rejects: a trial that breaks off is part of the result. */
export async function playTrials(
  count: number,
  setting: Setting & { readonly behind: ModelBehind },
  onTrial: (number: number) => void,
): Promise<PlayedTrials> {
  const startedAt = performance.now();
  const run = new TrialRun(count, setting, onTrial);
  while (run.goesOn) await run.playSession();
  const { judged, broken, transcripts } = run;
  return { judged, broken, transcripts, durationMs: performance.now() - startedAt };
}

class TrialRun {
  readonly judged: JudgedTrial[] = [];
  readonly broken: BrokenTrial[] = [];
  readonly transcripts = new Map<number, readonly TranscriptLine[]>();
  readonly #count: number;
  readonly #setting: Setting & { readonly behind: ModelBehind };
  readonly #onTrial: (number: number) => void;
  readonly #aim: Aim;
  #played = 0;
  #brokenInARow = 0;

  constructor(count: number, setting: Setting & { readonly behind: ModelBehind }, onTrial: (number: number) => void) {
    this.#count = count;
    this.#setting = setting;
    this.#onTrial = onTrial;
    this.#aim = new Aim(count);
  }

  get goesOn(): boolean {
    return this.#played < this.#count && this.#brokenInARow < BROKEN_IN_A_ROW;
  }

  async playSession(): Promise<void> {
    const { pool } = this.#setting;
    try {
      const agent = await pool.acquire({}, false);
      const stage = await openStage(agent, this.#setting, { isNew: true });
      const isWhole = await this.#playOn(stage);
      await (isWhole ? leaveSession(agent, stage.sessionId, this.#setting) : pool.retire());
    } catch (error) {
      this.#breakOff((error as Error).message, []);
      await pool.retire();
    }
  }

  /** Whether the session is as it should be at the end. */
  async #playOn(stage: OwnedStage): Promise<boolean> {
    const { behind } = this.#setting;
    const from = stage.client.log.length;
    const requests: ModelRequest[] = [];
    const orders: number[] = [];
    const stop = behind.onRequest((request) => {
      requests.push(request);
      orders.push(stage.client.log.length);
    });
    const trials: Trial[] = [];
    try {
      const isWhole = await this.#playEach(stage, trials, requests);
      if (isWhole) await this.#closeWithPrompt(stage);
      const log = stage.client.log.slice(from);
      const judged = judgeTrials({ sessionId: stage.sessionId, trials, log, sightings: sightingsOf(requests, orders) });
      this.judged.push(...judged);
      this.#keepTranscripts(judged, (trial) => {
        const until = trials.find(({ number }) => number === trial.number + 2)?.promptOrder;
        const records = between(log, trial.promptOrder, until);
        return transcriptOf(records, requests, until === undefined ? Date.now() : (records.at(-1)?.at ?? 0));
      });
      return isWhole;
    } finally {
      stop();
      stage.giveUp();
      behind.forget();
    }
  }

  async #playEach(stage: OwnedStage, trials: Trial[], requests: readonly ModelRequest[]): Promise<boolean> {
    while (trials.length < TRIALS_IN_A_SESSION && this.#played < this.#count) {
      const number = this.#played + 1;
      const from = stage.client.log.length;
      this.#onTrial(number);
      try {
        const trial = await within(stage, playTrial(stage, number, this.#aim.next()), this.#setting);
        trials.push(trial);
        this.#played += 1;
        this.#brokenInARow = 0;
        await this.#setting.activity.quiet(SETTLE_MS, this.#setting.quietMs);
        this.#note(stage, trial);
      } catch (error) {
        this.#breakOff((error as Error).message, owedIn(stage.client.log.slice(from)));
        this.transcripts.set(number, transcriptOf(between(stage.client.log, from), requests, Date.now()));
        return false;
      }
    }
    return true;
  }

  /** Shows what of the last trial reaches a later turn. */
  async #closeWithPrompt(stage: OwnedStage): Promise<void> {
    await stage.quiet();
    await within(stage, drive(stage, stage.prompt()), this.#setting).catch(() => {});
    await stage.quiet();
  }

  #note({ client, behind }: OwnedStage, { steerId, steerMark, offset }: Trial): void {
    const result = client.answersTo(steerId)[0]?.message?.result as { outcome?: unknown } | undefined;
    const outcome = result?.outcome;
    const hit = outcome === "injected" || outcome === "promptRequired" ? outcome : "other";
    const isSeen = behind.steps(steerMark).length > 0;
    this.#aim.note(offset, hit, hit === "injected" ? !isSeen : isSeen);
  }

  #breakOff(problem: string, unanswered: readonly string[]): void {
    this.#played += 1;
    this.#brokenInARow += 1;
    this.broken.push({
      number: this.#played,
      problem,
      promptUnanswered: unanswered.includes(METHOD.prompt),
      steerUnanswered: unanswered.includes(METHOD.steering),
    });
  }

  #keepTranscripts(judged: readonly JudgedTrial[], write: (trial: JudgedTrial) => readonly TranscriptLine[]): void {
    const failing = new Set(findingsOf({ judged, broken: [], durationMs: 0 }).flatMap((finding) => finding.failing));
    for (const trial of judged) if (failing.has(trial.number)) this.transcripts.set(trial.number, write(trial));
  }
}

/** The methods of the requests that were not answered, also by an agent that is gone. */
function owedIn(log: readonly WireRecord[]): readonly string[] {
  const answered = new Set(log.filter(({ direction }) => direction === "in").map(({ message }) => message?.id));
  return log.flatMap(({ direction, message }) =>
    direction === "out" && message?.method !== undefined && message.id !== undefined && !answered.has(message.id)
      ? [message.method]
      : [],
  );
}

function between(log: readonly WireRecord[], from: number, until = Number.POSITIVE_INFINITY): readonly WireRecord[] {
  return log.filter(({ order }) => order >= from && order < until);
}

/** Where an agent offers tools, a request without any is a side request: a title, a summary. */
function sightingsOf(requests: readonly ModelRequest[], orders: readonly number[]): readonly Sighting[] {
  const offersTools = requests.some(({ tools }) => tools.length > 0);
  return requests.flatMap((request, index) =>
    offersTools && request.tools.length === 0 ? [] : [{ order: orders[index] ?? 0, text: toldText(request) }],
  );
}

function toldText({ messages }: ModelRequest): string {
  return messages
    .filter(({ role }) => role === "user" || role === "tool")
    .map(({ text }) => text)
    .join("\n");
}
