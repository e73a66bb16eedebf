import type { Need, Requirement } from "../requirements/requirement.js";
import { REQUIREMENTS, type RequirementId } from "../requirements/requirements.js";
import type { OwnedStage } from "./create-stage.js";
import type { Stage } from "./stage.js";

/** What a case found: what went wrong (nothing: it holds), a figure to report, or why it could not be judged. */
export type Finding =
  | { readonly problems: readonly string[]; readonly figure?: string }
  | { readonly notApplicable: string };

/** What a client says of itself under `clientCapabilities._meta.steering`. */
export interface Wishes {
  readonly receipts?: boolean;
  readonly echo?: boolean;
}

/** One situation, and what it shows of one requirement. */
export interface Case {
  readonly requirement: RequirementId;
  /** The situation, in a few words. */
  readonly title: string;
  /** What has to be there: all that the requirement needs, and what this situation needs besides. */
  readonly needs: readonly Need[];
  readonly wishes: Wishes;
  /** Needs an agent process of its own: it may leave one behind that is not as it was. */
  readonly fresh: boolean;
  /** Needs a session in which nothing has happened; otherwise an earlier case may have been played in it. */
  readonly newSession: boolean;
  /** Plays the situation. What it throws counts as a problem. */
  run(stage: Stage): Promise<Finding>;
}

/**
 * A case that shows whether a requirement holds.
 *
 * @param requirement what it judges, and the only thing that it judges
 * @param title the situation
 * @param options `needs` are added to those of the requirement
 * @param run plays the situation
 * @example
 * ```ts
 * verifies("error.session", "no such session", {}, async ({ client, until }) => {
 *   const code = await until("the refusal", client.steer("no-such-session", "hello").catch((error) => error.code));
 *   return { problems: code === -32002 ? [] : [`answered ${JSON.stringify(code)}`] };
 * });
 * ```
 */
export function verifies(
  requirement: RequirementId,
  title: string,
  options: Partial<Pick<Case, "needs" | "wishes" | "fresh" | "newSession">>,
  run: Case["run"],
): Case {
  const { needs = [], wishes = {}, fresh = false, newSession = false } = options;
  const allNeeds = [...new Set([...needsOf(requirement), ...needs])];
  return { requirement, title, needs: allNeeds, wishes, fresh, newSession, run };
}

const ALL: readonly Requirement[] = REQUIREMENTS;

function needsOf(requirement: RequirementId): readonly Need[] {
  return ALL.find(({ id }) => id === requirement)?.needs ?? [];
}

/** Plays a case; what it throws is a problem that it found, after those that it had noted. */
export async function playCase({ run }: Case, stage: OwnedStage): Promise<Finding> {
  try {
    return withNoted(await run(stage), stage);
  } catch (error) {
    return withNoted({ problems: [error instanceof Error ? error.message : String(error)] }, stage);
  }
}

/** What was noted comes first, and only once. */
export function withNoted(finding: Finding, { noted }: Pick<OwnedStage, "noted">): Finding {
  if (noted.length === 0) return finding;
  if ("notApplicable" in finding) return { problems: noted };
  return { ...finding, problems: [...new Set([...noted, ...finding.problems])] };
}
