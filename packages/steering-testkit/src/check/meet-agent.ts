import type { OwnedStage } from "../cases/create-stage.js";
import { type Agent, lastWords } from "./agent.js";
import { CheckError } from "./check-options.js";
import { keepSession, openStage, type Setting, within } from "./setting.js";
import { NOTHING_SEEN, type Sighting, survey, type Unmet, unmetNeeds } from "./survey.js";

const [LEAST_QUIET_MS, MOST_QUIET_MS] = [150, 500];
const QUIET_SHARE = 0.2;

/**
 * Starts the agent and plays a first turn with it, which shows what it is able to and how fast it is.
 *
 * @param onStarted told of the agent before it has anything to do
 * @returns what it is not able to show, with the reasons
 * @throws CheckError `setup`, `agentFailed`, `noModel`
 */
export async function meetAgent(setting: Setting, onStarted: (agent: Agent) => void): Promise<Unmet> {
  const agent = await setting.pool.acquire({}, true);
  onStarted(agent);
  const stage = await openStage(agent, setting, { isNew: true });
  const seen = await surveyOn(stage, setting);
  if (stage.client.unanswered.length > 0) await setting.pool.retire();
  else keepSession(agent, stage);
  setting.quietMs = Math.min(MOST_QUIET_MS, Math.max(LEAST_QUIET_MS, QUIET_SHARE * timeTaken(stage)));
  const unmet = unmetNeeds(stage, seen);
  if (setting.behind === undefined) unmet.set("model", "needs a model server (--model-server)");
  return unmet;
}

/** From the first to the last sign of life in the session, in milliseconds. */
function timeTaken({ client: { log }, sessionId }: OwnedStage): number {
  const own = log.filter(({ raw }) => raw.includes(sessionId));
  return (own.at(-1)?.at ?? 0) - (own[0]?.at ?? 0);
}

async function surveyOn(stage: OwnedStage, setting: Setting): Promise<Sighting> {
  const { behind } = setting;
  try {
    return await within(stage, survey(stage, { behind: behind !== undefined }), setting);
  } catch (error) {
    if (behind !== undefined && behind.model.requests.length === 0) throw noModel(stage, (error as Error).message);
    // The model was asked, so the cases can show what is the matter.
    return NOTHING_SEEN;
  } finally {
    stage.giveUp();
    behind?.forget();
  }
}

function noModel({ client }: OwnedStage, problem: string): CheckError {
  const what = `The agent never asked the model server: ${problem.replace(/\.$/, "")}.`;
  const next =
    "Point its model configuration at the server, with {model-url} in its arguments or in --env, or check it blind, without --model-server.";
  return new CheckError("noModel", `${what} ${next}${lastWords(client)}`);
}
