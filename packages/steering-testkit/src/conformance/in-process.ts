import { type Case, type Finding, playCase, type Wishes } from "../cases/case.js";
import type { OwnedStage } from "../cases/create-stage.js";
import { survey, type Unmet, unmetNeeds } from "../check/survey.js";
import { Place } from "./place.js";
import type { MakeRig } from "./rig.js";

/** Which needs the agent of a rig does not meet. */
export async function surveyRig(makeRig: MakeRig): Promise<Unmet> {
  const place = await Place.open(makeRig, {});
  try {
    return await place.play(async (stage) => unmetNeeds(stage, await survey(stage, { behind: true })));
  } finally {
    await place.close();
  }
}

/** Plays one case with an agent of its own. */
export async function playInProcess(played: Case, makeRig: MakeRig, unmet?: Unmet): Promise<Finding> {
  const [finding] = await playTogether([played], makeRig, unmet);
  return finding as Finding;
}

/**
 * Plays cases that look at the same thing, such as `BOUNDARY_CASES`, on one stage.
 *
 * @returns what each of them found
 */
export async function playTogether(
  cases: readonly Case[],
  makeRig: MakeRig,
  unmet?: Unmet,
): Promise<readonly Finding[]> {
  const players = new Players(makeRig, unmet);
  try {
    return await players.play(cases);
  } finally {
    await players.close();
  }
}

/** Plays cases one after the other; one that found nothing wrong leaves its agent and its session to the next. */
export class Players {
  readonly #makeRig: MakeRig;
  readonly #unmet: Unmet;
  #left: { readonly place: Place; readonly wishes: Wishes } | undefined;

  constructor(makeRig: MakeRig, unmet: Unmet = new Map()) {
    this.#makeRig = makeRig;
    this.#unmet = unmet;
  }

  /** Plays on one stage; the first case says what kind of agent it takes. */
  async play(cases: readonly Case[]): Promise<readonly Finding[]> {
    const [first] = cases;
    if (first === undefined || cases.every((played) => this.#whyNot(played) !== undefined))
      return cases.map((played) => ({ notApplicable: this.#whyNot(played) ?? "" }));
    const place = await this.#placeFor(first);
    let findings: readonly Finding[] = [];
    try {
      findings = await place.play((stage) => this.#playOn(stage, cases));
    } finally {
      if (findings.length > 0 && findings.every(isClean) && !cases.some(({ fresh }) => fresh))
        this.#left = { place, wishes: first.wishes };
      else await place.close();
    }
    return findings;
  }

  async close(): Promise<void> {
    const left = this.#left;
    this.#left = undefined;
    await left?.place.close();
  }

  async #playOn(stage: OwnedStage, cases: readonly Case[]): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const played of cases) {
      const notApplicable = this.#whyNot(played);
      findings.push(notApplicable === undefined ? await playCase(played, stage) : { notApplicable });
    }
    return findings;
  }

  #whyNot({ needs }: Case): string | undefined {
    return needs.map((need) => this.#unmet.get(need)).find((why) => why !== undefined);
  }

  async #placeFor({ wishes, fresh, newSession }: Case): Promise<Place> {
    const left = this.#left;
    this.#left = undefined;
    if (left !== undefined && !fresh && !newSession && isSame(left.wishes, wishes)) return left.place;
    await left?.place.close();
    return Place.open(this.#makeRig, wishes);
  }
}

const isClean = (finding: Finding): boolean => "problems" in finding && finding.problems.length === 0;

const isSame = (one: Wishes, other: Wishes): boolean => one.receipts === other.receipts && one.echo === other.echo;
