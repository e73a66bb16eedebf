import { createStage, type OwnedStage } from "../cases/create-stage.js";
import type { ModelBehind } from "../cases/model-behind.js";
import type { Behind } from "../cases/stage.js";
import type { WireClient } from "../wire-client.js";
import type { Activity } from "./activity.js";
import type { Agent } from "./agent.js";
import type { AgentPool } from "./agent-pool.js";
import type { Patience } from "./patience.js";

/** Where everything of one check takes place. */
export interface Setting {
  readonly pool: AgentPool;
  readonly activity: Activity;
  readonly patience: Patience;
  readonly sessionFolder: string;
  /** Missing in a blind check. */
  readonly behind: ModelBehind | undefined;
  /** How long nothing has to happen until nothing more is expected, in milliseconds. */
  quietMs: number;
}

/** Something was waited for that did not come. */
class HungError extends Error {}

const MAX_QUIET_FACTOR = 10;
const LEAVE_MS = 2_000;
/** A history that grew without end would slow the agent down and, in the end, be compacted. */
const USES_OF_A_SESSION = 25;

/** What stands behind an agent that uses a model of its own: nobody sees it. */
const BLIND: Behind = { next: () => new Promise(() => {}), steps: () => [] };

/** A stage in a session of that agent: a new one, or one that an earlier stage has left as it should be. */
export async function openStage(
  agent: Agent,
  setting: Setting,
  { isNew }: { readonly isNew: boolean },
): Promise<OwnedStage> {
  const { activity, behind = BLIND, sessionFolder } = setting;
  const sessionId = await sessionFor(agent, setting, isNew);
  return createStage({
    client: agent.client,
    behind,
    cwd: sessionFolder,
    sessionId,
    initialized: agent.initialized,
    quiet: () => activity.quiet(setting.quietMs, MAX_QUIET_FACTOR * setting.quietMs),
  });
}

async function sessionFor(agent: Agent, setting: Setting, isNew: boolean): Promise<string> {
  const { spare } = agent;
  if (spare !== undefined && !isNew && spare.uses < USES_OF_A_SESSION) {
    agent.spare = { ...spare, uses: spare.uses + 1 };
    return spare.sessionId;
  }
  agent.spare = undefined;
  if (spare !== undefined) await leaveSession(agent, spare.sessionId, setting);
  return agent.newSession();
}

/**
 * What the work on a stage gives; it ends with the agent, and where nothing more happens.
 *
 * @throws HungError, or how the agent ended
 */
export async function within<Value>(
  stage: OwnedStage,
  work: Promise<Value>,
  { activity, patience }: Setting,
): Promise<Value> {
  try {
    const result = await activity.guard(
      Promise.race([work, endOf(stage.client)]),
      patience,
      (why) => new HungError(hangText(why, stage)),
    );
    patience.answered();
    return result;
  } catch (error) {
    if (error instanceof HungError) patience.hung();
    throw error;
  }
}

/** Everything in the session of that stage is as it should be: the next case can be played there. */
export function keepSession(agent: Agent, { sessionId }: OwnedStage): void {
  if (agent.spare?.sessionId !== sessionId) agent.spare = { sessionId, uses: 1 };
}

/** Lets go of a session; an agent that does not is not used again. */
export async function leaveSession(agent: Agent, sessionId: string, { activity, pool }: Setting): Promise<void> {
  if (agent.spare?.sessionId === sessionId) agent.spare = undefined;
  const leaving = agent.leave(sessionId).catch(() => {});
  const patience = { silenceMs: LEAVE_MS, totalMs: LEAVE_MS };
  try {
    await activity.guard(leaving, patience, (why) => new Error(why));
  } catch {
    await pool.retire();
  }
}

function hangText(why: string, { awaited, client }: OwnedStage): string {
  const waits = awaited.length === 0 ? "" : ` while waiting for ${[...new Set(awaited)].join(" and ")}`;
  const unanswered = client.unanswered.length === 0 ? "" : `; not answered: ${client.unanswered.join(", ")}`;
  return `${why}${waits}${unanswered}`;
}

/** Rejects when the agent ends, with how it did and its last words. */
async function endOf(client: WireClient): Promise<never> {
  await client.exited;
  throw client.ended;
}
