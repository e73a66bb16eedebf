import { performance } from "node:perf_hooks";
import { CASES, type Case, type ModelBehind } from "../cases/index.js";
import { rejectable } from "../scene/watchdog.js";
import type { Agent } from "./agent.js";
import { type PlayedTrials, playTrials } from "./boundary/play-trials.js";
import { figuresOf, JUDGED_BY_TRIALS } from "./boundary/tally.js";
import { CheckError, type CheckOptions, DEFAULT_TRIALS } from "./check-options.js";
import type { CaseReport, CheckEvent, CheckedAgent, CheckReport } from "./check-report.js";
import { asInformation, isConformant, requirementReports, trialReports } from "./make-report.js";
import { meetAgent } from "./meet-agent.js";
import { playCase } from "./play-case.js";
import { type OwnedSetting, setUp } from "./set-up.js";
import type { Setting } from "./setting.js";
import type { Unmet } from "./survey.js";

const NO_MODEL = "needs a model server (--model-server)";

/**
 * Checks how well any ACP agent can be steered: starts its command, plays every case with it, and steers many times around
 * the end of a turn. Whatever the agent does, no process of it is left when this resolves or rejects.
 *
 * With a model server the agent has to be set up, by its environment or its arguments, to use it; its usual variables
 * (`OPENAI_BASE_URL`, `ANTHROPIC_BASE_URL` and their keys) are set. A failing requirement is part of the report; it does
 * not throw.
 *
 * @returns what was found; `conformant` says whether all of tier `must` holds
 * @throws CheckError (`setup`, `agentFailed`, `noModel`, `interrupted`) where nothing could be found out
 * @example
 * ```ts
 * const report = await check({ command: "some-agent", args: ["--acp"], modelServer: "openai-chat", trials: 50 });
 * for (const { id, verdict } of report.requirements) console.log(id, verdict);
 * ```
 */
export async function check(options: CheckOptions): Promise<CheckReport> {
  const interrupted = rejectable();
  const interrupt = (): void => interrupted.reject(new CheckError("interrupted", "The check was interrupted."));
  options.signal?.addEventListener("abort", interrupt);
  if (options.signal?.aborted === true) interrupt();
  const setting = await setUp(options);
  try {
    return await Promise.race([new Check(options, setting).run(), interrupted.promise]);
  } finally {
    options.signal?.removeEventListener("abort", interrupt);
    await setting.end();
  }
}

class Check {
  readonly #options: CheckOptions;
  readonly #setting: OwnedSetting;
  readonly #tell: (event: CheckEvent) => void;
  readonly #startedAt = new Date();
  readonly #startedAtMs = performance.now();

  constructor(options: CheckOptions, setting: OwnedSetting) {
    this.#options = options;
    this.#setting = setting;
    const { onEvent, signal } = options;
    this.#tell = (event) => {
      signal?.throwIfAborted();
      onEvent?.(event);
    };
  }

  async run(): Promise<CheckReport> {
    let checked: CheckedAgent = { command: this.#command };
    const unmet = await meetAgent(this.#setting, (agent) => {
      checked = this.#describe(agent);
      this.#tell({ type: "agent", agent: checked });
    });
    const cases = await this.#playCases(unmet);
    const trials = await this.#playTrials();
    const reports = trials === undefined ? this.#withoutTrials() : trialReports(trials);
    for (const report of reports) this.#tell({ type: "caseDone", report });
    const report = this.#report(checked, [...cases, ...reports], trials);
    this.#tell({ type: "done", report });
    return report;
  }

  async #playCases(unmet: Unmet): Promise<readonly CaseReport[]> {
    const cases = inPlayingOrder(CASES.filter(({ requirement }) => this.#isWanted(requirement)));
    const reports: CaseReport[] = [];
    for (const [index, item] of cases.entries()) {
      const { requirement, title } = item;
      this.#tell({ type: "case", requirement, title, number: index + 1, of: cases.length });
      const report = asInformation(await playCase(item, unmet, this.#setting));
      this.#tell({ type: "caseDone", report });
      reports.push(report);
    }
    return reports;
  }

  async #playTrials(): Promise<PlayedTrials | undefined> {
    const { behind } = this.#setting;
    const of = this.#options.trials ?? DEFAULT_TRIALS;
    if (!hasModel(this.#setting, behind) || of === 0 || !JUDGED_BY_TRIALS.some((id) => this.#isWanted(id)))
      return undefined;
    return playTrials(of, this.#setting, (number) => this.#tell({ type: "trial", number, of }));
  }

  /** Where nothing but the trials speaks for a requirement, the report says why it is silent. */
  #withoutTrials(): readonly CaseReport[] {
    const reason = this.#setting.behind === undefined ? NO_MODEL : "no trials were asked for";
    return JUDGED_BY_TRIALS.filter(
      (id) => this.#isWanted(id) && !CASES.some(({ requirement }) => requirement === id),
    ).map((requirement) => ({
      requirement,
      title: "timed trials",
      verdict: "notApplicable",
      problems: [],
      reason,
      durationMs: 0,
    }));
  }

  get #command(): readonly string[] {
    const { command, args = [] } = this.#options;
    return [command, ...args];
  }

  #isWanted(id: string): boolean {
    return this.#options.only === undefined || this.#options.only.includes(id);
  }

  #describe({ info, advertisement }: Agent): CheckedAgent {
    const { name, version } = info;
    return {
      command: this.#command,
      ...(typeof name === "string" && { name }),
      ...(typeof version === "string" && { version }),
      ...(advertisement !== undefined && { advertisement }),
    };
  }

  #report(agent: CheckedAgent, cases: readonly CaseReport[], trials: PlayedTrials | undefined): CheckReport {
    const requirements = requirementReports(cases.filter(({ requirement }) => this.#isWanted(requirement)));
    return {
      version: 1,
      agent,
      modelServer: this.#options.modelServer ?? null,
      startedAt: this.#startedAt.toISOString(),
      durationMs: Math.round(performance.now() - this.#startedAtMs),
      conformant: isConformant(requirements),
      requirements,
      ...(trials !== undefined && { boundary: figuresOf(trials) }),
    };
  }
}

function hasModel(setting: Setting, behind: ModelBehind | undefined): setting is Setting & { behind: ModelBehind } {
  return behind !== undefined && setting.behind === behind;
}

/** What one agent process can play stands together; the order is the same otherwise. */
function inPlayingOrder(cases: readonly Case[]): readonly Case[] {
  const group = ({ wishes, fresh }: Case): number =>
    (fresh ? 4 : 0) + (wishes.receipts === true ? 2 : 0) + (wishes.echo === true ? 1 : 0);
  return [...cases].sort((one, other) => group(one) - group(other));
}
